"""Dates and periods that only a base date resolves: 上季度, 本月, 昨天, 上周五, 年初至今, last quarter, yesterday."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from retrieval.symbols.values.calendar import Span, day, month_run, quarter, week_of, whole_year
from retrieval.symbols.values.fiscal import FiscalYear
from retrieval.symbols.values.times import Time, small_chinese
from retrieval.symbols.words import Words

_CONFIDENCE = 0.9
_STEPS = {"上上": -2, "上": -1, "last": -1, "previous": -1, "prior": -1, "本": 0, "这": 0, "this": 0,
          "current": 0, "下": 1, "下下": 2, "next": 1}  # fmt: skip
_DAYS = {"大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "明天": 1, "明日": 1,
         "后天": 2, "大后天": 3, "yesterday": -1, "today": 0, "tomorrow": 1}  # fmt: skip
_WEEKDAYS = "一二三四五六日天"
# Every pattern begins with a set of characters: only then does the engine skip ahead to it.
_CHINESE = re.compile(
    r"[上本这下](?:(?<=上)上|(?<=下)下)?(?:一\s?)?(?:个\s?)?"
    r"(?:(?P<quarter>季)(?:度|份)?|(?P<month>月)(?![球亮饼台光色刊])(?:份|(?P<day>[0-9]{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号])?"
    rf"|(?P<week>周|星期|礼拜)(?P<weekday>[{_WEEKDAYS}])?(?![期年岁边转围刊报末])|(?P<year>财年|财政年度|会计年度))"
)
_CHINESE_DAY = re.compile(
    r"[大前昨今明后](?:(?<=大)[前后])?[天日](?<!大.)(?<![日空以之目从午人]..)(?!头条|之星|性|培养|努力|教育|气|报|皇)"
)
_TO_DATE = re.compile(r"今年年?初[至到]今|年初[至到]今")
_LATEST = re.compile(r"最近一\s?(?:个\s?)?(?:(?P<quarter>季度?)|(?P<year>会计年度|财政年度|财年))(?![0-9])")
# The word for the unit is what the engine looks for.
_ENGLISH = re.compile(
    r"[QqMmYyWw](?<=\s.)(?i:(?:(?<=q)uarter|(?<=m)onth|(?<=y)ear|(?<=w)eek))(?![A-Za-z])(?!\sof\s|\sin\s(?:the\s)?(?:fiscal\s|FY)?[0-9])"
)
_ENGLISH_UNITS = Words(["quarter", "month", "year", "week"])
_ENGLISH_STEP = re.compile(
    r"(?<![A-Za-z0-9_])(?:(?P<step>last|previous|prior|this|current|next)|(?P<latest>(?:most\srecent|latest)(?:\s(?:completed|full))?))"
    r"\s(?P<fiscal>fiscal\s|financial\s)?\Z",
    re.IGNORECASE,
)
_ENGLISH_DAY = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?P<day>yesterday|today|tomorrow)|the\sday\s(?P<two>before\syesterday|after\stomorrow)"
    r"|(?P<to_date>year[\s-]to[\s-]date|ytd))(?![A-Za-z])",
    re.IGNORECASE,
)
_ENGLISH_DAY_WORDS = ("esterday", "oday", "omorrow", "to date", "to-date", "YTD", "ytd", "TODAY", "YESTERDAY")
_SAME_PERIOD = re.compile(r"\s?的?同期")


def read_relative(text: str, base: date, fiscal: FiscalYear) -> Iterator[Time]:
    """Yield the relative dates and periods of a folded text, resolved from `base`."""
    for start, end, span in _found(text, base, fiscal):
        # 上年同期 names the same stretch of another year.
        if span is not None and not _SAME_PERIOD.match(text, end):
            yield Time(span, start, end, _CONFIDENCE, written=False)


def _found(text: str, base: date, fiscal: FiscalYear) -> Iterator[tuple[int, int, Span | None]]:
    if not text.isascii():
        for pattern, cues, resolve in _CHINESE_READERS:
            for match in pattern.finditer(text) if any(cue in text for cue in cues) else ():
                yield match.start(), match.end(), resolve(match, base, fiscal)
    for unit in _ENGLISH_UNITS.matches(text, _ENGLISH):
        before = _ENGLISH_STEP.search(text[max(0, unit.start() - 32) : unit.start()])
        if before is not None:
            yield unit.start() - len(before.group()), unit.end(), _english(before, unit.group().lower(), base, fiscal)
    if any(word in text for word in _ENGLISH_DAY_WORDS):
        for match in _ENGLISH_DAY.finditer(text):
            yield match.start(), match.end(), _english_day(match, base)


def _chinese(match: re.Match[str], base: date, fiscal: FiscalYear) -> Span | None:
    word = match.group()
    step = _STEPS[word[:2] if word[:2] in _STEPS else word[0]]
    if match.group("quarter"):
        return _quarter(base, step)
    if match.group("month"):
        span = _month(base, step)
        number = match.group("day")
        return day(span.first.year, span.first.month, small_chinese(number)) if span and number else span
    if match.group("week"):
        return _week(base, step, match.group("weekday"))
    return fiscal.whole(fiscal.of(base) + step)


def _chinese_day(match: re.Match[str], base: date, _: FiscalYear) -> Span | None:
    return _days_on(base, _DAYS[match.group()]) if match.group() in _DAYS else None


def _to_date(match: re.Match[str], base: date, _: FiscalYear) -> Span:
    return Span(date(base.year, 1, 1), base)


def _latest(match: re.Match[str], base: date, fiscal: FiscalYear) -> Span | None:
    """The last one that is over."""
    return _quarter(base, -1) if match.group("quarter") else fiscal.whole(fiscal.of(base) - 1)


_CHINESE_READERS: tuple[
    tuple[re.Pattern[str], tuple[str, ...], Callable[[re.Match[str], date, FiscalYear], Span | None]], ...
] = (
    (_CHINESE, ("月", "季", "周", "星期", "礼拜", "财年", "政年", "计年"), _chinese),
    (_CHINESE_DAY, ("天", "日"), _chinese_day),
    (_TO_DATE, ("初",), _to_date),
    (_LATEST, ("最近一",), _latest),
)


def _english(before: re.Match[str], unit: str, base: date, fiscal: FiscalYear) -> Span | None:
    is_fiscal = before.group("fiscal") is not None
    if before.group("latest"):
        if unit != "quarter":
            return None
        return _fiscal_quarter(base, -1, fiscal) if is_fiscal else _quarter(base, -1)
    step = _STEPS[before.group("step").lower()]
    if unit == "year":
        return fiscal.whole(fiscal.of(base) + step) if is_fiscal else whole_year(base.year + step)
    if unit == "quarter":
        return _fiscal_quarter(base, step, fiscal) if is_fiscal else _quarter(base, step)
    return _month(base, step) if unit == "month" else _week(base, step, None)


def _english_day(match: re.Match[str], base: date) -> Span | None:
    if match.group("to_date"):
        return Span(date(base.year, 1, 1), base)
    two = match.group("two")
    if two:
        return _days_on(base, -2 if two[0] in "bB" else 2)
    return _days_on(base, _DAYS[match.group().lower()])


def _days_on(base: date, count: int) -> Span | None:
    if not 7 < base.toordinal() + count < date.max.toordinal() - 7:
        return None
    found = base + timedelta(days=count)
    return Span(found, found)


def _month(base: date, step: int) -> Span | None:
    index = base.year * 12 + base.month - 1 + step
    return month_run(index, index)


def _quarter(base: date, step: int) -> Span | None:
    index = base.year * 4 + (base.month - 1) // 3 + step
    return quarter(index // 4, index % 4 + 1)


def _fiscal_quarter(base: date, step: int, fiscal: FiscalYear) -> Span | None:
    index = fiscal.of(base) * 4 + fiscal.quarter_of(base) - 1 + step
    return fiscal.quarter(index // 4, index % 4 + 1)


def _week(base: date, step: int, weekday: str | None) -> Span | None:
    some_day = _days_on(base, 7 * step)
    if some_day is None:
        return None
    week = week_of(some_day.first)
    return _days_on(week.first, min(_WEEKDAYS.index(weekday), 6)) if weekday else week
