"""Normal forms of figures and durations as exact values with a unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from retrieval.symbols.values.units import COUNTED, MEASURED

_MONEY = re.compile(r"([A-Z]{3}) (-?[0-9]+(?:\.[0-9]+)?)(?:/([A-Za-z0-9/]+))?")
_FIGURE = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(%|pp|x| [A-Za-z0-9/]+)?")
_PAIR = re.compile(r"([0-9]+):([0-9]+)")
_DURATION = re.compile(r"P(T)?([0-9]+(?:\.[0-9]+)?)([YMWDHS])")
_UNIT_OF: dict[str, frozenset[str]] = {
    "number": frozenset({""}),
    "quantity": frozenset({"", *MEASURED, *COUNTED}),
    "percent": frozenset({"%"}),
    "percent_points": frozenset({"pp"}),
    "ratio": frozenset({"x"}),
}
_SPANS = {
    **{"Y": (12, "month"), "M": (1, "month"), "W": (7 * 86_400, "s"), "D": (86_400, "s")},
    **{"H": (3_600, "s"), "TM": (60, "s"), "S": (1, "s")},
}
DURATION_UNITS = frozenset({"month", "s"})
FIGURE_KINDS = frozenset({*_UNIT_OF, "amount", "duration"})


@dataclass(frozen=True, slots=True)
class Magnitude:
    """A figure: exact value and unit.

    The unit is an ISO currency code (`CNY`, a price `CNY/share`), `%`, `pp`, `x`, that of a
    quantity, `month` or `s` for a duration, or empty.
    """

    value: Decimal
    unit: str

    @property
    def place(self) -> int:
        """Power of ten of the last digit that is not a trailing zero: 238,000,000 → 6."""
        exponent = self.value.normalize().as_tuple().exponent if self.value else 0
        return exponent if isinstance(exponent, int) else 0


@lru_cache(maxsize=16_384)
def parse_magnitude(kind: str, normal: str) -> Magnitude | None:
    """Read the normal form of a figure or a duration; None if it is none of this kind.

    A ratio `3:2` is the multiple 1.5. Months and days are no multiples of each other: `P1Y` is 12
    months, `P14D` and `PT336H` one number of seconds.
    """
    if kind == "amount":
        match = _MONEY.fullmatch(normal)
        if match is None or (match.group(3) and match.group(3) not in _UNIT_OF["quantity"]):
            return None
        return Magnitude(
            Decimal(match.group(2)), f"{match.group(1)}/{match.group(3)}" if match.group(3) else match.group(1)
        )
    if kind == "duration":
        return _duration(normal)
    if kind == "ratio" and (pair := _PAIR.fullmatch(normal)):
        return Magnitude(Decimal(pair.group(1)) / Decimal(pair.group(2)), "x") if int(pair.group(2)) else None
    match = _FIGURE.fullmatch(normal)
    if match is None or kind not in _UNIT_OF:
        return None
    unit = (match.group(2) or "").strip()
    return Magnitude(Decimal(match.group(1)), unit) if unit in _UNIT_OF[kind] else None


def _duration(normal: str) -> Magnitude | None:
    match = _DURATION.fullmatch(normal)
    if match is None:
        return None
    in_day, number, letter = match.groups()
    if bool(in_day) != (letter in "HS") and letter != "M":
        return None
    factor, unit = _SPANS["TM" if in_day and letter == "M" else letter]
    return Magnitude(Decimal(number) * factor, unit)
