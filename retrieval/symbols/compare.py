"""Compare a stated symbol with one of a source, after normalisation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from retrieval.symbols.fold import fold
from retrieval.symbols.values.calendar import Span, parse_span
from retrieval.symbols.values.numerals import scan_numerals
from retrieval.types import Symbol

Comparison = Literal["equal", "rounded", "contains", "different", "incomparable"]

_MONEY = re.compile(r"([A-Z]{3}) (-?[0-9]+(?:\.[0-9]+)?)")
_FIGURE = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(%|pp)?")
_TIME_KINDS = frozenset({"date", "period"})
_FIGURE_KINDS = frozenset({"amount", "quantity", "number", "percent", "percent_points"})


@dataclass(frozen=True, slots=True)
class Magnitude:
    """A figure: exact value and unit (an ISO currency code, `%`, `pp`, or empty)."""

    value: Decimal
    unit: str

    @property
    def place(self) -> int:
        """Power of ten of the last digit that is not a trailing zero: 238,000,000 → 6."""
        exponent = self.value.normalize().as_tuple().exponent if self.value else 0
        return exponent if isinstance(exponent, int) else 0


def parse_normal(kind: str, normal: str) -> Magnitude | Span:
    """Read the normal form of a value.

    `amount`: `CNY 238000000`; `quantity`, `number`: `238000000`; `percent`: `-5.2%`;
    `percent_points`: `-0.5pp`; `date`, `period`: see `calendar`. Equal values have equal normal
    forms, so the precision that was written is not in them: `written_place` reads it from the
    surface.

    Raises:
        ValueError: `normal` is no normal form of a value of this kind.
    """
    if kind in _TIME_KINDS:
        return parse_span(normal)
    if kind == "amount" and (match := _MONEY.fullmatch(normal)):
        return Magnitude(Decimal(match.group(2)), match.group(1))
    if kind in _FIGURE_KINDS and kind != "amount" and (match := _FIGURE.fullmatch(normal)):
        return Magnitude(Decimal(match.group(1)), match.group(2) or "")
    raise ValueError(f"{normal!r} is no normal form of kind {kind!r}")


def written_place(symbol: Symbol) -> int:
    """Return the power of ten of the last digit written in a figure: `2.40 亿元` → 6, `2.4 亿元` → 7.

    Where the surface does not show it (the first end of `2-3亿元`, whose scale is written later),
    the scale is inferred from the value.
    """
    magnitude = parse_normal(symbol.kind, symbol.normal)
    assert isinstance(magnitude, Magnitude)
    value = abs(magnitude.value)
    for numeral in scan_numerals(fold(symbol.surface)):
        if numeral.value == value:
            return numeral.place
        if not numeral.digits or not value:
            continue
        ratio = value / numeral.digits
        shift = ratio.adjusted()
        if ratio == Decimal(1).scaleb(shift):
            return numeral.place - numeral.scale + shift
    return magnitude.place


def compare(stated: Symbol, source: Symbol) -> Comparison:
    """Compare what is stated with what the source says.

    - `equal`: one value. An amount equals a quantity of the same number.
    - `rounded`: the source's value, rounded to the digits stated, is the stated value.
    - `contains`: the stated period contains the source's date or period (2024 against 2024Q3).
    - `different`: of one sort, but another value (another currency included).
    - `incomparable`: of different sorts, or the source is too coarse to tell (238,000,000
      against 2.4 亿; a day against its quarter; a bare number, whose unit is unknown).
    """
    if stated.cls != source.cls:
        return "incomparable"
    if stated.cls != "value":
        if stated.kind != source.kind:
            return "incomparable"
        return "equal" if stated.normal == source.normal else "different"
    left, right = parse_normal(stated.kind, stated.normal), parse_normal(source.kind, source.normal)
    if isinstance(left, Span) and isinstance(right, Span):
        return _compare_spans(left, right)
    if isinstance(left, Magnitude) and isinstance(right, Magnitude):
        return _compare_figures(stated, left, source, right)
    return "incomparable"


def _compare_spans(stated: Span, source: Span) -> Comparison:
    if stated == source:
        return "equal"
    if stated.contains(source):
        return "contains"
    return "incomparable" if source.contains(stated) else "different"


def _compare_figures(stated: Symbol, left: Magnitude, source: Symbol, right: Magnitude) -> Comparison:
    bare = "number" in (stated.kind, source.kind) and stated.kind != source.kind
    ratios = {left.unit, right.unit} & {"%", "pp"}
    if left.unit != right.unit and ratios and not bare:
        return "incomparable"
    if left.unit and right.unit and left.unit != right.unit:
        return "different"
    if left.value == right.value:
        return "equal"
    place, source_place = written_place(stated), written_place(source)
    gap = abs(left.value - right.value)
    if place > source_place and gap * 2 <= Decimal(1).scaleb(place):
        return "rounded"
    if bare or (source_place > place and gap * 2 <= Decimal(1).scaleb(source_place)):
        return "incomparable"
    return "different"
