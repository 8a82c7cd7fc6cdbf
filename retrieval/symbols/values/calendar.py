"""Days, months, quarters, halves, years and ranges: spans of days and their normal forms.

`2024-07-01`, `2024-07`, `2024Q3`, `2024H1`, `2024`, and ranges `2024-01/2024-09`,
`2021/2023`, `2024-07-01/2024-08-15`. Equal spans have equal normal forms. The years are those
a `datetime.date` can hold, but the last.
"""

from __future__ import annotations

import re
from calendar import isleap
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

Order = Literal["before", "after", "overlapping"]

_NORMAL = re.compile(r"([0-9]{4})(?:Q([1-4])|H([12])|-([0-9]{2})(?:-([0-9]{2}))?)?")
_LAST_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Days from `first` to `last`, both included."""

    first: date
    last: date

    def contains(self, other: Span) -> bool:
        """Tell whether every day of `other` lies in this span."""
        return self.first <= other.first and other.last <= self.last

    def meets(self, other: Span) -> bool:
        """Tell whether the two share a day."""
        return self.first <= other.last and other.first <= self.last

    def is_before(self, other: Span) -> bool:
        """Tell whether every day of this span comes before all of `other`: a strict partial order."""
        return self.last < other.first

    @property
    def length_days(self) -> int:
        """Number of days."""
        return (self.last - self.first).days + 1

    @property
    def is_day(self) -> bool:
        """Whether the span is a single day."""
        return self.first == self.last


def order_of(left: Span, right: Span) -> Order:
    """Tell whether `left` lies wholly before or after `right`, or shares days with it."""
    if left.is_before(right):
        return "before"
    return "after" if right.is_before(left) else "overlapping"


def day(year: int, month: int, number: int) -> Span | None:
    """Return one day; None if the calendar has no such day."""
    try:
        found = date(year, month, number)
    except ValueError:
        return None
    return Span(found, found)


@lru_cache(maxsize=4096)
def months(year: int, first: int, last: int) -> Span | None:
    """Return the span of whole months of one year; None if there are no such months."""
    if not (1 <= year <= 9998 and 1 <= first <= last <= 12):
        return None
    return Span(date(year, first, 1), date(year, last, _last_day(year, last)))


def quarter(year: int, number: int) -> Span | None:
    """Return a quarter."""
    return months(year, 3 * number - 2, 3 * number)


def half(year: int, number: int) -> Span | None:
    """Return a half-year."""
    return months(year, 6 * number - 5, 6 * number)


def whole_year(year: int) -> Span | None:
    """Return a calendar year."""
    return months(year, 1, 12)


def month_run(first: int, last: int) -> Span | None:
    """Return whole months by their index, `12 * year + month - 1`; None beyond the calendar."""
    if not 12 <= first <= last < 9999 * 12:
        return None
    year, month = last // 12, last % 12 + 1
    return Span(date(first // 12, first % 12 + 1, 1), date(year, month, _last_day(year, month)))


def _last_day(year: int, month: int) -> int:
    return 29 if month == 2 and isleap(year) else _LAST_DAYS[month - 1]


def decade(year: int) -> Span | None:
    """Return the ten years that begin with `year`."""
    return month_run(12 * year, 12 * year + 119)


def week_of(day_: date) -> Span:
    """Return the week of a day, Monday to Sunday."""
    monday = day_ - timedelta(days=day_.weekday())
    return Span(monday, monday + timedelta(days=6))


def years_later(span: Span, count: int) -> Span | None:
    """Return the same stretch `count` years later; a month's end stays one. None beyond the calendar."""
    if not (span.first.year + count >= 1 and span.last.year + max(count, 0) <= 9998):
        return None
    first = _years_later(span.first, count)
    if span.is_day:
        return Span(first, first)
    # By the day after the last: the whole of February stays the whole of February.
    return Span(first, _years_later(span.last + timedelta(days=1), count) - timedelta(days=1))


def _years_later(day_: date, count: int) -> date:
    try:
        return day_.replace(year=day_.year + count)
    except ValueError:  # 29 February
        return day_.replace(year=day_.year + count, day=28)


def months_up_to(last: date, count: int) -> Span | None:
    """Return the `count` months that end with the month of `last`, if `last` is a month's end."""
    if last.day != _last_day(last.year, last.month):
        return None
    end = last.year * 12 + last.month - 1
    return month_run(end - count + 1, end)


@lru_cache(maxsize=4096)
def normal_of(span: Span) -> str:
    """Return the normal form of a span."""
    first, last = span.first, span.last
    if span.is_day:
        return first.isoformat()
    if first.day == 1 and (last + timedelta(days=1)).day == 1:
        return _months_normal(first, last)
    return f"{first.isoformat()}/{last.isoformat()}"


def parse_span(normal: str) -> Span:
    """Read a normal form back.

    Raises:
        ValueError: It is none.
    """
    first, slash, last = normal.partition("/")
    begin, end = _parse_one(first), _parse_one(last if slash else first)
    return Span(begin.first, end.last)


def _months_normal(first: date, last: date) -> str:
    year, a, b = first.year, first.month, last.month
    if first.year != last.year:
        whole = a == 1 and b == 12
        return f"{first.year:04}/{last.year:04}" if whole else f"{first.isoformat()[:7]}/{last.isoformat()[:7]}"
    if (a, b) == (1, 12):
        return f"{year:04}"
    if (a, b) in ((1, 6), (7, 12)):
        return f"{year:04}H{1 if a == 1 else 2}"
    if b - a == 2 and a % 3 == 1:
        return f"{year:04}Q{b // 3}"
    return f"{year:04}-{a:02}" if a == b else f"{year:04}-{a:02}/{year:04}-{b:02}"


def _parse_one(text: str) -> Span:
    match = _NORMAL.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no normal form of a date or period")
    year, in_quarter, in_half, month, number = (int(g) if g else 0 for g in match.groups())
    if in_quarter:
        span = quarter(year, in_quarter)
    elif in_half:
        span = half(year, in_half)
    elif number:
        span = day(year, month, number)
    else:
        span = months(year, month, month) if month else whole_year(year)
    if span is None:
        raise ValueError(f"{text!r} is no normal form of a date or period")
    return span
