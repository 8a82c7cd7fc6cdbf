"""Dates and periods: gathers what the readers of each writing find and joins it.

Forms that name their year are read always, relative ones (上季度, last year) only when a base date
is given. `2024-07-01 to 2024-09-30` is one period, the same as 2024年第三季度.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from retrieval.symbols.found import Found
from retrieval.symbols.values.calendar import Span, months_up_to, normal_of, whole_year
from retrieval.symbols.values.periods_en import read_english
from retrieval.symbols.values.periods_figures import read_numeric, read_quarters
from retrieval.symbols.values.periods_relative import read_relative
from retrieval.symbols.values.periods_zh import read_chinese
from retrieval.symbols.values.signs import in_cell
from retrieval.symbols.values.times import DASH, TO, YEAR, Time, in_word, longest


def find_periods(text: str, base_date: date | None = None) -> list[Found]:
    """Return the dates and periods of a folded text, ordered by start, not overlapping."""
    found = [*read_chinese(text, base_date), *read_numeric(text), *read_quarters(text), *read_english(text, base_date)]
    if base_date is not None:
        found += read_relative(text, base_date)
    kept = _join(text, [_ended(text, time) for time in longest(found)])
    return [_as_found(time) for time in longest([*kept, *_bare_years(text)])]


def _as_found(time: Time) -> Found:
    normal = normal_of(time.span)
    kind = "date" if time.span.is_day else "period"
    return Found("value", kind, normal, f"[{kind.upper()}_{normal}]", time.start, time.end, time.confidence)


_BETWEEN = re.compile(rf"{TO}|\s?(?:日|止)?{TO}", re.IGNORECASE)


def _join(text: str, times: list[Time]) -> list[Time]:
    """Join two days, or two periods within years, that a range word connects."""
    joined: list[Time] = []
    for time in times:
        before = joined[-1] if joined else None
        if before is not None and _is_range(text, before, time):
            span = Span(before.span.first, time.span.last)
            joined[-1] = Time(span, before.start, time.end, min(before.confidence, time.confidence))
        else:
            joined.append(time)
    return joined


def _is_range(text: str, left: Time, right: Time) -> bool:
    if left.span.is_day != right.span.is_day or left.span.first >= right.span.first:
        return False
    # From 2023 to 2024: two years that are compared, more often than two years in one.
    if "-" not in normal_of(left.span) and "Q" not in normal_of(left.span):
        return False
    return right.start - left.end <= 12 and _BETWEEN.fullmatch(text, left.end, right.start) is not None


_COUNTS = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "三": 3, "六": 6, "九": 9, "十二": 12, "3": 3, "6": 6,
           "9": 9, "12": 12}  # fmt: skip
_ENDED_BEFORE = re.compile(
    r"(?:(?P<n>three|six|nine|twelve|3|6|9|12)[\s-]months?(?:\speriod)?|(?P<year>(?:fiscal\s|financial\s)?years?)|(?P<quarter>(?:fiscal\s)?quarter)"
    r"|(?P<half>half[\s-]year))\s(?:ended|ending)\s(?:on\s)?\Z",
    re.IGNORECASE,
)
_ENDED_AFTER = re.compile(r"\s?止?(?:的|之)?\s?(?:(?P<n>三|六|九|十二|3|6|9|12)\s?个月(?:期间)?|(?P<year>年度))")
_LEFT_WINDOW = 40


def _ended(text: str, time: Time) -> Time:
    """Read `three months ended 30 September 2024`, 截至2024年9月30日止九个月 as the period they name."""
    if not time.span.is_day:
        return time
    window = text[max(0, time.start - _LEFT_WINDOW) : time.start]
    match = _ENDED_BEFORE.search(window)
    start, end = time.start, time.end
    if match is not None:
        start -= len(window) - match.start()
        in_months = 3 if match.group("quarter") else 6 if match.group("half") else 12
    else:
        match = _ENDED_AFTER.match(text, end) if "截至" in window[-4:] else None
        if match is None:
            return time
        end, in_months = match.end(), 12
    number = match.group("n")
    span = months_up_to(time.span.last, _COUNTS[number.lower()] if number else in_months)
    return Time(span, start, end, time.confidence) if span else time


# A bare year counts only where something says that it is one.
_YEAR_CUE = re.compile(
    r"(?:(?<![a-z])(?i:in|during|since|until|by|year|years|fiscal|for|of|to|from|and|versus|vs\.?|than|through))\s\Z"
)
_LIST_CUE = re.compile(rf"(?<![0-9]){YEAR}(?:,|\sand|,\sand|\sor|\s&|、|\sto|\svs\.?|\sversus)\s?\Z")
_LIST_NEXT = re.compile(
    rf"(?:,|\sand|,\sand|\sor|\s&|、|\sto|\svs\.?|\sversus)\s?{YEAR}(?![0-9])|{DASH}{YEAR}\s?年|\s?[和与及]\s?{YEAR}\s?年"
)
_NO_YEAR_AFTER = re.compile(
    r"\s?(?:%|[/:][0-9]|[万亿千百元个人股份吨件台美]|(?:percent|million|billion|thousand|mn|bn|shares|people|employees|users"
    r"|customers|units|tons|tonnes|miles|km|kg|hours|days|yuan|dollars|euros|points|bps|items|cases|stores|vehicles)\b)"
    r"|[,.][0-9]|[-–][A-Za-z]|[0-9A-Za-z_]"
)
_BARE = re.compile(r"(?:19[5-9]|20[0-4])[0-9](?![0-9])")
_STRONG = frozenset({"in", "during", "since", "until", "by", "year", "years", "fiscal", "through"})


def _bare_years(text: str) -> Iterator[Time]:
    for match in _BARE.finditer(text):
        start, end = match.span()
        if in_word(text, start) or text[start - 1 : start] in ("$", "¥", "€", "£") or _NO_YEAR_AFTER.match(text, end):
            continue
        confidence = _year_confidence(text, start, end)
        span = whole_year(int(match.group()))
        if confidence and span:
            yield Time(span, start, end, confidence)


def _year_confidence(text: str, start: int, end: int) -> float:
    window = text[max(0, start - 16) : start]
    cue = _YEAR_CUE.search(window)
    if cue is not None and (cue.group().strip().lower() in _STRONG or _ends_phrase(text, end)):
        return 0.9
    if _LIST_CUE.search(window) or _LIST_NEXT.match(text, end):
        return 0.8
    return 0.7 if in_cell(text, start, end) else 0.0


_PHRASE_END = re.compile(
    r"\s?(?:[^\sA-Za-z0-9]|\Z)|\s(?:was|were|is|are|and|or|to|as|the|we|our|by|due|primarily|compared|versus|vs|from|at|on|in|with|which)\b"
)


def _ends_phrase(text: str, end: int) -> bool:
    return _PHRASE_END.match(text, end) is not None
