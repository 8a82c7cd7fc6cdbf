"""Compare a stated symbol with one of a source, after normalisation."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from retrieval.symbols.fold import fold
from retrieval.symbols.values.calendar import Order, Span, order_of, parse_span
from retrieval.symbols.values.magnitudes import DURATION_UNITS, FIGURE_KINDS, Magnitude, parse_magnitude
from retrieval.symbols.values.numerals import scan_numerals
from retrieval.symbols.values.units import MEASURED
from retrieval.types import Qualifier, Symbol

__all__ = ["Comparison", "Magnitude", "compare", "equivalent", "order", "parse_normal", "written_place"]

Comparison = Literal["equal", "rounded", "contains", "different", "incomparable"]

_TIME_KINDS = frozenset({"date", "period"})
_RATES = frozenset({"%", "pp", "x"})
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_HOLDS: dict[Qualifier, Callable[[Decimal, Decimal], bool]] = {
    "at_least": lambda bound, value: value >= bound,
    "at_most": lambda bound, value: value <= bound,
    "more_than": lambda bound, value: value > bound,
    "less_than": lambda bound, value: value < bound,
}
_UPWARD: dict[Qualifier, bool] = {"at_least": True, "more_than": True, "at_most": False, "less_than": False}


def parse_normal(kind: str, normal: str) -> Magnitude | Span:
    """Read the normal form of a figure, a duration, a date or a period.

    Equal values have equal normal forms, so the precision that was written is not in them:
    `written_place` reads it from the surface.

    Raises:
        ValueError: `normal` is no normal form of a value of this kind.
    """
    if kind in _TIME_KINDS:
        return parse_span(normal)
    magnitude = parse_magnitude(kind, normal)
    if magnitude is None:
        raise ValueError(f"{normal!r} is no normal form of kind {kind!r}")
    return magnitude


def written_place(symbol: Symbol) -> int:
    """Return the power of ten of the last digit written in a figure: `2.40 亿元` → 6, `2.4 亿元` → 7.

    Where the surface does not show it (the first end of `2-3亿元`, whose scale is written later; a
    converted unit), the scale is inferred from the value.
    """
    return _written_place(symbol.kind, symbol.normal, symbol.surface)


@lru_cache(maxsize=16_384)
def _written_place(kind: str, normal: str, surface: str) -> int:
    magnitude = parse_normal(kind, normal)
    assert isinstance(magnitude, Magnitude)
    value = abs(magnitude.value)
    for numeral in scan_numerals(fold(surface)):
        if numeral.value == value:
            return numeral.place
        if not numeral.digits or not value:
            continue
        ratio = value / numeral.digits
        shift = ratio.adjusted()
        if ratio == Decimal(1).scaleb(shift):
            return numeral.place - numeral.scale + shift
        if _is_converted(magnitude.unit):
            return numeral.place + (value / numeral.value).adjusted()
    return magnitude.place


def _is_uneven(symbol: Symbol, value: Decimal) -> bool:
    """Tell whether a figure was written in a unit that is no power of ten of that of its normal form (miles)."""
    magnitude = parse_normal(symbol.kind, symbol.normal)
    assert isinstance(magnitude, Magnitude)
    written = _as_written(symbol, magnitude)
    return bool(written) and abs(value / written).normalize().as_tuple().digits != (1,)


def _is_converted(unit: str) -> bool:
    """Tell whether a figure of this unit may have been written in another one (miles, a price per tonne, years)."""
    return unit.rpartition("/")[2] in MEASURED or unit in MEASURED or unit in DURATION_UNITS


def equivalent(left: Symbol, right: Symbol) -> bool:
    """Tell whether two symbols mean the same: reflexive, symmetric and transitive, qualifiers apart.

    Figures of one unit after conversion (`P1Y` and `P12M`, `3:2` and `1.5x`), days and periods of one
    span, and everything else of one kind with equal normal forms. A figure without a unit is
    equivalent to none that has one; `compare` is more forgiving.
    """
    return _identity(left) == _identity(right)


def _identity(symbol: Symbol) -> object:
    if symbol.cls != "value":
        return symbol.cls, symbol.kind, symbol.normal
    if symbol.kind in _TIME_KINDS:
        return parse_span(symbol.normal)
    magnitude = parse_magnitude(symbol.kind, symbol.normal)
    return magnitude or (symbol.kind, symbol.normal)


def compare(stated: Symbol, source: Symbol) -> Comparison:
    """Compare what is stated with what the source says.

    - `equal`: one value, converted where units differ. A figure that names no unit, or no currency, equals one
      of the same number that names one.
    - `rounded`: the source's value, rounded to the digits stated, is the stated value; where that is said
      to be approximate, its trailing zeros are not digits (约200万 covers 203万).
    - `contains`: the stated period contains the source's date or period (2024 against 2024Q3), or
      the stated bound holds the source's value (超过2亿 against 2.38亿).
    - `different`: of one sort, but another value (another currency included).
    - `incomparable`: of different sorts or units, or the source is too coarse to tell (238,000,000
      against 2.4 亿 or 超过2亿; a day against its quarter; a bare number, whose unit is unknown).
    """
    if stated.cls != source.cls:
        return "incomparable"
    if stated.kind in _TIME_KINDS and source.kind in _TIME_KINDS and stated.cls == "value":
        return _compare_spans(parse_span(stated.normal), parse_span(source.normal))
    if stated.cls == "value" and stated.kind in FIGURE_KINDS and source.kind in FIGURE_KINDS:
        return _Figures(stated, source).compare()
    if stated.kind != source.kind:
        return "incomparable"
    return "equal" if stated.normal == source.normal else "different"


def order(left: Symbol, right: Symbol) -> Order | None:
    """Tell whether a date or period lies wholly before or after another; None where one of the two is none."""
    if not {left.kind, right.kind} <= _TIME_KINDS:
        return None
    return order_of(parse_span(left.normal), parse_span(right.normal))


def _compare_spans(stated: Span, source: Span) -> Comparison:
    if stated == source:
        return "equal"
    if stated.contains(source):
        return "contains"
    return "incomparable" if source.contains(stated) else "different"


class _Figures:
    """A stated figure and a source's, read once."""

    def __init__(self, stated: Symbol, source: Symbol) -> None:
        self.stated, self.source = stated, source
        left, right = parse_normal(stated.kind, stated.normal), parse_normal(source.kind, source.normal)
        assert isinstance(left, Magnitude)
        assert isinstance(right, Magnitude)
        self.left, self.right = left, right

    def compare(self) -> Comparison:
        left, right = self.left, self.right
        bare = "number" in (self.stated.kind, self.source.kind) and self.stated.kind != self.source.kind
        loose = bare or _is_loose(left.unit, right.unit)
        if left.unit != right.unit and not loose:
            both_money = self.stated.kind == self.source.kind == "amount" and "/" not in left.unit + right.unit
            return "different" if both_money else "incomparable"
        if loose and (_is_converted(left.unit) or _is_converted(right.unit)) and left.unit != right.unit:
            # Without its unit a figure says no more than its digits: 1,500 in a column of tonnes.
            same = _as_written(self.stated, left) == _as_written(self.source, right)
            return "equal" if same else "incomparable"
        result = self._compare_values(left.value, right.value)
        if result == "different" and (bare or (loose and "/" in self.left.unit + self.right.unit)):
            return "incomparable"
        return result

    def _compare_values(self, left: Decimal, right: Decimal) -> Comparison:
        stated, source = self.stated.qualifier, self.source.qualifier
        if left == right:
            opposed = stated in _UPWARD and source in _UPWARD and _UPWARD[stated] != _UPWARD[source]
            return "different" if opposed else "equal"
        if stated in _HOLDS:
            return self._compare_bound(stated, left, right)
        place, source_place = written_place(self.stated), written_place(self.source)
        gap = abs(left - right)
        finer = place > source_place or (place == source_place and _is_uneven(self.stated, left))
        if finer and gap * 2 <= Decimal(1).scaleb(place):
            return "rounded"
        if stated == "about" and gap * 2 <= min(Decimal(1).scaleb(Magnitude(left, "").place), abs(left) / 10):
            return "rounded"
        if source in _HOLDS:
            return "incomparable" if _HOLDS[source](right, left) else "different"
        if source_place > place and gap * 2 <= Decimal(1).scaleb(source_place):
            return "incomparable"
        return "incomparable" if source == "about" and gap * 10 <= abs(right) else "different"

    def _compare_bound(self, stated: Qualifier, left: Decimal, right: Decimal) -> Comparison:
        source = self.source.qualifier
        holds = _HOLDS[stated](left, right)
        if source in _UPWARD and _UPWARD[source] != _UPWARD[stated]:
            return "incomparable" if holds else "different"
        if source in _UPWARD and not holds:  # at least 3 is stated, at least 2 is known
            return "incomparable"
        return "contains" if holds else "different"


def _is_loose(left: str, right: str) -> bool:
    """Tell whether one of two units only says more than the other: none and CNY, CNY and CNY/share."""
    if {left, right} & (_RATES | DURATION_UNITS):
        return False
    return not left or not right or left.startswith(f"{right}/") or right.startswith(f"{left}/")


def _as_written(symbol: Symbol, magnitude: Magnitude) -> Decimal:
    """Return the number as it stands in the surface, before its unit was converted."""
    if not _is_converted(magnitude.unit):
        return magnitude.value
    written = next((n.value for n in scan_numerals(fold(symbol.surface))), None)
    if written is None:
        match = _NUMBER.search(symbol.normal)
        written = Decimal(match.group()) if match else abs(magnitude.value)
    return -written if magnitude.value < 0 else written
