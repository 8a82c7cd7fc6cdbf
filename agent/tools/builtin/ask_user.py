"""Tool: ask the reader; at most twice in a run."""

from __future__ import annotations

from typing import Any

from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.builtin.plan import HUMAN_MS

MOST_QUESTIONS = 2


class AskUser:
    """Asks, waits, and gives the answer; past the limit the model has to assume, and say so."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="ask_user",
            description="Ask the reader one short question, only where the answer depends on it and no tool can tell.",
            arguments={
                "type": "object",
                "properties": {"question": {"type": "string", "minLength": 1, "maxLength": 500}},
                "required": ["question"],
                "additionalProperties": False,
            },
            timeout_ms=HUMAN_MS,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Ask and wait."""
        zh = context.language == "zh"
        desk = context.desk
        if desk is None or not desk.may_ask or desk.questions >= MOST_QUESTIONS:
            said = "不能再提问。请作出最合理的假设，在回答中写明该假设，并继续。"
            text = "No more questions. Make the likeliest assumption, state it in the answer, and go on."
            return ToolResult(ok=False, text=said if zh else text, error_code="questions_spent")
        answer = await desk.ask(" ".join(arguments["question"].split()))
        return ToolResult(text=f"读者回答：{answer}" if zh else f"The reader answers: {answer}")
