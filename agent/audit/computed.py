"""Recomputes a figure from figures that the answer cites: sum, difference, change in percent, ratio."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import permutations

from retrieval.symbols.compare import Magnitude, parse_normal, written_place
from retrieval.types import Symbol

_OPERATION = re.compile(
    r"合计|共计|总计|总额|之和|相加|相差|差额|差距|之差|增加|增长|上升|减少|下降|下滑|降低|提高|提升|多出|高出|少于|变动|变化|占比|占|倍|同比|环比"
    r"|\b(?:total\w*|sum|altogether|combined|differ\w*|increas\w*|decreas\w*|grew|growth|rose|fell|declin\w*|up|down|more|less"
    r"|chang\w*|ratio|times|share|gap)\b",
    re.IGNORECASE,
)
_DERIVED = re.compile(
    r"平均|均值|差额|差距|之差|相差|合计|总和|之和|变动|变化|占比|比例|比率|倍"
    r"|\b(?:averages?|mean|differences?|change[ds]?|ratio|sum|combined|proportion|times|percentage)\b"
    r"|\b(?:increase|decrease|growth|rise|decline)\b.{0,120}\b(?:from\b.{0,40}\bto|between\b.{0,40}\band)\b",
    re.IGNORECASE,
)
_MOST_OPERANDS = 6
"""With more, some combination fits any figure by chance."""
_KINDS = frozenset({"amount", "quantity", "number", "percent", "percent_points", "ratio"})


def is_derived(clause: str) -> bool:
    """Tell whether `clause` speaks of a figure that its writer worked out."""
    return _DERIVED.search(clause) is not None


def recompute(stated: Symbol, operands: Sequence[Symbol], clause: str) -> Symbol | None:
    """Return the first operand of a computation that gives the stated figure to the digits written; else None.

    Only where the clause speaks of a computation, and only from figures that were themselves found
    in cited sources.
    """
    if stated.kind not in _KINDS or not (_OPERATION.search(clause) or is_derived(clause)):
        return None
    target = _magnitude(stated)
    known = list({symbol.normal: symbol for symbol in operands if symbol.kind in _KINDS}.values())
    if target is None or not 2 <= len(known) <= _MOST_OPERANDS:
        return None
    half = Decimal(1).scaleb(written_place(stated)) / 2
    for first, second in permutations(known, 2):
        left, right = _magnitude(first), _magnitude(second)
        if left is None or right is None or left.unit != right.unit:
            continue
        for operation in _operations(target.unit, left.unit):
            value = operation(left.value, right.value)
            if value is not None and abs(abs(value) - abs(target.value)) <= half:
                return first
    return None


def _magnitude(symbol: Symbol) -> Magnitude | None:
    value = parse_normal(symbol.kind, symbol.normal)
    return value if isinstance(value, Magnitude) else None


def _operations(target: str, operand: str) -> list[Callable[[Decimal, Decimal], Decimal | None]]:
    if target == operand:
        return [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: (a + b) / 2]
    if target == "pp" and operand == "%":
        return [lambda a, b: a - b]
    if target == "%":
        return [
            lambda a, b: (a - b) / b * 100 if b else None,
            lambda a, b: a / b * 100 if b else None,
        ]
    return [lambda a, b: a / b if b else None] if target in ("", "x") else []
