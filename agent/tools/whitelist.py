"""Which tools one run is offered; what it is not offered it cannot call."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from agent.switches import Switches
from agent.tools.base import ToolSpec
from agent.tools.registry import ToolRegistry
from retrieval.types import Principal, SearchFilter


@runtime_checkable
class Conditional(Protocol):
    """A tool that is of use to some only."""

    async def is_of_use(self, principal: Principal, filter: SearchFilter) -> bool:
        """Tell whether this principal has anything that the tool could work on."""
        ...


async def offer(
    registry: ToolRegistry, switches: Switches, principal: Principal, filter: SearchFilter, *, knowledge: bool
) -> tuple[ToolSpec, ...]:
    """Return the declarations for a run: on for its tenant, within its rights, and of use to it."""
    offered: list[ToolSpec] = []
    for tool in registry.all():
        spec = tool.spec
        if spec.reads_knowledge and not knowledge:
            continue
        if not _is_on(spec, switches, principal.tenant):
            continue
        if spec.requires is not None and not principal.may(spec.requires):
            continue
        if isinstance(tool, Conditional) and not await tool.is_of_use(principal, filter):
            continue
        offered.append(spec)
    return tuple(offered)


def _is_on(spec: ToolSpec, switches: Switches, tenant: str) -> bool:
    return switches.is_on("tool", spec.name, tenant) and (
        spec.feature is None or switches.is_on("feature", spec.feature, tenant)
    )
