"""Tool: give the task to a person."""

from __future__ import annotations

from typing import Any

from agent.tools.base import ToolContext, ToolResult, ToolSpec


class HandOver:
    """Ends the steps: a person goes on, from what was found so far."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="hand_over",
            description="Give the task to a person when it cannot succeed here: no tool does it, or it is not allowed.",
            arguments={
                "type": "object",
                "properties": {"reason": {"type": "string", "minLength": 1, "maxLength": 500}},
                "required": ["reason"],
                "additionalProperties": False,
            },
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Note the reason and end the steps."""
        context.handed_over = " ".join(arguments["reason"].split())
        if context.desk is not None:
            context.desk.hand_over(context.question, context.handed_over, context.plan.items())
        return ToolResult(ends_run=True)
