from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.compare import order
from retrieval.symbols.language import load_language
from retrieval.symbols.values.calendar import (
    Span,
    decade,
    month_run,
    normal_of,
    order_of,
    parse_span,
    week_of,
    years_later,
)
from retrieval.symbols.values.fiscal import FiscalYear

LANGUAGE = load_language(b"0123456789abcdef")
_DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31))
_SPANS = st.tuples(_DAYS, st.integers(0, 800)).map(lambda p: Span(p[0], p[0] + timedelta(days=p[1])))


def read(text: str):
    (symbol,) = LANGUAGE.read(text, tenant="t", base_date=date(2024, 11, 5))
    return symbol


@given(_SPANS)
def test_the_normal_form_of_every_span_parses_back(span: Span) -> None:
    assert parse_span(normal_of(span)) == span


@given(_SPANS, _SPANS, _SPANS)
def test_before_is_a_strict_order_that_agrees_with_the_days(a: Span, b: Span, c: Span) -> None:
    assert not a.is_before(a)
    assert not (a.is_before(b) and b.is_before(a))
    if a.is_before(b) and b.is_before(c):
        assert a.is_before(c)
    every_day_before = max(a.first, a.last) < min(b.first, b.last)
    assert a.is_before(b) == every_day_before
    if a.is_before(b):
        assert not a.meets(b)
        assert not a.contains(b)
    assert {order_of(a, b), order_of(b, a)} in ({"before", "after"}, {"overlapping"})


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("2023年第三季度", "Q4 2023", "before"),
        ("2024年", "2023-12-31", "after"),
        ("上季度", "2024年10月", "before"),
        ("2024年", "2024年7月1日", "overlapping"),
        ("2024年", "5.2%", None),
    ],
)
def test_dates_and_periods_are_ordered_and_nothing_else(left: str, right: str, expected: str | None) -> None:
    assert order(read(left), read(right)) == expected


@given(st.integers(12 * 1900, 12 * 2100), st.integers(0, 30))
def test_a_run_of_months_begins_on_a_first_and_ends_on_a_last(first: int, more: int) -> None:
    span = month_run(first, first + more)
    assert span is not None
    assert span.first == date(first // 12, first % 12 + 1, 1)
    year, month = divmod(first + more, 12)
    assert span.last == date(year, month + 1, monthrange(year, month + 1)[1])


@given(_SPANS, st.integers(-50, 50))
def test_the_same_stretch_of_another_year_keeps_its_months(span: Span, count: int) -> None:
    moved = years_later(span, count)
    assert moved is not None
    assert (moved.first.year, moved.first.month) == (span.first.year + count, span.first.month)
    assert (moved.last.year, moved.last.month) == (span.last.year + count, span.last.month)
    assert moved.is_day == span.is_day
    ends_a_month = (span.last + timedelta(days=1)).day == 1
    if ends_a_month and not span.is_day:
        assert (moved.last + timedelta(days=1)).day == 1


def test_the_whole_of_february_stays_whole() -> None:
    leap = Span(date(2024, 2, 1), date(2024, 2, 29))
    assert years_later(leap, -1) == Span(date(2023, 2, 1), date(2023, 2, 28))
    assert years_later(Span(date(2023, 2, 1), date(2023, 2, 28)), 1) == leap
    assert years_later(Span(date(2024, 2, 29), date(2024, 2, 29)), 1) == Span(date(2023 + 2, 2, 28), date(2025, 2, 28))


def test_beyond_the_calendar_there_is_nothing() -> None:
    assert month_run(0, 5) is None
    assert month_run(9999 * 12, 9999 * 12) is None
    assert years_later(Span(date(2024, 1, 1), date(2024, 12, 31)), 9000) is None
    assert decade(0) is None
    assert FiscalYear(4, "end").whole(1) is None


@given(_DAYS)
def test_a_week_is_monday_to_sunday_around_its_day(day: date) -> None:
    week = week_of(day)
    assert week.first <= day <= week.last
    assert (week.first.weekday(), week.last.weekday(), week.length_days) == (0, 6, 7)


@given(st.integers(1, 12), st.sampled_from(["start", "end"]), st.integers(1950, 2049), _DAYS)
@settings(deadline=None)
def test_a_fiscal_year_of_any_start_is_twelve_months_in_four_quarters(
    start: int, named_by, year: int, day: date
) -> None:
    fiscal = FiscalYear(start, named_by)
    whole = fiscal.whole(year)
    assert whole is not None
    assert (whole.first.month, whole.first.day) == (start, 1)
    assert (whole.last + timedelta(days=1)).month == start
    if start == 1:
        assert normal_of(whole) == f"{year}"
    else:
        assert (whole.first.year, whole.last.year) == ((year, year + 1) if named_by == "start" else (year - 1, year))
    parts = [fiscal.quarter(year, n) for n in (1, 2, 3, 4)]
    assert parts[0] is not None
    assert parts[3] is not None
    assert (parts[0].first, parts[3].last) == (whole.first, whole.last)
    for left, right in pairwise(parts):
        assert left is not None
        assert right is not None
        assert left.last + timedelta(days=1) == right.first
    of_day = fiscal.whole(fiscal.of(day))
    in_quarter = fiscal.quarter(fiscal.of(day), fiscal.quarter_of(day))
    assert of_day is not None
    assert in_quarter is not None
    assert of_day.first <= day <= of_day.last
    assert in_quarter.first <= day <= in_quarter.last
    assert fiscal.months(year, 5, 4) is None
