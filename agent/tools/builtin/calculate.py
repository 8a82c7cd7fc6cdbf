"""Tool: exact decimal arithmetic. Its result is a source the answer can cite."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from agent.errors import ToolArgumentsError
from agent.tools.arithmetic import MAX_EXPRESSION_CHARS, ExpressionError, compute
from agent.tools.base import ToolContext, ToolResult, ToolSpec

_LARGE_ZH = (("万亿", Decimal("1e12")), ("亿", Decimal("1e8")), ("万", Decimal("1e4")))
_LARGE_EN = (("trillion", Decimal("1e12")), ("billion", Decimal("1e9")), ("million", Decimal("1e6")))


class Calculate:
    """Computes an expression; never guesses."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="calculate",
            description="Exact arithmetic: + - * / // ** ( ), abs, min, max, round, sum; understands %, 万, 亿, "
            "million, billion. Example: 2.38亿 * (1 + 5.2%).",
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
        sign = "=" if computed.exact else "≈"
        text = f"{expression} {sign} {computed.text}"
        large = _in_large_unit(computed.value, context.language)
        if large:
            text += f" ({large})"
        return ToolResult(text=text, label=context.reserve("calculate", text))


def _in_large_unit(value: Decimal, language: str) -> str:
    for unit, size in _LARGE_ZH if language == "zh" else _LARGE_EN:
        scaled = value / size
        if abs(scaled) >= 1 and scaled == round(scaled, 6):
            written = f"{scaled.normalize():f}"
            return f"{written}{unit}" if language == "zh" else f"{written} {unit}"
    return ""
