"""How the statements of the figure set write their values; standard library only."""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal


@dataclass(frozen=True, slots=True)
class FigureStatement:
    """A statement about figures of `context`, true or false by construction."""

    context: str
    question: str
    statement: str
    true: bool
    kind: str
    """How it was made: `stated`, `rounded`, `growth`, …; for a false one what was changed."""
    language: Literal["zh", "en"]


def grouped(value: Decimal) -> str:
    """Write a value with thousands separators and no trailing zeros."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def change_digit(value: Decimal, randoms: random.Random) -> Decimal:
    """Return a value with one of its digits, not the last of more than three, replaced by another."""
    digits = list(str(value))
    places = [n for n, char in enumerate(digits) if char.isdigit()]
    place = randoms.choice(places[: max(1, min(3, len(places) - (len(places) > 3)))])
    first = place == places[0]
    digits[place] = randoms.choice(
        [d for d in "123456789" if d != digits[place]] + ([] if first else ["0"] * (digits[place] != "0"))
    )
    return Decimal("".join(digits))
