"""Declares tools to endpoints that call functions natively."""

from __future__ import annotations

from collections.abc import Sequence

from agent.llm import Offer
from agent.tools.base import ToolSpec


def offers(tools: Sequence[ToolSpec]) -> tuple[Offer, ...]:
    """Return the declarations in the order given."""
    return tuple(Offer(spec.name, spec.description, spec.arguments) for spec in tools)
