"""Writes a computed value for the reader: digits with unit, and the same in the units people say."""

from __future__ import annotations

from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Final, Literal

from agent.tools.measure_reading import Target
from agent.tools.measures import Measure
from retrieval.symbols.values.currencies import CODES

Language = Literal["zh", "en"]

_PRECISION: Final = 60
_SHOWN_DIGITS: Final = 28
_SHORT_DIGITS: Final = 6
_LARGE_ZH: Final = (("万亿", 12), ("亿", 8), ("万", 4))
_LARGE_EN: Final = (("trillion", 12), ("billion", 9), ("million", 6))
_YUAN: Final = "CNY"
_MOST_PLACES: Final = 6


def decimal_of(value: Fraction) -> tuple[Decimal, bool]:
    """Return a fraction as a decimal, and whether that is exact."""
    with localcontext(prec=_PRECISION, Emax=4000, Emin=-4000) as context:
        context.clear_flags()
        result = Decimal(value.numerator) / Decimal(value.denominator)
        return result, not context.flags[Inexact]


def number_text(value: Fraction, *, exact: bool = True) -> str:
    """Write without exponent and trailing zeros; what has no end, or is not `exact`, with 28 significant digits."""
    number, ends = decimal_of(value)
    return _plain(number if exact and ends else _to_digits(number, _SHOWN_DIGITS))


def result_text(measure: Measure, target: Target | None, language: Language, *, exact: bool) -> str:
    """Write the result of a computation, with its sign of equality: `= 250376000元 (2.50376亿元)`."""
    value = measure.value / (target.size if target is not None else _hundredths(measure))
    said = _with_unit(number_text(value, exact=exact), measure, target, language)
    other = _short(value, measure, target, language) if not exact else _large(measure, target, language)
    shown = f" ({other})" if other else ""
    return f"{'=' if exact else '≈'} {said}{shown}"


def _hundredths(measure: Measure) -> Fraction:
    return Fraction(1, 100) if measure.kind in ("percent", "points") else Fraction(1)


def _with_unit(number: str, measure: Measure, target: Target | None, language: Language) -> str:
    zh = language == "zh"
    if target is not None:
        unit = target.written if target.units is not None else f"{target.written} {measure.unit}".strip()
        return f"{number}{'' if unit == '%' else ' '}{unit}"
    match measure.kind:
        case "percent":
            return f"{number}%"
        case "points":
            return f"{number} 个百分点" if zh else f"{number} percentage points"
        case _:
            pass
    if not measure.units:
        return number
    if measure.units == ((_YUAN, 1),):
        return f"{number}元" if zh else f"{_YUAN} {number}"
    if len(measure.units) == 1 and measure.unit in CODES:
        return f"{measure.unit} {number}"
    return f"{number} {measure.unit}"


def _short(value: Fraction, measure: Measure, target: Target | None, language: Language) -> str:
    """Round what has no end to digits that people read."""
    number = _plain(_to_digits(decimal_of(value)[0], _SHORT_DIGITS))
    said = f"≈ {_with_unit(number, measure, target, language)}"
    if measure.kind != "ratio" or target is not None:
        return said
    return f"{said}, {_plain(_to_digits(decimal_of(value * 100)[0], _SHORT_DIGITS))}%"


def _large(measure: Measure, target: Target | None, language: Language) -> str:
    """Return a large number in 亿 or millions, a share in per cent; nothing where that says no more."""
    if target is not None:
        return ""
    if measure.kind == "points":
        return ""
    if measure.kind == "ratio":
        return f"{number_text(measure.value * 100)}%"
    zh = language == "zh"
    for unit, places in _LARGE_ZH if zh else _LARGE_EN:
        scaled = decimal_of(measure.value / Fraction(10) ** places)[0]
        if abs(scaled) >= 1 and scaled == round(scaled, _MOST_PLACES):
            number = f"{_plain(scaled)}{unit}" if zh else f"{_plain(scaled)} {unit}"
            return _with_unit(number, measure, None, language) if measure.kind == "plain" else ""
    return ""


def _to_digits(number: Decimal, digits: int) -> Decimal:
    with localcontext(prec=digits, Emax=4000, Emin=-4000):
        return +number


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
