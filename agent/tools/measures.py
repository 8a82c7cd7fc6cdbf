"""Exact numbers with units: what may be added, multiplied, compared, and what comes of it.

Values are fractions in the units of the symbol language's normal forms (kg, m, s, an ISO currency code …),
so that nothing is rounded before the result is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Literal

from retrieval.symbols.values.currencies import CODES

Kind = Literal["plain", "percent", "points", "ratio"]
"""How a number without unit was meant: `5%`, the difference of two percentages, a share of like things."""
Units = tuple[tuple[str, int], ...]
"""(unit, power), sorted; empty for a number without unit."""

_MOST_BITS = 7000
"""Of a numerator or denominator: about 2,100 digits."""
_MOST_EXPONENT = 1000
_MOST_DIGITS = 28
_PRECISION = 60


class ExpressionError(ValueError):
    """The expression cannot be computed; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A value in its unit."""

    value: Fraction
    units: Units = ()
    kind: Kind = "plain"

    def __post_init__(self) -> None:
        if max(self.value.numerator.bit_length(), self.value.denominator.bit_length()) > _MOST_BITS:
            raise ExpressionError("the result is undefined or too large")

    @property
    def unit(self) -> str:
        """The unit as it is read: `CNY`, `CNY/kg`, `m2`; empty for none."""
        over = "*".join(_power_text(unit, power) for unit, power in self.units if power > 0)
        under = "/".join(_power_text(unit, -power) for unit, power in self.units if power < 0)
        return f"{over or '1'}/{under}" if under else over


def _power_text(unit: str, power: int) -> str:
    return unit if power == 1 else f"{unit}^{power}"


def joined(left: Units, right: Units, sign: int = 1) -> Units:
    """Return the units of a product, or with `sign` -1 of a quotient."""
    powers = dict(left)
    for unit, power in right:
        powers[unit] = powers.get(unit, 0) + sign * power
    return tuple(sorted((unit, power) for unit, power in powers.items() if power))


def same_unit(measures: Sequence[Measure], what: str) -> None:
    """Refuse to add or compare what is not of one dimension.

    Raises:
        ExpressionError: it names both units.
    """
    for other in measures[1:]:
        first = measures[0]
        if first.units == other.units:
            continue
        money = [[unit for unit, _ in each.units if unit in CODES] for each in (first, other)]
        if all(money) and money[0] != money[1]:
            pair = f"{money[0][0]} and {money[1][0]}"
            raise ExpressionError(f"{pair} are different currencies, and no rate is known; compute each on its own")
        if "" in (first.unit, other.unit):
            unit = first.unit or other.unit
            share = first if other.unit else other
            if share.kind != "plain":
                raise ExpressionError(f"{what} {unit} and a percentage has no meaning; write AMOUNT * (1 + 5%)")
            raise ExpressionError(f"{what} {unit} and a number without unit has no meaning; write the unit at each")
        raise ExpressionError(f"{what} {first.unit} and {other.unit} has no meaning: they are of different dimensions")


def add(left: Measure, right: Measure, sign: int = 1) -> Measure:
    """Add; with `sign` -1 subtract. The difference of two percentages is one of percentage points."""
    same_unit((left, right), "adding" if sign > 0 else "subtracting")
    value = left.value + sign * right.value
    kinds: set[Kind] = {left.kind, right.kind}
    if "points" in kinds and kinds & {"plain", "ratio"}:
        raise ExpressionError("percentage points are added to percentages only")
    if kinds == {"percent"}:
        return Measure(value, left.units, "percent" if sign > 0 else "points")
    return Measure(value, left.units, _common(kinds))


def _common(kinds: set[Kind]) -> Kind:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "percent" if kinds == {"percent", "points"} else "plain"


def multiply(left: Measure, right: Measure) -> Measure:
    """Multiply. The product of money and money is refused: it is a slip."""
    units = joined(left.units, right.units)
    if sum(power for unit, power in units if unit in CODES) > 1:
        raise ExpressionError("money times money has no meaning")
    return Measure(left.value * right.value, units)


def divide(left: Measure, right: Measure, *, whole: bool = False) -> Measure:
    """Divide; with `whole` down to a whole number."""
    if not right.value:
        raise ExpressionError("division by zero")
    units = joined(left.units, right.units, -1)
    money = [unit for unit, _ in units if unit in CODES]
    if len(money) > 1:
        raise ExpressionError(f"{' and '.join(money)} are different currencies, and no rate is known")
    value = left.value / right.value
    if whole:
        return Measure(Fraction(value.__floor__()), units)
    if right.units or right.kind != "plain":
        return Measure(value, units, "ratio" if not units and left.units else "plain")
    return Measure(value, units, left.kind)


def power(base: Measure, exponent: Measure) -> Measure:
    """Raise to a power; of what has a unit only to a small whole one."""
    e = exponent.value
    if exponent.units:
        raise ExpressionError("an exponent has no unit")
    if abs(e) > _MOST_EXPONENT:
        raise ExpressionError(f"the exponent is larger than {_MOST_EXPONENT}")
    if not base.value and e <= 0:
        raise ExpressionError("the result is undefined or too large")
    if e.denominator == 1:
        whole = e.numerator
        size = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
        if size > 1 and size * abs(whole) > _MOST_BITS:
            raise ExpressionError("the result is undefined or too large")
        if base.units and (abs(whole) > 3 or any(unit in CODES for unit, _ in base.units)):
            raise ExpressionError(f"{base.unit} to the power of {whole} has no meaning")
        return Measure(base.value**whole, tuple((unit, p * whole) for unit, p in base.units if whole))
    if base.units or base.value < 0:
        raise ExpressionError("a root of that has no meaning here")
    with localcontext(prec=_PRECISION, Emax=3000, Emin=-3000):
        root = (Decimal(base.value.numerator) / base.value.denominator) ** (Decimal(e.numerator) / e.denominator)
    return Measure(Fraction(root))


def rounded(measure: Measure, digits: Measure | None = None) -> Measure:
    """Round half up to digits after the point, of a percentage to those of the percentage."""
    places = digits.value if digits is not None else Fraction(0)
    if places.denominator != 1 or abs(places) > _MOST_DIGITS or (digits is not None and digits.units):
        raise ExpressionError("round takes a whole number of digits")
    scale = Fraction(10) ** int(places) * (100 if measure.kind in ("percent", "points") else 1)
    sign = -1 if measure.value < 0 else 1
    half = abs(measure.value) * scale + Fraction(1, 2)
    return replace(measure, value=sign * Fraction(half.__floor__()) / scale)


def growth(old: Measure, new: Measure) -> Measure:
    """Return the change from `old` to `new` as a percentage of `old`."""
    same_unit((old, new), "growth from")
    if old.value <= 0:
        raise ExpressionError("growth from zero or from a negative figure has no meaning; give the difference")
    return Measure((new.value - old.value) / old.value, (), "percent")


def share(part: Measure, whole: Measure) -> Measure:
    """Return what percentage of `whole` a part is."""
    same_unit((part, whole), "a share of")
    return replace(divide(part, whole), units=(), kind="percent")


def total(*values: Measure) -> Measure:
    """Add all up."""
    result = values[0]
    for value in values[1:]:
        result = add(result, value)
    return result


def average(*values: Measure) -> Measure:
    """Return the arithmetic mean."""
    return divide(total(*values), Measure(Fraction(len(values))))


def least(*values: Measure) -> Measure:
    """Return the smallest."""
    same_unit(values, "comparing")
    return min(values, key=lambda each: each.value)


def largest(*values: Measure) -> Measure:
    """Return the largest."""
    same_unit(values, "comparing")
    return max(values, key=lambda each: each.value)


def absolute(measure: Measure) -> Measure:
    """Drop the sign."""
    return replace(measure, value=abs(measure.value))
