"""Exact arithmetic on a written expression with units: `2.38亿元 * (1 + 5.2%)`, `12元/吨 * 5吨`, `5 miles in km`.

Nothing is executed: the expression is parsed and its nodes are computed one by one, under limits.
Conversions stay within a dimension; currencies are never converted.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from agent.tools import measures
from agent.tools.measure_reading import Figure, Target, read_figures, read_target
from agent.tools.measure_writing import Language, decimal_of, number_text, result_text
from agent.tools.measures import ExpressionError, Measure

__all__ = ["MAX_EXPRESSION_CHARS", "Computed", "ExpressionError", "compute"]

MAX_EXPRESSION_CHARS = 500
_MAX_NODES = 200
_FUNCTION_RE = re.compile(r"[a-z]\s*\(", re.IGNORECASE)
_GROUPED_RE = re.compile(r"\d,\d{3}(?!\d)")
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*"})
_WRITTEN_OUT = frozenset({"growth", "share", "avg"})
_NAMES = "abs, min, max, round, sum, avg, growth, share"


@dataclass(frozen=True, slots=True)
class Computed:
    """A result. `text` is exact unless `exact` is False (then rounded to 28 digits)."""

    measure: Measure
    exact: bool
    formula: str
    """The computation in signs, with functions written out: growth(2亿, 3亿) is (3亿 - 2亿) / 2亿."""
    target: Target | None = None

    @property
    def value(self) -> Decimal:
        """The number, in the unit of the normal form; of percentages 0.05 for 5%."""
        return decimal_of(self.measure.value)[0]

    @property
    def text(self) -> str:
        """The number as digits."""
        return number_text(self.measure.value, exact=self.exact)

    def written(self, language: Language) -> str:
        """The computation and its result with units, for the reader: `3亿元/2 = 150000000元 (1.5亿元)`."""
        return f"{self.formula} {result_text(self.measure, self.target, language, exact=self.exact)}"


def compute(expression: str) -> Computed:
    """Compute an expression of + - * / // ** ( ), abs, min, max, round, sum, avg, growth(old, new), share(part, whole).

    Raises:
        ExpressionError: no arithmetic, too large, undefined (division by zero), or units that do not go together.
    """
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise ExpressionError(f"the expression is longer than {MAX_EXPRESSION_CHARS} characters")
    text = unicodedata.normalize("NFKC", expression).translate(_SIGNS).replace("^", "**").strip().rstrip("=").strip()
    text, target = read_target(text)
    if _FUNCTION_RE.search(text) and _GROUPED_RE.search(text):
        raise ExpressionError("inside functions write numbers without thousands separators, and a blank after a comma")
    figures = read_figures(text)
    try:
        tree = ast.parse(_lifted(text, figures), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise ExpressionError("that is no arithmetic expression; use numbers and + - * / ** ( )") from exc
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise ExpressionError("the expression is too long")
    evaluator = _Evaluator([figure.measure for figure in figures])
    result = evaluator.value(tree.body)
    if target is not None:
        _check_target(result, target)
    exact = not evaluator.has_roots and decimal_of(result.value / (target.size if target is not None else 1))[1]
    is_short = any(isinstance(node, ast.Name) and node.id in _WRITTEN_OUT for node in ast.walk(tree))
    shown = expression.strip().rstrip("=").strip() if target is None else text.strip()
    return Computed(result, exact, _formula(tree, figures) if is_short else shown, target)


def _check_target(result: Measure, target: Target) -> None:
    if target.units is not None and target.units != result.units:
        wanted = Measure(Fraction(1), target.units)
        measures.same_unit((result, wanted), "converting between")


def _lifted(text: str, figures: list[Figure]) -> str:
    """Replace every figure with its unit by a name, so that no float is ever made."""
    parts: list[str] = []
    at = 0
    for index, figure in enumerate(figures):
        parts += [text[at : figure.start], f" n{index} "]
        at = figure.end
    return "".join([*parts, text[at:]]).strip()


_BINARY: dict[type[ast.operator], Callable[[Measure, Measure], Measure]] = {
    ast.Add: measures.add,
    ast.Sub: lambda a, b: measures.add(a, b, -1),
    ast.Mult: measures.multiply,
    ast.Div: measures.divide,
    ast.FloorDiv: lambda a, b: measures.divide(a, b, whole=True),
    ast.Pow: measures.power,
}
_FUNCTIONS: dict[str, Callable[..., Measure]] = {
    "abs": measures.absolute,
    "min": measures.least,
    "max": measures.largest,
    "round": measures.rounded,
    "sum": measures.total,
    "avg": measures.average,
    "growth": measures.growth,
    "share": measures.share,
}


class _Evaluator:
    def __init__(self, figures: list[Measure]) -> None:
        self._figures = figures
        self.has_roots = False
        """Whether a root was taken, which seldom has an end."""

    def value(self, node: ast.expr) -> Measure:
        match node:
            case ast.Name(id=name) if name[:1] == "n" and name[1:].isdecimal() and int(name[1:]) < len(self._figures):
                return self._figures[int(name[1:])]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                return replace(value, value=-value.value)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self._binary(op, self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS and arguments:
                try:
                    return _FUNCTIONS[name](*(self.value(a) for a in arguments))
                except TypeError as exc:
                    raise ExpressionError(f"{name} takes other arguments") from exc
            case _:
                raise ExpressionError(f"only numbers with units, + - * / // ** ( ), {_NAMES} are computed")

    def _binary(self, op: ast.operator, left: Measure, right: Measure) -> Measure:
        self.has_roots |= isinstance(op, ast.Pow) and right.value.denominator != 1
        return _BINARY[type(op)](left, right)


class _WrittenOut(ast.NodeTransformer):
    """Turns functions with a formula into it."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Write a call in signs."""
        args = [self.visit(arg) for arg in node.args]
        match node.func, args:
            case ast.Name(id="growth"), [old, new]:
                return ast.BinOp(ast.BinOp(new, ast.Sub(), old), ast.Div(), old)
            case ast.Name(id="share"), [part, whole]:
                return ast.BinOp(part, ast.Div(), whole)
            case ast.Name(id="sum"), [_, *_]:
                return _summed(args)
            case ast.Name(id="avg"), [_, *_]:
                return ast.BinOp(_summed(args), ast.Div(), ast.Constant(len(args)))
            case _:
                return ast.Call(node.func, args, [])


def _summed(args: list[ast.expr]) -> ast.expr:
    result = args[0]
    for arg in args[1:]:
        result = ast.BinOp(result, ast.Add(), arg)
    return result


def _formula(tree: ast.Expression, figures: list[Figure]) -> str:
    text = ast.unparse(_WrittenOut().visit(tree))
    return re.sub(r"\bn(\d+)\b", lambda m: figures[int(m.group(1))].written.strip(), text).replace("**", "^")
