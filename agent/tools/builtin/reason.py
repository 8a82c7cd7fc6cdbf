"""Tool: a step that no other tool can do, done by the model itself and recorded. Its result is no source."""

from __future__ import annotations

from typing import Any

from agent.tools.base import ToolContext, ToolResult, ToolSpec

_CHARS = 4000


class Reason:
    """Puts down what the model worked out, so that later steps and readers of the journal find it."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="reason",
            description="Put down a step that no other tool can do (compare, weigh, sort out), with its result. "
            "Not for sums or facts; the result cannot be cited.",
            arguments={
                "type": "object",
                "properties": {
                    "step": {"type": "string", "minLength": 1, "maxLength": 500, "description": "What is done."},
                    "result": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": _CHARS,
                        "description": "What comes of it.",
                    },
                },
                "required": ["step", "result"],
                "additionalProperties": False,
            },
            # What is put down is the model's own word; a whole document in its place would be none.
            takes_artifacts=False,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Give back the result; no label is reserved, so that no answer can cite it."""
        step, result = " ".join(arguments["step"].split()), arguments["result"].strip()
        return ToolResult(text=f"{step}: {result}")
