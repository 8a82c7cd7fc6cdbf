"""Dates and periods in figures: 2024-07-01, 2024/7/1, 2024-07, 2024Q3, Q3 2024, 3Q24, H1 2024, FY2024."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.values.calendar import Span, day, half, months, quarter, whole_year
from retrieval.symbols.values.times import YEAR, Time, in_word

_ISO = re.compile(
    rf"({YEAR})(?:([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}})(?![0-9])(?![./-][0-9]{{1,3}}(?![0-9]))"
    r"|-(0[1-9]|1[0-2])(?![0-9-])(?!\.[0-9]))"
)
_STANDARD = re.compile(r"(?:[A-Z]{2,}|[Nn]o\.|号)\s?\Z")  # ASU 2017-07
_HAS_YEAR = re.compile(YEAR)
_US = re.compile(rf"[0-9](?:[0-9]?/[0-9]{{1,2}}/{YEAR})(?![0-9/])")


def read_numeric(text: str) -> Iterator[Time]:
    """Yield the days and months written in figures."""
    if _HAS_YEAR.search(text) is None:
        return
    done = -1
    for match in _ISO.finditer(text):
        before = text[max(0, match.start() - 8) : match.start()]
        ranged = match.start() == done + 1 and text[done] in "-~"  # 2024.07.01-2024.09.30
        if (in_word(text, match.start()) and not ranged) or (match.group(5) and _STANDARD.search(before)):
            continue
        year, month = int(match.group(1)), int(match.group(3) or match.group(5))
        span = day(year, month, int(match.group(4))) if match.group(4) else months(year, month, month)
        if span is not None:
            done = match.end()
            yield Time(span, match.start(), done)
    for match in _US.finditer(text) if "/" in text else ():
        a, b, year = (int(part) for part in match.group().split("/"))
        if in_word(text, match.start()) or (a <= 12 and b <= 12 and a != b):
            continue  # 7/1/2024 is July or January, by country
        span = day(year, a, b) if a <= 12 else day(year, b, a)
        if span is not None:
            yield Time(span, match.start(), match.end(), 0.9)


# Every pattern begins with a set of characters: only then does the engine skip ahead to it.
_YEAR_FIRST = re.compile(
    r"([0-9](?:[0-9]{3}|[0-9]))(\s?[-/]?\s?)(?:[Qq]([1-4])|[Hh]([12])|([1-4])Q|([12])H)(?![0-9A-Za-z])"
)
_YEAR_LAST = re.compile(
    r"([QqHh1-4])((?<=[QqHh])[1-4]|(?<=[1-4])[QqHh])"
    rf"(?:[\s,]{{0,2}}(?:(?i:of|in)\s)?(?:(?i:FY|fiscal(?:\syear)?|CY)\s?)?({YEAR})|(\s?FY|')?([1-3][0-9]))"
    r"(?![0-9A-Za-z]|[.,%][0-9]|%)"
)
_HAS_PART = re.compile(r"[QqHh](?:[1-4]|(?<=[1-4].))")
_FISCAL = re.compile(rf"[FC]Y\s?(?:({YEAR})|'?([0-9]{{2}}))(?![0-9A-Za-z])(?![/-][0-9])")


def read_quarters(text: str) -> Iterator[Time]:
    """Yield quarters, halves and years written with Q, H or FY."""
    has_part = _HAS_PART.search(text) is not None
    for match in _YEAR_FIRST.finditer(text) if has_part else ():
        digits, gap = match.group(1), match.group(2)
        short = len(digits) == 2
        if in_word(text, match.start()) or (gap if short else not 1800 <= int(digits) <= 2099):
            continue
        span = _part_of_year(
            int(digits) + 2000 * short, match.group(3) or match.group(5), match.group(4) or match.group(6)
        )
        if span:
            yield Time(span, match.start(), match.end())
    for match in _YEAR_LAST.finditer(text) if has_part else ():
        first, second, year, mark, short_year = match.groups()
        # Q324 names many things that are no quarter; 3Q24 and Q3'24 do not.
        if in_word(text, match.start()) or (short_year and not mark and first in "QqHh"):
            continue
        number = second if first in "QqHh" else first
        in_half = "h" in (first + second).lower()
        span = _part_of_year(int(year or 2000 + int(short_year)), None if in_half else number, number)
        if span:
            yield Time(span, match.start(), match.end())
    for match in _FISCAL.finditer(text) if "FY" in text or "CY" in text else ():
        span = whole_year(int(match.group(1) or 2000 + int(match.group(2))))
        if span and not in_word(text, match.start()):
            yield Time(span, match.start(), match.end())


def _part_of_year(year: int, in_quarter: str | None, in_half: str | None) -> Span | None:
    if in_quarter:
        return quarter(year, int(in_quarter))
    return half(year, int(in_half or 0)) if in_half in ("1", "2") else None
