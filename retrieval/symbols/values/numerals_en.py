"""English numerals: twelve, twenty-five, one hundred and twenty thousand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from retrieval.symbols.words import SPACES, Words

_TEENS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_POWERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
SMALL = dict(zip(_TEENS, range(1, 20), strict=True)) | dict(zip(_TENS, range(20, 100, 10), strict=True))
"""The numerals below a hundred that are one word."""

_FIRST = "|".join(sorted(SMALL, key=len, reverse=True))
_NEXT = "|".join(sorted((*SMALL, *_POWERS), key=len, reverse=True))
_AND = r"(?:(?<=hundred)|(?<=thousand)|(?<=million))\sand\s"
_HALF = r"\sand\sa\shalf(?=\s(?:thousand|million|billion|trillion))"
_RUN = re.compile(
    rf"(?:{_FIRST})(?:{_HALF})?(?:(?:[\s-]|{_AND})(?:{_NEXT})(?![A-Za-z])){{0,12}}+(?![A-Za-z])"
    r"|half\sa\s(?:thousand|million|billion|trillion)(?![A-Za-z])",
    re.IGNORECASE,
)
# Where a numeral can begin: after a space or a mark, with the letters that begin one.
_MARKS = f"{SPACES}(\"'“‘|/–—~-"
_BEGINNINGS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twel", "twent"),
    *("thirt", "fift", "fort", "half"),
)
_ANCHORS = Words(f"{mark}{beginning}" for mark in _MARKS for beginning in _BEGINNINGS)
_SPLIT = re.compile(r"[A-Za-z]+")


def read_english(text: str) -> Iterator[tuple[int, int, Decimal, int, int]]:
    """Yield (start, end, value, scale, place) of the English numerals of a folded text."""
    done = 0
    for at in _starts(text):
        match = _RUN.match(text, at) if at >= done else None
        if match is None:
            continue
        done = match.end()
        parsed = parse_english(match.group())
        if parsed is not None:
            yield (at, done, *parsed)


def _starts(text: str) -> Iterator[int]:
    yield 0
    lowered = text.lower()
    if len(lowered) == len(text):
        for _, start, _ in _ANCHORS.find(lowered):
            yield start + 1


def parse_english(run: str) -> tuple[Decimal, int, int] | None:
    """Return value, scale and place of a numeral in words; None if it is none (`two three`).

    The scale is the power of ten of a last thousand, million …, the place that of the last digit.
    """
    total, section = Decimal(0), Decimal(0)
    least, scale, last = 18, 0, 0
    room = 100  # what may still be added to the section: after twenty a digit, after a digit nothing
    for word in _SPLIT.findall(run.lower()):
        if word in ("and", "a"):
            continue
        if word == "half":
            section, room, last = section + Decimal("0.5"), 0, -1
            continue
        value, scale = SMALL.get(word), 0
        if value is not None:
            if value >= room:
                return None
            section, room, last = section + value, 10 if value >= 20 else 1, 0
        elif word == "hundred":
            if not 0 < section < 100:
                return None
            section, room, last = section * 100, 100, 2
        else:
            power = _POWERS[word]
            if not section or power >= least:
                return None
            total, section, room, least = total + section * 10**power, 0, 100, power
            scale, last = power, power + min(last, 0)
    return total + section, scale, last
