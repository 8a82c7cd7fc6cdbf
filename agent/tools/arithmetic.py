"""Exact decimal arithmetic on a written expression: percent signs and 万/亿/million are understood.

`2.38亿 * (1 + 5.2%)` → 250376000. Nothing is executed: the expression is parsed and
its nodes are computed one by one, under limits.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow, localcontext

MAX_EXPRESSION_CHARS = 500
_MAX_NODES = 200
_MAX_EXPONENT = 1000
_PRECISION = 60
_SHOWN_DIGITS = 28

_UNITS = {
    "%": "0.01",
    "‰": "0.001",
    "千": "1e3",
    "万": "1e4",
    "十万": "1e5",
    "百万": "1e6",
    "千万": "1e7",
    "亿": "1e8",
    "十亿": "1e9",
    "百亿": "1e10",
    "千亿": "1e11",
    "万亿": "1e12",
    "thousand": "1e3",
    "million": "1e6",
    "mn": "1e6",
    "m": "1e6",
    "billion": "1e9",
    "bn": "1e9",
    "trillion": "1e12",
}
_UNIT_RE = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_NUMBER_RE = re.compile(
    rf"(?<![\w.])(\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:\s*({_UNIT_RE})(?![a-z]))?(\s*(?:元|人民币))?",
    re.IGNORECASE,
)
_FUNCTION_RE = re.compile(r"[a-z]\s*\(", re.IGNORECASE)
_GROUPED_RE = re.compile(r"\d,\d{3}(?!\d)")
_CURRENCY_RE = re.compile(r"RMB|CNY|人民币|[¥￥]|USD|US\$|\$|EUR|€|HK\$|HKD|GBP|£", re.IGNORECASE)
_SAME_CURRENCY = {
    "RMB": "CNY",
    "人民币": "CNY",
    "¥": "CNY",
    "￥": "CNY",
    "US$": "USD",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
}
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*", "^": "^"})


class ExpressionError(ValueError):
    """The expression cannot be computed; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A result. `text` is exact unless `exact` is False (then rounded to 28 digits)."""

    value: Decimal
    exact: bool
    text: str


def compute(expression: str) -> Computed:
    """Compute an expression of + - * / // ** ( ), abs, min, max, round and sum.

    Raises:
        ExpressionError: no arithmetic, too large, or undefined (division by zero).
    """
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise ExpressionError(f"the expression is longer than {MAX_EXPRESSION_CHARS} characters")
    source, numbers = _lift_numbers(expression)
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise ExpressionError("that is no arithmetic expression; use numbers and + - * / ** ( )") from exc
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise ExpressionError("the expression is too long")
    with localcontext(prec=_PRECISION, Emax=2000, Emin=-2000) as context:
        context.traps[Overflow] = context.traps[InvalidOperation] = context.traps[DivisionByZero] = True
        context.clear_flags()
        try:
            value = +_Evaluator(numbers).value(tree.body)
        except (Overflow, InvalidOperation) as exc:
            raise ExpressionError("the result is undefined or too large") from exc
        except ZeroDivisionError as exc:
            raise ExpressionError("division by zero") from exc
        exact = not context.flags[Inexact]
    return Computed(value, exact, _written(value, exact))


def _lift_numbers(expression: str) -> tuple[str, list[Decimal]]:
    """Replace every number with its unit by a name, so that no float is ever made."""
    text = unicodedata.normalize("NFKC", expression).translate(_SIGNS).replace("^", "**").strip().rstrip("=").strip()
    found = {_SAME_CURRENCY.get(sign.upper(), sign.upper()) for sign in _CURRENCY_RE.findall(text)}
    if len(found) > 1:
        raise ExpressionError("the expression mixes currencies; compute each on its own")
    text = _CURRENCY_RE.sub(" ", text)
    if _FUNCTION_RE.search(text) and _GROUPED_RE.search(text):
        raise ExpressionError("inside functions write numbers without thousands separators, and a blank after a comma")
    numbers: list[Decimal] = []

    def lift(match: re.Match[str]) -> str:
        number = Decimal(match.group(1).replace(",", ""))
        unit = match.group(2)
        numbers.append(number * Decimal(_UNITS[unit.lower()]) if unit else number)
        return f" n{len(numbers) - 1} "

    return _NUMBER_RE.sub(lift, text).strip(), numbers


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    if abs(exponent) > _MAX_EXPONENT:
        raise ExpressionError(f"the exponent is larger than {_MAX_EXPONENT}")
    return base**exponent


def _rounded(value: Decimal, digits: Decimal = Decimal(0)) -> Decimal:
    if digits != int(digits) or abs(digits) > _SHOWN_DIGITS:
        raise ExpressionError("round takes a whole number of digits")
    return value.quantize(Decimal(1).scaleb(-int(digits)), rounding=ROUND_HALF_UP)


def _absolute(value: Decimal) -> Decimal:
    return abs(value)


def _sum(*values: Decimal) -> Decimal:
    return sum(values, Decimal(0))


_BINARY: dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Pow: _power,
}
_FUNCTIONS: dict[str, Callable[..., Decimal]] = {
    "abs": _absolute,
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "round": _rounded,
    "sum": _sum,
}


class _Evaluator:
    def __init__(self, numbers: list[Decimal]) -> None:
        self._numbers = numbers

    def value(self, node: ast.expr) -> Decimal:
        match node:
            case ast.Name(id=name) if name[:1] == "n" and name[1:].isdecimal() and int(name[1:]) < len(self._numbers):
                return self._numbers[int(name[1:])]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS and arguments:
                try:
                    return _FUNCTIONS[name](*(self.value(a) for a in arguments))
                except TypeError as exc:
                    raise ExpressionError(f"{name} takes other arguments") from exc
            case _:
                raise ExpressionError("only numbers, + - * / // ** ( ), abs, min, max, round and sum are computed")


def _written(value: Decimal, exact: bool) -> str:
    """Write without exponent and trailing zeros; inexact results with 28 significant digits."""
    if not exact:
        with localcontext(prec=_SHOWN_DIGITS):
            value = +value
    text = f"{value:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
