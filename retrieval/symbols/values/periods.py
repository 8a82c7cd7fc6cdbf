"""Dates and periods: gathers what the readers of each writing find and joins it.

Forms that name their year are read always, relative ones (上季度, last year) only when a base date
is given. `2024-07-01 to 2024-09-30` is one period, the same as 2024年第三季度.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from retrieval.symbols.found import Found
from retrieval.symbols.values import periods_en, periods_quarters, periods_zh
from retrieval.symbols.values.calendar import Span, months_up_to, normal_of, years_later
from retrieval.symbols.values.fiscal import CALENDAR_YEAR, FiscalYear
from retrieval.symbols.values.periods_en_parts import read_parts
from retrieval.symbols.values.periods_figures import read_numeric
from retrieval.symbols.values.periods_relative import read_relative
from retrieval.symbols.values.periods_same import same_periods
from retrieval.symbols.values.periods_yearless import BETWEEN, LONGEST_LINK, with_years, without_strays
from retrieval.symbols.values.periods_years import read_bare_years, read_decades
from retrieval.symbols.values.times import YEAR, Time, longest

_LEAP_YEAR = 2024
"""Where dates without a year lie until a neighbour gives one: it has every day."""
_YEAR = re.compile(YEAR)


def find_periods(
    text: str, base_date: date | None = None, fiscal: FiscalYear = CALENDAR_YEAR, *, is_whole: bool = True
) -> list[Found]:
    """Return the dates and periods of a folded text, ordered by start, not overlapping.

    Args:
        text: The text.
        base_date: Resolves what is relative or has no year; without it these are none.
        fiscal: The tenant's fiscal year.
        is_whole: Whether the years that stand in the text can be seen; where some are masked, no date is given
            the base date's year.
    """
    years = [match.start() for match in _YEAR.finditer(text)]
    found = [
        *periods_zh.read_chinese(text, base_date, fiscal),
        *read_numeric(text, years),
        *periods_quarters.read_quarters(text, fiscal),
        *read_parts(text, base_date, fiscal),
        *read_decades(text),
    ]
    if base_date is not None:
        found += read_relative(text, base_date, fiscal)
    year = base_date.year if base_date is not None else _LEAP_YEAR
    found += periods_en.read_english(text, year)
    if base_date is not None or found:
        found += periods_zh.read_yearless(text, year)
        found += periods_quarters.read_yearless(text, year)
    dated = with_years(text, longest(found))
    kept = _join(text, [_ended(text, time) for time in dated])
    kept = without_strays(text, longest([*kept, *read_bare_years(text, years, kept)]), base_date if is_whole else None)
    return [_as_found(time) for time in same_periods(text, kept)]


def _as_found(time: Time) -> Found:
    normal = normal_of(time.span)
    kind = "date" if time.span.is_day else "period"
    return Found("value", kind, normal, f"[{kind.upper()}_{normal}]", time.start, time.end, time.confidence)


_AND = re.compile(r"\sand\s", re.IGNORECASE)
_BETWEEN_BEFORE = re.compile(r"(?<![A-Za-z])between\s\Z", re.IGNORECASE)


def _join(text: str, times: list[Time]) -> list[Time]:
    """Join two days, or two periods within years, that a range word connects."""
    joined: list[Time] = []
    for time in times:
        before = joined[-1] if joined else None
        span = _range_of(text, before, time) if before is not None else None
        if before is not None and span is not None:
            joined[-1] = Time(
                span, before.start, time.end, min(before.confidence, time.confidence), before.free and time.free
            )
        else:
            joined.append(time)
    return joined


def _range_of(text: str, left: Time, right: Time) -> Span | None:
    if left.span.is_day != right.span.is_day or right.start - left.end > LONGEST_LINK:
        return None
    # From 2023 to 2024: two years that are compared, more often than two years in one.
    if "-" not in normal_of(left.span) and "Q" not in normal_of(left.span):
        return None
    if BETWEEN.fullmatch(text, left.end, right.start) is None and not (
        _AND.fullmatch(text, left.end, right.start)
        and _BETWEEN_BEFORE.search(text[max(0, left.start - 8) : left.start])
    ):
        return None
    last = right.span
    if last.first <= left.span.first and right.free:
        last = years_later(last, 1) or last
    return Span(left.span.first, last.last) if left.span.first < last.first else None


_COUNTS = {"two": 2, "three": 3, "five": 5, "six": 6, "nine": 9, "twelve": 12, "三": 3, "六": 6, "九": 9, "十二": 12}
_ENDED_BEFORE = re.compile(
    r"(?:(?P<n>two|three|six|nine|twelve|[1-9]|1[0-2])[\s-]months?(?:\speriod)?|(?P<weeks>13|26|39|5[23])\sweeks"
    r"|(?:(?P<years>two|three|five|[235])\s)?(?P<year>(?:fiscal\s|financial\s)?years?)|(?P<quarter>(?:fiscal\s)?quarter)"
    r"|(?P<half>half[\s-]year))\s(?:(?:ended|ending)\s(?:on\s)?|(?P<to>to)\s)\Z",
    re.IGNORECASE,
)
_ENDED_ENDINGS = frozenset({"ed", "ng", "on", "to"})
# Six months to 30 June are reported on; a term that is extended by six months to 30 June is no period.
_REPORTED = re.compile(
    r"(?:\A|[(|\n]\s?|(?<![A-Za-z])(?:the|for|in|over|during|of|full|financial|fiscal|first)\s)\Z", re.IGNORECASE
)
_ENDED_AFTER = re.compile(r"\s?止?(?:的|之)?\s?(?:(?P<n>三|六|九|十二|[1-9]|1[0-2])\s?个月(?:期间)?|(?P<year>年度))")
_LEFT_WINDOW = 40


def _ended(text: str, time: Time) -> Time:
    """Read `three months ended 30 September 2024`, 截至2024年9月30日止九个月 as the period they name."""
    first, last = time.span.first, time.span.last
    if not time.span.is_day and (first.day != 1 or (first.year, first.month) != (last.year, last.month)):
        return time
    window = text[max(0, time.start - _LEFT_WINDOW) : time.start]
    match = _ENDED_BEFORE.search(window) if window[-3:-1].lower() in _ENDED_ENDINGS else None
    if match is not None and match.group("to") and not _REPORTED.search(window[: match.start()]):
        return time
    if match is None and not time.span.is_day:
        return time
    if match is None:
        up_to = window.rfind("截至", max(0, len(window) - 4))
        after = _ENDED_AFTER.match(text, time.end) if up_to >= 0 else None
        if after is None:
            return time
        span = months_up_to(time.span.last, _count(after.group("n")) or 12)
        return time._replace(span=span, start=time.start - len(window) + up_to, end=after.end()) if span else time
    span = _span_up_to(time.span.last, match)
    return time._replace(span=span, start=time.start - len(window) + match.start()) if span else time


def _span_up_to(last: date, match: re.Match[str]) -> Span | None:
    if match.group("weeks"):
        return Span(last - timedelta(weeks=int(match.group("weeks")), days=-1), last)
    if match.group("year"):
        return months_up_to(last, 12 * (_count(match.group("years")) or 1))
    return months_up_to(last, _count(match.group("n")) or (3 if match.group("quarter") else 6))


def _count(word: str | None) -> int:
    return 0 if word is None else _COUNTS.get(word.lower()) or int(word)
