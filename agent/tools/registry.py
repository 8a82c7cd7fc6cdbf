"""The tools that exist, and which of them a run may call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz, process, utils

from agent.errors import UnknownToolError
from agent.tools.base import Tool, ToolSpec
from retrieval.neutralise import neutralise_line

_NEAR = 85.0
"""Similarity (0–100, rapidfuzz ratio) from which a misspelt name is taken for the registered one."""
_CLEARLY = 5.0
"""Lead over the second-best name, so that no coin is tossed between two tools."""

_AROUND_RE = re.compile(r"\A\s*functions?[.:]|:\d{1,3}\s*\Z|<[|｜].*", re.DOTALL)
"""What models and endpoints leave around a name: a namespace, a number, the next special token."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A tool found for a name the model wrote."""

    tool: Tool
    requested_name: str


class ToolRegistry:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.spec.name in self._tools:
                raise ValueError(f"two tools are named {tool.spec.name!r}")
            self._tools[tool.spec.name] = tool

    def all(self) -> tuple[Tool, ...]:
        """Return all tools in the order of registration."""
        return tuple(self._tools.values())

    def specs(self, *, knowledge: bool = True) -> tuple[ToolSpec, ...]:
        """Return the declarations in the order of registration; without `knowledge` those that retrieve nothing."""
        return tuple(t.spec for t in self._tools.values() if knowledge or not t.spec.reads_knowledge)

    def resolve(self, name: str, allowed: Collection[str]) -> Resolved:
        """Return the tool for a name on the whitelist, or for a near miss of one without side effects.

        Raises:
            UnknownToolError: nothing on the whitelist is near enough.
        """
        if name in allowed and name in self._tools:
            return Resolved(self._tools[name], name)
        near = self._nearest(name, [n for n in allowed if n in self._tools])
        if near is None:
            shown = neutralise_line(name)[:60]
            raise UnknownToolError(f"There is no tool {shown!r}. The tools are: {', '.join(sorted(allowed))}.")
        return Resolved(near, name)

    def _nearest(self, name: str, names: list[str]) -> Tool | None:
        written = _AROUND_RE.sub("", name).replace("_", " ").replace("-", " ")
        choices = {n: n.replace("_", " ") for n in names}
        ranked = process.extract(written, choices, scorer=fuzz.ratio, processor=utils.default_process, limit=2)
        if not ranked or ranked[0][1] < _NEAR or (len(ranked) > 1 and ranked[0][1] - ranked[1][1] < _CLEARLY):
            return None
        tool = self._tools[ranked[0][2]]
        return None if tool.spec.side_effects else tool
