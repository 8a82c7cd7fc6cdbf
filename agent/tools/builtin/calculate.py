"""Tool: exact arithmetic with units. Its result shows the computation and is a source the answer can cite."""

from __future__ import annotations

from typing import Any

from agent.errors import ToolArgumentsError
from agent.tools.arithmetic import MAX_EXPRESSION_CHARS, ExpressionError, compute
from agent.tools.base import ToolContext, ToolResult, ToolSpec


class Calculate:
    """Computes an expression; never guesses."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="calculate",
            description="Exact arithmetic with units: + - * / // ** ( ), abs, min, max, round, sum, avg, "
            "growth(old, new), share(part, whole); understands %, 万, 亿, million, currencies, kg, km …; "
            "'in UNIT' at the end converts. Examples: growth(2.38亿元, 2.5亿元); 12元/吨 * 5吨.",
            arguments={
                "type": "object",
                "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": MAX_EXPRESSION_CHARS}},
                "required": ["expression"],
                "additionalProperties": False,
            },
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Compute, and reserve the label under which the answer cites the result."""
        expression = " ".join(str(arguments["expression"]).split())
        try:
            computed = compute(expression)
        except ExpressionError as exc:
            raise ToolArgumentsError(f"Not computed: {exc}.") from exc
        text = computed.written(context.language)
        return ToolResult(text=text, label=context.reserve("calculate", text))
