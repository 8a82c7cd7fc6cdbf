"""Dates and periods that only a base date resolves: 上季度, 本月, 昨天, 上周五, 年初至今, last quarter, yesterday."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from retrieval.symbols.values.calendar import Span, day, month_run, quarter, week_of, whole_year
from retrieval.symbols.values.fiscal import FiscalYear
from retrieval.symbols.values.times import Time, in_word, small_chinese

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
    rf"|(?P<week>周|星期|礼拜)(?P<weekday>[{_WEEKDAYS}])?(?![期年岁边转围刊报末])|(?P<year>财年|财政年度|会计年度))(?![0-9])"
)
_CHINESE_DAY = re.compile(
    r"[大前昨今明后](?:(?<=大)[前后])?[天日](?<!大.)(?<![日空以之目从午人]..)(?!头条|之星|性|培养|努力|教育|气|报|皇)"
)
_TO_DATE = re.compile(r"今年年?初[至到]今|年初[至到]今")
_LATEST = re.compile(r"最近一\s?(?:个\s?)?(?:(?P<quarter>季度?)|(?P<year>会计年度|财政年度|财年))(?![0-9])")
_ENGLISH = re.compile(
    r"[LlPpTtCcNn](?<![A-Za-z].)(?i:(?:(?<=l)ast|(?<=p)revious|(?<=p)rior|(?<=t)his|(?<=c)urrent|(?<=n)ext)"
    r"\s(?P<fiscal>fiscal\s|financial\s)?(?P<unit>quarter|month|year|week)(?![a-z])(?!\s(?:of|in)\s(?:the\s)?(?:fiscal\s|FY)?[0-9]))"
)
_ENGLISH_DAY = re.compile(
    r"[YyTt](?<![A-Za-z].)(?i:(?<=y)esterday|(?<=t)oday|(?<=t)omorrow|(?<=t)he\sday\s(?P<two>before\syesterday|after\stomorrow))(?![A-Za-z])"
)
_ENGLISH_MORE = re.compile(
    r"[YyMmLl](?<![A-Za-z].)(?:(?<=[Yy])(?i:ear[\s-]to[\s-]date|td)"
    r"|(?i:(?<=m)ost\srecent|(?<=l)atest)(?:\s(?:completed|full))?\s(?P<fiscal>(?i:fiscal)\s)?(?P<quarter>(?i:quarter)))(?![A-Za-z])"
)
_SAME_PERIOD = re.compile(r"\s?的?同期")


def read_relative(text: str, base: date, fiscal: FiscalYear) -> Iterator[Time]:
    """Yield the relative dates and periods of a folded text, resolved from `base`."""
    for match in _matches(text):
        # 上年同期 names the same stretch of another year.
        if _SAME_PERIOD.match(text, match.end()) or (match.group()[0].isascii() and in_word(text, match.start())):
            continue
        try:
            span = _READERS[match.re](match, base, fiscal)
        except OverflowError:  # beyond the calendar
            continue
        if span is not None:
            yield Time(span, match.start(), match.end(), _CONFIDENCE, written=False)


def _matches(text: str) -> Iterator[re.Match[str]]:
    if not text.isascii():
        yield from _CHINESE.finditer(text)
        yield from _CHINESE_DAY.finditer(text)
        if "初" in text:
            yield from _TO_DATE.finditer(text)
        if "最近一" in text:
            yield from _LATEST.finditer(text)
    yield from _ENGLISH.finditer(text)
    yield from _ENGLISH_DAY.finditer(text)
    yield from _ENGLISH_MORE.finditer(text)


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


def _english(match: re.Match[str], base: date, fiscal: FiscalYear) -> Span | None:
    step = _STEPS[match.group().split()[0].lower()]
    unit, is_fiscal = match.group("unit").lower(), match.group("fiscal") is not None
    if unit == "year":
        return fiscal.whole(fiscal.of(base) + step) if is_fiscal else whole_year(base.year + step)
    if unit == "quarter":
        return _fiscal_quarter(base, step, fiscal) if is_fiscal else _quarter(base, step)
    return _month(base, step) if unit == "month" else _week(base, step, None)


def _english_day(match: re.Match[str], base: date, _: FiscalYear) -> Span:
    two = match.group("two")
    if two:
        return _days_on(base, -2 if two[0] in "bB" else 2)
    return _days_on(base, _DAYS[match.group().lower()])


def _english_more(match: re.Match[str], base: date, fiscal: FiscalYear) -> Span | None:
    if match.group("quarter"):
        return _fiscal_quarter(base, -1, fiscal) if match.group("fiscal") else _quarter(base, -1)
    return Span(date(base.year, 1, 1), base)


_READERS = {
    _CHINESE: _chinese, _CHINESE_DAY: _chinese_day, _TO_DATE: _to_date, _LATEST: _latest, _ENGLISH: _english,
    _ENGLISH_DAY: _english_day, _ENGLISH_MORE: _english_more,
}  # fmt: skip


def _days_on(base: date, count: int) -> Span:
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


def _week(base: date, step: int, weekday: str | None) -> Span:
    week = week_of(base + timedelta(weeks=step))
    return _days_on(week.first, min(_WEEKDAYS.index(weekday), 6)) if weekday else week
