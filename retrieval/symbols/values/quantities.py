"""Quantities and amounts as findings: conversion to the unit of the normal form, token, and what is no count."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import NamedTuple

from retrieval.symbols.found import Found
from retrieval.symbols.values.numerals import Numeral, plain
from retrieval.symbols.values.units import Unit

_SMALLEST_IN_WORDS = 10
_LONGEST_INTEGER = 15
_CENTS = Decimal("0.01")
_PRICE_DIGITS = 12
"""Significant digits of a price whose conversion has no end (per pound in per kilogram)."""


class Figure(NamedTuple):
    """A signed value with the unit written for it, and where it stands."""

    value: Decimal
    unit: Unit | None
    start: int
    end: int


def amount_found(currency: str, figure: Figure) -> Found:
    """Return an amount; `unit` is what it is the price of (12元/吨 is 0.012 a kilogram)."""
    if figure.unit is None:
        number = plain(figure.value)
        return Found("value", "amount", f"{currency} {number}", f"[{currency}_{number}]", figure.start, figure.end)
    number, name = plain(_price(figure.value, figure.unit.factor)), figure.unit.name
    token = f"[{currency}_{number}/{name.upper()}]"
    return Found("value", "amount", f"{currency} {number}/{name}", token, figure.start, figure.end)


def quantity_found(figure: Figure) -> Found:
    """Return a quantity in the unit of its normal form."""
    value, unit, start, end = figure
    if unit is None:
        number = plain(value)
        return Found("value", "quantity", number, f"[QTY_{number}]", start, end)
    number = plain(converted(value, unit.factor))
    word = "COUNT" if unit.counted else "QTY"
    return Found("value", "quantity", f"{number} {unit.name}", f"[{word}_{number}_{unit.name.upper()}]", start, end)


def converted(value: Decimal, factor: Fraction) -> Decimal:
    """Multiply exactly; a product without an end (thirds of a square metre) is rounded to two decimals."""
    if factor == 1:
        return value
    product = Fraction(value) * factor
    exact = _exact(product)
    return _divide(product).quantize(_CENTS, ROUND_HALF_UP) if exact is None else exact


def _price(value: Decimal, factor: Fraction) -> Decimal:
    if factor == 1:
        return value
    price = Fraction(value) / factor
    exact = _exact(price)
    if exact is not None or not price:
        return exact or Decimal(0)
    rounded = _divide(price)
    return round(rounded, _PRICE_DIGITS - 1 - rounded.adjusted())


def _exact(value: Fraction) -> Decimal | None:
    """Return the decimal of a fraction whose denominator has no other primes than 2 and 5."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    return Decimal(value.numerator * 10**places // value.denominator).scaleb(-places)


def _divide(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


_YEAR_BEFORE = re.compile(r"(?<![A-Za-z])(?i:in|since|during|until|fiscal|by|of|year|FY)\s\Z")
_LABEL_BEFORE = re.compile(
    r"(?:第|(?<![A-Za-z])(?i:no\.?|pages?|pp?\.|chapter|section|table|figure|fig\.|item|step|room|version|v\.?|clause"
    r"|article|appendix|level|unit|lot|note))\s?\Z|(?:[A-Za-z#_/]|(?<=[A-Za-z])[-–]|(?<=[A-Za-z0-9])\.)\Z"
)
_YEARS = range(1950, 2050)


def may_be_counted(text: str, numeral: Numeral, unit: Unit) -> bool:
    """Tell a quantity from a label (`第3页`), a year (`in 2019 companies`) and a small count in words (`三家`)."""
    if unit.counted and numeral.written in ("chinese", "english") and numeral.value < _SMALLEST_IN_WORDS:
        return unit.name == "workday"
    start = numeral.start
    if numeral.digits_end - start > _LONGEST_INTEGER and numeral.written == "integer":
        return False
    before = text[start - 1 : start]
    if before and (before == "第" or (before.isascii() and before not in "(|\n\t,;:")):
        window = text[max(0, start - 10) : start]
        if _LABEL_BEFORE.search(window) is not None:
            return False
        if numeral.written == "integer" and unit.counted and numeral.value in _YEARS and _YEAR_BEFORE.search(window):
            return False
    return True
