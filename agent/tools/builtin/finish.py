"""Tool: stop looking and write the answer."""

from __future__ import annotations

from typing import Any

from agent.supervision import remind
from agent.tools.base import ToolContext, ToolResult, ToolSpec


class Finish:
    """Ends the steps; one more model call writes the answer for the reader."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="finish",
            description="Stop looking: you have what you need, or it is not to be had. The answer is written next.",
            arguments={"type": "object", "properties": {}},
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """End the steps; with items of the plan open the model is told so, once."""
        reminder = remind(context.plan, context.language)
        if reminder:
            return ToolResult(ok=False, text=reminder, error_code="plan_open")
        return ToolResult(ends_run=True)
