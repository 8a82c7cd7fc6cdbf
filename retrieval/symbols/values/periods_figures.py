"""Dates and months in figures: 2024-07-01, 2024/7/1, 31/12/2024, 1.7.2024, 20240701, 2024-07, 07/2024."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from retrieval.symbols.values.calendar import Span, day, months
from retrieval.symbols.values.signs import in_cell
from retrieval.symbols.values.times import Time, full_year, in_word

_GUESS = 0.6
"""Confidence of 7/1/2024, which is July or January by country."""
_REST = re.compile(
    r"(\s?[-/.]\s?)([0-9]{1,2})\1([0-9]{1,2})(?![0-9])(?![./-][0-9]{1,3}(?![0-9]))"
    r"|([-/])(0[1-9]|1[0-2])(?![0-9/-])(?!\.[0-9])"
    r"|([0-9]{2})([0-9]{2})(?![0-9A-Za-z_-]|\.[0-9])"
)
_STANDARD = re.compile(r"(?:[A-Z]{2,}|[Nn]o\.|号|(?i:circular|notice)|第)\s?\Z")  # ASU 2017-07
_VERSION = re.compile(r"(?i:version|release|build|ver\.?|v)\s?\Z|版本?\s?[::]?\s?\Z")
_DATE_CUE = re.compile(
    r"(?:日期|时间|截至|截止|止于|[自从于至在]|(?<![A-Za-z])(?i:dated?|on|as\sof|as\sat|until|since|effective))\s?[:为是]?\s?\Z"
)


def read_numeric(text: str, years: Sequence[int]) -> Iterator[Time]:
    """Yield the days and months written in figures; `years` are the places of all that may be a year."""
    yield from _year_first(text, years)
    yield from _year_last(text, years)
    if "/" in text:
        yield from _short_years(text)


def _year_first(text: str, years: Sequence[int]) -> Iterator[Time]:
    done = -1
    for start in years:
        match = _REST.match(text, start + 4)
        if match is None:
            continue
        ranged = start == done + 1 and text[done] in "-~"  # 2024.07.01-2024.09.30
        is_cell = text[start - 1 : start] == "," and match.group(1) is not None  # 12.50,2024-04-30
        if in_word(text, start) and not ranged and not is_cell:
            continue
        span = _span_of(text, start, match)
        if span is not None:
            done = match.end()
            yield Time(span, start, done)


def _span_of(text: str, start: int, match: re.Match[str]) -> Span | None:
    separator, month, number, short_separator, month_alone, month_close, day_close = match.groups()
    year, before = int(text[start : start + 4]), text[max(0, start - 12) : start]
    if month_close:
        return day(year, int(month_close), int(day_close)) if _DATE_CUE.search(before) else None
    if month_alone:
        if _STANDARD.search(before) or _is_season(text, match.end(), short_separator, year, int(month_alone)):
            return None
        return months(year, int(month_alone), int(month_alone))
    if separator == "." and _VERSION.search(before):
        return None
    if len(separator) == 2:  # 2024- 7- 1
        return None
    return day(year, int(month), int(number))


_SEASON = re.compile(r"\s?(?:赛季|年度|学年|财年|年(?![0-9])|(?i:season|academic|fiscal|NBA))")


def _is_season(text: str, end: int, separator: str, year: int, month: int) -> bool:
    """2006/07 is two years; 2007-08 is a month unless a word makes it two years."""
    return month == (year + 1) % 100 and (separator == "/" or _SEASON.match(text, end) is not None)


# What stands before the year is looked at only where one follows.
_NO_YEAR_END = re.compile(r"[0-9A-Za-z_]|[./-][0-9]")
_MARKS = (".", "/", "-")
_DAY_AND_MONTH = re.compile(r"(?<![0-9A-Za-z_./$-])(?:([0-9]{1,2})([./-]))?([0-9]{1,2})\Z")


def _year_last(text: str, years: Sequence[int]) -> Iterator[Time]:
    marked = [start for start in years if text[start - 1 : start] in _MARKS]
    read = [found for start in marked if (found := _parted(text, start)) is not None]
    day_first = any(a > 12 for _, _, a, _, _, mark in read if mark != ".") and not any(
        b > 12 for _, _, _, b, _, mark in read if mark != "."
    )
    for start, end, a, b, year, mark in read:
        if not a:
            span, is_guess = months(year, b, b), False
        elif mark == "." or a > 12 or b > 12:
            span, is_guess = (day(year, a, b) if b > 12 and mark != "." else day(year, b, a)), False
        else:
            span, is_guess = (day(year, b, a) if day_first else day(year, a, b)), a != b
        if span is not None:
            yield Time(span, start, end, _GUESS if is_guess else 0.9)


def _parted(text: str, year_start: int) -> tuple[int, int, int, int, int, str] | None:
    """Return start, end, first and second number, year and mark of 31/12/2024; of 07/2024 the first number is 0."""
    at, end = year_start - 1, year_start + 4
    if _NO_YEAR_END.match(text, end):
        return None
    window = text[max(0, at - 6) : at]
    numbers = _DAY_AND_MONTH.search(window)
    mark = text[at]
    if numbers is None:
        return None
    start = at - len(window) + numbers.start()
    if numbers.group(1) is None:
        if mark != "/" or len(numbers.group(3)) != 2 or _STANDARD.search(text[max(0, start - 10) : start]):
            return None
    elif numbers.group(2) != mark:
        return None
    return start, end, int(numbers.group(1) or 0), int(numbers.group(3)), int(text[year_start:end]), mark


_SHORT = re.compile(r"/([0-3]?[0-9])/([0-9]{2})(?![0-9A-Za-z_]|[/.-][0-9])")
_SHORT_HEAD = re.compile(r"(?<![0-9A-Za-z_./$-])[0-3]?[0-9]\Z")
_SHORT_CUE = re.compile(
    r"(?<![A-Za-z])(?i:dated?|on|by|of|due|at|from|to|until|through|since|born|ended|ending|before|after)[\s:]{1,2}\Z|日期?[:为]?\s?\Z"
)


def _short_years(text: str) -> Iterator[Time]:
    for match in _SHORT.finditer(text):
        head = _SHORT_HEAD.search(text[max(0, match.start() - 3) : match.start()])
        if head is None:
            continue
        start, end = match.start() - len(head.group()), match.end()
        a, b, year = int(head.group()), int(match.group(1)), full_year(match.group(2))
        padded = len(head.group()) == 2 and len(match.group(1)) == 2 and (a > 12) != (b > 12)
        if padded or _SHORT_CUE.search(text[max(0, start - 10) : start]) or in_cell(text, start, end):
            span = day(year, b, a) if a > 12 else day(year, a, b)
            if span is not None:
                yield Time(span, start, end, 0.8 if (a > 12) != (b > 12) else _GUESS)
