"""Dates and periods in figures: 2024-07-01, 2024/7/1, 2024-07, 2024Q3, Q3 2024, 3Q24, H1 2024, FY2024."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.calendar import Span, day, half, months, quarter, whole_year
from retrieval.symbols.times import YEAR, Time, in_word

_ISO = re.compile(
    rf"({YEAR})(?:([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}})(?![0-9])(?![./-][0-9]{{1,3}}(?![0-9]))"
    r"|-(0[1-9]|1[0-2])(?![0-9-])(?!\.[0-9]))"
)
_US = re.compile(rf"([0-9]{{1,2}})/([0-9]{{1,2}})/({YEAR})(?![0-9/])")


def read_numeric(text: str) -> Iterator[Time]:
    """Yield the days and months written in figures."""
    for match in _ISO.finditer(text):
        if in_word(text, match.start()):
            continue
        year, month = int(match.group(1)), int(match.group(3) or match.group(5))
        span = day(year, month, int(match.group(4))) if match.group(4) else months(year, month, month)
        if span is not None:
            yield Time(span, match.start(), match.end())
    for match in _US.finditer(text):
        a, b, year = (int(g) for g in match.groups())
        if in_word(text, match.start()) or (a <= 12 and b <= 12 and a != b):
            continue  # 7/1/2024 is July or January, by country
        span = day(year, a, b) if a <= 12 else day(year, b, a)
        if span is not None:
            yield Time(span, match.start(), match.end(), 0.9)


_YEAR_FIRST = re.compile(rf"({YEAR}|[0-9]{{2}})(\s?[-/]?\s?)(?:[Qq]([1-4])|[Hh]([12])|([1-4])Q|([12])H)(?![0-9A-Za-z])")
_YEAR_LAST = re.compile(
    r"(?:[Qq]([1-4])|[Hh]([12])|([1-4])[Qq]|([12])H)"
    rf"(?:([\s,]{{0,2}}(?:(?i:of|in)\s)?(?:(?i:FY|fiscal(?:\syear)?|CY)\s?)?)({YEAR})|(\s?FY|')?([0-9]{{2}}))(?![0-9A-Za-z%.,]*[0-9])"
)
_FISCAL = re.compile(rf"(?:FY|CY)\s?(?:({YEAR})|'?([0-9]{{2}}))(?![0-9A-Za-z])(?![/-][0-9])")


def read_quarters(text: str) -> Iterator[Time]:
    """Yield quarters, halves and years written with Q, H or FY."""
    for match in _YEAR_FIRST.finditer(text):
        short = len(match.group(1)) == 2
        if in_word(text, match.start()) or (short and match.group(2)):
            continue
        year = int(match.group(1)) + 2000 * short
        span = _part_of_year(year, match.group(3) or match.group(5), match.group(4) or match.group(6))
        if span:
            yield Time(span, match.start(), match.end())
    for match in _YEAR_LAST.finditer(text):
        if in_word(text, match.start()):
            continue
        year = int(match.group(6) or 2000 + int(match.group(8)))
        span = _part_of_year(year, match.group(1) or match.group(3), match.group(2) or match.group(4))
        if span:
            yield Time(span, match.start(), match.end())
    for match in _FISCAL.finditer(text):
        span = whole_year(int(match.group(1) or 2000 + int(match.group(2))))
        if span and not in_word(text, match.start()):
            yield Time(span, match.start(), match.end())


def _part_of_year(year: int, in_quarter: str | None, in_half: str | None) -> Span | None:
    return quarter(year, int(in_quarter)) if in_quarter else half(year, int(in_half or 1))
