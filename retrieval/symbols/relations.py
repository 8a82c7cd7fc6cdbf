"""Yes-or-no questions about two values, and conversion of one: what rules and tools ask of `compare`."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from retrieval.symbols.compare import compare, equivalent, parse_normal
from retrieval.symbols.values.calendar import Span, parse_span
from retrieval.symbols.values.units import factor_of
from retrieval.types import Symbol

__all__ = ["after", "before", "contains", "convert", "equivalent", "rounds_to"]

_OTHERS: dict[str, tuple[str, Fraction]] = {
    **{unit: ("pp", Fraction(1, 100)) for unit in ("bp", "bps", "基点", "basis points")},
    **{unit: ("pp", Fraction(1)) for unit in ("pp", "百分点", "percentage points")},
    **{unit: ("%", Fraction(1)) for unit in ("%", "percent")},
    **{unit: ("%", Fraction(1, 10)) for unit in ("‰", "per mille")},
    **{unit: ("%", Fraction(10)) for unit in ("成",)},
    **{unit: ("x", Fraction(1)) for unit in ("x", "倍", "times")},
    **{unit: ("month", Fraction(12)) for unit in ("year", "years", "年")},
    **{unit: ("month", Fraction(3)) for unit in ("quarter", "quarters", "季度")},
    **{unit: ("month", Fraction(1)) for unit in ("month", "months", "个月", "月")},
    **{unit: ("s", Fraction(7 * 86_400)) for unit in ("week", "weeks", "周")},
    **{unit: ("s", Fraction(86_400)) for unit in ("day", "days", "天", "日")},
    **{unit: ("s", Fraction(3_600)) for unit in ("hour", "hours", "小时")},
    **{unit: ("s", Fraction(60)) for unit in ("minute", "minutes", "分钟")},
    **{unit: ("s", Fraction(1)) for unit in ("s", "second", "seconds", "秒")},
}


def rounds_to(source: Symbol, stated: Symbol) -> bool:
    """Tell whether the source's value is the stated one, exactly or rounded to the digits stated."""
    return compare(stated, source) in ("equal", "rounded")


def contains(whole: Symbol, part: Symbol) -> bool:
    """Tell whether a period holds a date or period, or a bound (at least 5%) a figure; every value holds itself."""
    return compare(whole, part) in ("equal", "contains")


def before(first: Symbol, second: Symbol) -> bool:
    """Tell whether every day of one date or period comes before every day of another; a strict order.

    Raises:
        ValueError: One of the two is no date or period.
    """
    return _span(first).last < _span(second).first


def after(first: Symbol, second: Symbol) -> bool:
    """Tell whether every day of one date or period comes after every day of another; see `before`."""
    return before(second, first)


def _span(symbol: Symbol) -> Span:
    if symbol.kind not in ("date", "period"):
        raise ValueError(f"a {symbol.kind} is no date or period")
    return parse_span(symbol.normal)


def convert(symbol: Symbol, unit: str) -> Decimal | None:
    """Return a value in another unit of its sort: `2 kg` in `g` is 2000, `0.5pp` in `bps` 50, `P1Y` in `months` 12.

    Exact, but for quotients without an end (kilograms in pounds), which have 28 digits. None where the unit is
    unknown or of another sort: money is never converted, nor are months into days.
    """
    target = _OTHERS.get(unit) or factor_of(unit)
    if target is None or symbol.cls != "value" or symbol.kind in ("date", "period"):
        return None
    try:
        magnitude = parse_normal(symbol.kind, symbol.normal)
    except ValueError:
        return None
    if isinstance(magnitude, Span) or magnitude.unit != target[0]:
        return None
    value = Fraction(magnitude.value) / target[1]
    return Decimal(value.numerator) / Decimal(value.denominator)
