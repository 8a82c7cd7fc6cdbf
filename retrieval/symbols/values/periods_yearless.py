"""Which year dates without one are of: that of the date they are listed with, else the base date's, else none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from retrieval.symbols.values.calendar import years_later
from retrieval.symbols.values.times import TO, Time

LONGEST_LINK = 12
"""Between two dates that a word of a list or range connects, in characters."""
BETWEEN = re.compile(rf"\s?(?:日|止|起|\(含(?:当日|该日)?\))?{TO}", re.IGNORECASE)
_LISTED = re.compile(rf"\s?(?:[、,，和与及或]|,?\s?(?:and|or|&)|{TO})\s?(?:the\s)?", re.IGNORECASE)
_APART = re.compile(r"[。!?\n]|\.\s+(?=[A-Z])")
_FARTHEST_YEAR = 100


def with_years(text: str, times: Sequence[Time]) -> list[Time]:
    """Give dates without a year that of the one they are listed with (2024年6月和7月, Q1 and Q2 2024)."""
    dated = list(times)
    for at in range(1, len(dated)):
        before, time = dated[at - 1], dated[at]
        if time.free and not before.free and _are_linked(text, before, time):
            is_range = BETWEEN.fullmatch(text, before.end, time.start) is not None
            dated[at] = _in_year_of(time, before, is_range)
    for at in range(len(dated) - 2, -1, -1):
        time, after = dated[at], dated[at + 1]
        if time.free and not after.free and _are_linked(text, time, after):
            dated[at] = _in_year_of(time, after)
    return dated


def without_strays(text: str, times: Sequence[Time], base_date: date | None) -> list[Time]:
    """Drop dates that have no year but the base date's where their sentence or table writes another one.

    `In 2019 … until 1 July`, `December 31, | 2019 | 2018`: nothing here tells whose year they are of.
    """
    if base_date is None:
        return [time for time in times if not time.free]
    if all(_holds_year(time, base_date) for time in times if time.written):
        return list(times)
    return [
        time
        for at, time in enumerate(times)
        if not time.free or not (_in_row(text, time) or _is_stray(text, times, at, base_date))
    ]


def _are_linked(text: str, left: Time, right: Time) -> bool:
    return right.start - left.end <= LONGEST_LINK and _LISTED.fullmatch(text, left.end, right.start) is not None


def _in_year_of(time: Time, other: Time, is_range: bool = False) -> Time:
    span = years_later(time.span, other.span.first.year - time.span.first.year)
    if span is not None and is_range and span.first < other.span.first:  # 2023年12月1日至1月31日 ends in the next year
        span = years_later(span, 1)
    return Time(span, time.start, time.end, time.confidence) if span is not None else time


def _holds_year(time: Time, base_date: date) -> bool:
    return time.span.first.year <= base_date.year <= time.span.last.year


def _in_row(text: str, time: Time) -> bool:
    """Tell whether a date stands in a row of a table, whose header may be far away."""
    begin = text.rfind("\n", max(0, time.start - _FARTHEST_YEAR), time.start) + 1 or max(0, time.start - _FARTHEST_YEAR)
    end = text.find("\n", time.end, time.end + _FARTHEST_YEAR)
    return " | " in text[begin : end if end >= 0 else time.end + _FARTHEST_YEAR]


def _is_stray(text: str, times: Sequence[Time], at: int, base_date: date) -> bool:
    """Tell whether the year written next to a date, in its sentence, is another than the base date's."""
    time = times[at]
    before = next((t for t in reversed(times[max(0, at - 4) : at]) if t.written), None)
    after = next((t for t in times[at + 1 : at + 5] if t.written), None)
    links = ([(before, before, time)] if before else []) + ([(after, time, after)] if after else [])
    return any(
        not _holds_year(written, base_date)
        and right.start - left.end <= _FARTHEST_YEAR
        and _APART.search(text, left.end, right.start) is None
        for written, left, right in links
    )
