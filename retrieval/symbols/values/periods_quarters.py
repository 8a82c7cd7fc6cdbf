"""Quarters, halves and years by letter: 2024Q3, Q3 2024, 3Q24, H1 2024, FY2024, Q3 FY24, fiscal Q3 2024, Q3."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.values.calendar import Span
from retrieval.symbols.values.fiscal import CALENDAR_YEAR, FiscalYear
from retrieval.symbols.values.periods_en_parts import two_years
from retrieval.symbols.values.times import YEAR, Time, full_year, in_word
from retrieval.symbols.words import Words

_CONFIDENCE = 0.9
# Every pattern begins with a set of characters: only then does the engine skip ahead to it.
_YEAR_FIRST = re.compile(
    r"[FC0-9](?:(?<=[FC])Y\s?'?[0-9]{2}(?:[0-9]{2})?|(?<=[0-9])[0-9](?:[0-9]{2})?)(\s?[-/]?\s?)"
    r"(?:[Qq]([1-4])|[Hh]([12])|([1-4])Q|([12])H)(?![0-9A-Za-z])"
)
_YEAR_LAST = re.compile(
    r"([QqHh1-4])((?<=[QqHh])[1-4]|(?<=[1-4])[QqHh])"
    r"(?:[\s,]{0,2}(?:(?i:of|in)\s)?(?:(?i:the\s)?(?i:FY|fiscal(?:\syear)?|financial\syear|CY)\s?)?"
    rf"({YEAR})|(?:\s(?i:of|in))?(\s?FY\s?'?|')?([1-3][0-9]))"
    r"(?![0-9A-Za-z]|[.,%][0-9]|%)"
)
_PARTS = Words(part for letter in "qh" for digit in "1234" for part in (letter + digit, digit + letter))
_FISCAL = re.compile(
    rf"[FC](?<![A-Za-z0-9].)Y\s?(?:({YEAR})|'?([0-9]{{2}}))(?![0-9A-Za-z])(?:[/–-]([0-9]{{2}}|{YEAR})(?![0-9A-Za-z]))?"
)
_FISCAL_BEFORE = re.compile(r"(?<![A-Za-z])(?i:fiscal|financial)\s\Z")
_IS_FISCAL = re.compile(r"FY|(?i:fiscal|financial)")
_YEARLESS = re.compile(r"Q(?<![A-Za-z0-9_'-].)[1-4](?![0-9A-Za-z_]|[.:)、]\s|[:)、]|[-/'][0-9A-Za-z])")


def read_quarters(text: str, fiscal: FiscalYear) -> Iterator[Time]:
    """Yield quarters, halves and years written with Q, H, FY or CY; FY makes them the tenant's."""
    if _PARTS.find(text.lower()):
        yield from _year_first(text, fiscal)
        yield from _year_last(text, fiscal)
    if "FY" in text or "CY" in text:
        yield from _years(text, fiscal)


def read_yearless(text: str, year: int) -> Iterator[Time]:
    """Yield `Q3`, whose year nothing says, as of `year`; no number of a question (`Q3:`)."""
    for match in _YEARLESS.finditer(text) if "Q" in text else ():
        start = match.start()
        at_line = text[text.rfind("\n", 0, start) + 1 : start].strip(" *#") == ""
        span = CALENDAR_YEAR.quarter(year, int(match.group()[1]))
        if span is not None and not (at_line and text[match.end() : match.end() + 1] == "."):
            yield Time(span, start, match.end(), _CONFIDENCE, free=True, written=False)


def _year_first(text: str, fiscal: FiscalYear) -> Iterator[Time]:
    for match in _YEAR_FIRST.finditer(text):
        gap, written = match.group(1), text[match.start() : match.start(1)]
        digits = written.lstrip("FCY '")
        by_letter = written[0] in "FC"
        if in_word(text, match.start()) or len(digits) not in (2, 4):
            continue
        if len(digits) == 2 and gap and not by_letter:
            continue
        if len(digits) == 4 and not 1800 <= int(digits) <= 2099:
            continue
        by = (
            fiscal
            if written[0] == "F" or _FISCAL_BEFORE.search(text[max(0, match.start() - 10) : match.start()])
            else CALENDAR_YEAR
        )
        span = _part(by, full_year(digits), match.group(2) or match.group(4), match.group(3) or match.group(5))
        if span:
            yield Time(span, match.start(), match.end())


def _year_last(text: str, fiscal: FiscalYear) -> Iterator[Time]:
    for match in _YEAR_LAST.finditer(text):
        first, second, year, mark, short_year = match.groups()
        # Q324 names many things that are no quarter; 3Q24 and Q3'24 do not.
        if in_word(text, match.start()) or (short_year and not mark and first in "QqHh"):
            continue
        number = second if first in "QqHh" else first
        in_half = "h" in (first + second).lower()
        start = match.start()
        before = _FISCAL_BEFORE.search(text[max(0, start - 10) : start])
        by = fiscal if before or _IS_FISCAL.search(match.group()) else CALENDAR_YEAR
        span = _part(by, full_year(year or short_year), None if in_half else number, number)
        if span:
            yield Time(span, start - (len(before.group()) if before else 0), match.end())


def _years(text: str, fiscal: FiscalYear) -> Iterator[Time]:
    for match in _FISCAL.finditer(text):
        year, end = full_year(match.group(1) or match.group(2)), match.group(3)
        by = fiscal if match.group()[0] == "F" else CALENDAR_YEAR
        span = two_years(year, end, fiscal) if end else by.whole(year)
        if span:
            yield Time(span, match.start(), match.end())


def _part(by: FiscalYear, year: int, in_quarter: str | None, in_half: str | None) -> Span | None:
    if in_quarter:
        return by.quarter(year, int(in_quarter))
    return by.half(year, int(in_half or 0)) if in_half in ("1", "2") else None
