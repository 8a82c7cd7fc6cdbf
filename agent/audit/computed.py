"""Recomputes a figure from figures of cited sources: sum, difference, growth, share, average. The formula is shown."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations, permutations
from typing import Literal

from retrieval.symbols.compare import Magnitude, order, parse_normal, written_place
from retrieval.types import Symbol

_CHANGE = re.compile(
    r"相差|差额|差距|之差|增加|增长|上升|上涨|减少|下降|下滑|降低|提高|提升|多出|高出|少于|变动|变化|同比|环比|增幅|降幅"
    r"|\b(?:differ\w*|increas\w*|decreas\w*|grew|grow\w*|rose|rise|fell|fall|declin\w*|up|down|more|less|chang\w*|gap)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"占|比例|比率|倍|\b(?:ratio|times|share|proportion|percent(?:age)?\s+of|as\s+a\s+percent\w*)\b", re.IGNORECASE
)
_SUM = re.compile(
    r"合计|共计|总计|总额|总和|之和|相加|\b(?:total\w*|sum|altogether|combined|together)\b", re.IGNORECASE
)
_AVERAGE = re.compile(r"平均|均值|\b(?:averages?|mean)\b", re.IGNORECASE)
_DERIVED = re.compile(
    r"平均|均值|差额|差距|之差|相差|合计|总和|之和|变动|变化|占比|比例|比率|倍|同比|环比"
    r"|\b(?:averages?|mean|differences?|change[ds]?|ratio|sum|combined|proportion|times|percentage)\b"
    r"|\b(?:increas\w*|decreas\w*|grew|growth|rose|rise|fell|declin\w*)\b.{0,120}"
    r"\b(?:from\b.{0,40}\bto|between\b.{0,40}\band)\b"
    r"|比.{1,40}(?:增|减|多|少|高|低|上升|下降)",
    re.IGNORECASE,
)
_KINDS = frozenset({"amount", "quantity", "number", "percent", "percent_points", "ratio"})
_MOST_OPERANDS = 8
"""With more, some combination fits any figure by chance."""
_LONGEST_SUM = 4

OPERATION_WORDS = (
    "change changed percentage percent average mean ratio proportion difference sum combined total increase decrease "
    "increased decreased grew growth rise rose fell decline declined compared between years "
    "平均值 均值 差额 相差 合计 共计 总和 之和 占比 比例 比率 同比 环比 "
    "增长 增加 上升 下降 下滑 减少 变动 变化 增幅 降幅"
)
"""Words of a computation: no part of what a computed figure is about."""

Direction = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A figure of a source that a computation may start from."""

    symbol: Symbol
    period: Symbol | None = None
    line: Hashable = None
    """What its row or sentence is; figures of one line are one thing at several times."""


@dataclass(frozen=True, slots=True)
class Working:
    """How a figure follows from others."""

    first: Symbol
    formula: str
    """As a person would write it: `(44.1 − 56.7) ÷ 56.7`."""


@dataclass(frozen=True, slots=True)
class _Term:
    operand: Operand
    value: Decimal
    unit: str

    @property
    def text(self) -> str:
        return self.operand.symbol.surface.strip()


@dataclass(frozen=True, slots=True)
class _Result:
    value: Decimal
    signed: bool
    """The sign tells a direction."""
    terms: tuple[_Term, ...]
    formula: str


def is_average(clause: str) -> bool:
    """Tell whether `clause` speaks of an average."""
    return _AVERAGE.search(clause) is not None


def is_over_time(clause: str) -> bool:
    """Tell whether `clause` speaks of a change or an average: figures of several times are taken together."""
    return _CHANGE.search(clause) is not None or is_average(clause)


def is_derived(clause: str) -> bool:
    """Tell whether `clause` speaks of a figure that its writer worked out."""
    return _DERIVED.search(clause) is not None


def recompute(
    stated: Symbol, operands: Sequence[Operand], clause: str, direction: Direction | None = None
) -> Working | None:
    """Return a computation that gives the stated figure to the digits written; None where none does.

    Args:
        stated: The figure.
        operands: Figures of cited sources, those that fit the sentence best first.
        clause: The words round the figure; they tell which computations are tried.
        direction: Which way the sentence says it went; a change the other way does not count.
    """
    if stated.kind not in _KINDS:
        return None
    target = _magnitude(stated)
    if target is None:
        return None
    half = Decimal(1).scaleb(written_place(stated)) / 2
    for result in _results(target.unit, _terms(operands, target.unit), clause):
        if abs(abs(result.value) - abs(target.value)) > half:
            continue
        if result.signed and not _same_way(result.value, target.value, direction):
            continue
        return Working(result.terms[0].operand.symbol, result.formula)
    return None


def _same_way(value: Decimal, stated: Decimal, direction: Direction | None) -> bool:
    """`-12.6` and `a fall of 12.6` need a fall; `a change of 12.6` says nothing of its direction."""
    if direction is not None:
        return value >= 0 if direction == "up" else value <= 0
    return stated > 0 or value <= 0


def _terms(operands: Sequence[Operand], unit: str) -> list[_Term]:
    """Operands with their magnitudes; of one place read with and without its table's unit the former."""
    found: dict[tuple[Hashable, int], _Term] = {}
    for operand in operands:
        magnitude = _magnitude(operand.symbol) if operand.symbol.kind in _KINDS else None
        if magnitude is None:
            continue
        key = (operand.line, operand.symbol.start)
        if key not in found or abs(found[key].value) < abs(magnitude.value):
            found[key] = _Term(operand, magnitude.value, magnitude.unit)
    terms = list(found.values())
    currencies = {term.unit for term in terms if _is_money(term.unit)} if not _is_money(unit) else {unit}
    if len(currencies) != 1:
        return terms
    # Tables write the currency beside the first and the last figure of a column, or in a caption.
    currency = currencies.pop()
    return [replace(term, unit=term.unit or currency) for term in terms]


def _is_money(unit: str) -> bool:
    return len(unit) == 3 and unit.isupper()


def _is_same(stated: str, source: str) -> bool:
    """Tell whether two units are one, or one is left out: tables name currencies in a caption far away."""
    return stated == source or (_is_money(stated) and not source) or (_is_money(source) and not stated)


def _results(unit: str, terms: Sequence[_Term], clause: str) -> Iterator[_Result]:
    by_unit: dict[str, list[_Term]] = {}
    for term in terms:
        by_unit.setdefault(term.unit, []).append(term)
    for same, group in by_unit.items():
        few = group[:_MOST_OPERANDS]
        if len(few) < 2:
            continue
        fits = _is_same(unit, same)
        if _CHANGE.search(clause) and (fits or (unit == "pp" and same == "%")):
            yield from _differences(few)
        if fits and _AVERAGE.search(clause):
            yield from _averages(few)
        if fits and _SUM.search(clause):
            yield from _sums(few)
        if unit == "%":
            if _CHANGE.search(clause):
                yield from _growths(few)
            if _SHARE.search(clause):
                yield from _shares(few, Decimal(100))
        elif unit in ("", "x") and _SHARE.search(clause):
            yield from _shares(few, Decimal(1))


def _later_first(one: _Term, other: _Term) -> tuple[_Term, _Term, bool]:
    """A pair in the order a change is counted, and whether that order is known."""
    first, second = one.operand.period, other.operand.period
    found = order(first, second) if first is not None and second is not None else None
    if found not in ("before", "after"):
        return one, other, False
    return (other, one, True) if found == "before" else (one, other, True)


def _differences(terms: Sequence[_Term]) -> Iterator[_Result]:
    for pair in combinations(terms, 2):
        late, early, known = _later_first(*pair)
        if known and late.operand.line != early.operand.line:
            continue  # another thing at another time
        yield _Result(late.value - early.value, known, (late, early), f"{late.text} − {early.text}")


def _growths(terms: Sequence[_Term]) -> Iterator[_Result]:
    for pair in combinations(terms, 2):
        if pair[0].operand.line != pair[1].operand.line:
            continue
        late, early, known = _later_first(*pair)
        for base, top in ((early, late),) if known else ((early, late), (late, early)):
            if base.value:
                formula = f"({top.text} − {base.text}) ÷ {base.text}"
                growth = (top.value - base.value) / base.value * 100
                yield _Result(growth, True, (top, base), formula)
                if base.value < 0:  # some count a loss that shrinks as growth
                    yield _Result(-growth, True, (top, base), formula)


def _shares(terms: Sequence[_Term], factor: Decimal) -> Iterator[_Result]:
    for part, whole in permutations(terms, 2):
        if whole.value:
            yield _Result(part.value / whole.value * factor, False, (part, whole), f"{part.text} ÷ {whole.text}")


def _averages(terms: Sequence[_Term]) -> Iterator[_Result]:
    for several in _several(terms):
        if len({term.operand.line for term in several}) == 1 or len(several) == 2:
            total = sum((term.value for term in several), Decimal(0))
            formula = f"({' + '.join(term.text for term in several)}) ÷ {len(several)}"
            yield _Result(total / len(several), False, several, formula)


def _sums(terms: Sequence[_Term]) -> Iterator[_Result]:
    for several in _several(terms):
        total = sum((term.value for term in several), Decimal(0))
        yield _Result(total, False, several, " + ".join(term.text for term in several))


def _several(terms: Sequence[_Term]) -> Iterator[tuple[_Term, ...]]:
    for count in range(2, min(_LONGEST_SUM, len(terms)) + 1):
        yield from combinations(terms, count)


def _magnitude(symbol: Symbol) -> Magnitude | None:
    value = parse_normal(symbol.kind, symbol.normal)
    return value if isinstance(value, Magnitude) else None
