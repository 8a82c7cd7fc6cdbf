"""Dates and periods in Chinese: 2024年7月1日, 二〇二四年, 2024年第三季度, 2024年1-9月, 民国113年, 7月1日."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from retrieval.symbols.values.calendar import Span, day, half, months, quarter, whole_year
from retrieval.symbols.values.fiscal import FiscalYear
from retrieval.symbols.values.numerals import parse_chinese
from retrieval.symbols.values.times import DASH, YEAR, Time, full_year, small_chinese

_CONFIDENCE = 0.9
"""Of a year that a base date resolved."""
_CHINESE_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_RELATIVE_YEARS = {
    "大前年": -3, "前年": -2, "去年": -1, "上年度": -1, "上一年度": -1, "上一年": -1, "上年": -1, "今年": 0,
    "本年度": 0, "本年": 0, "明年": 1, "下一年度": 1, "下年度": 1, "后年": 2,
}  # fmt: skip

_NUM = r"(?:[0-9]{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_MONTH = rf"(?:{_NUM}|元(?=\s?月))"
_QUARTER = r"[一二三四1-4]"
_FISCAL = r"(?:财政年度|会计年度|财务年度|财年)"
# What a year may go on with. The groups are those of `_span`.
_PART = (
    rf"第?\s?(?P<q1>{_QUARTER})\s?(?:季度?)?{DASH}第?\s?(?P<q2>{_QUARTER})\s?季度?"
    rf"|第?\s?(?P<q>{_QUARTER})\s?(?:个\s?)?季(?:度|报)?"
    r"|[Qq](?P<Q>[1-4])(?![0-9A-Za-z])|[Hh](?P<H>[12])(?![0-9A-Za-z])"
    r"|(?P<h>[上下])半(?:年度?|财年)|(?P<interim>半年度|半年报|中报|中期)"
    r"|前\s?(?P<fq>[一二三1-3])\s?个?季度|(?:前|首)\s?(?P<fm>[一二三四五六七八九十]{1,2}|[0-9]{1,2})\s?个?月"
    rf"|(?P<m1>{_NUM})\s?月?(?:份)?{DASH}(?P<m2>{_NUM})\s?月(?:份)?(?!\s?{_NUM}\s?[日号])"
    rf"|(?P<m>{_MONTH})\s?月(?:份)?(?:\s?(?P<d>{_NUM})\s?[日号])?"
)
_ZH = re.compile(
    rf"(?:(?<![0-9])(?P<year>{YEAR})\s?(?:年|(?=第?\s?[一二三四]\s?季)|(?=[上下]半年|半年度)|(?={_FISCAL}))"
    rf"|(?P<zhyear>[一二][〇零一二三四五六七八九]{{3}})\s?(?:年|(?={_FISCAL}))"
    r"|民[国國]\s?(?P<roc>[0-9]{1,3}|元|[零〇一二三四五六七八九十百]{1,6})\s?年"
    r"|(?<![0-9.,])(?P<short>[0-9]{2})\s?(?:年(?=\s?(?:[0-9]{1,2}\s?月|第?[一二三四1-4]\s?季度?|[上下]半年))|(?=财年))"
    rf"|(?P<relative>{'|'.join(_RELATIVE_YEARS)}))(?!代|级|限|检|龄|轻|同期)(?:(?P<fiscal>{_FISCAL})|\s?度)?"
    rf"(?:\s?的?\s?(?:{_PART}|(?P<fiscal2>{_FISCAL})))?"
)
_YEARLESS = re.compile(_PART)
_YEARLESS_ANCHOR = re.compile(
    r"[第前首上下一二三四五六七八九十元0-9](?<![0-9.,/第零〇一二三四五六七八九十百千年几数个-].)(?<!第\s.)(?=.{0,5}[月季年])"
)
_EVERY_YEAR = re.compile(r"[每历]年\s?的?\Z")
_NO_MONTH = re.compile(r"[内期龄薪租供亮球光色饼台刊息嫂]|革命|\s?[0-9]")
_TO_DAY = re.compile(rf"{DASH}(?:(?P<m>{_NUM})\s?月\s?)?(?P<d>{_NUM})\s?[日号]")
# Where a match can begin, cheap to find.
_ANCHOR = re.compile(
    r"[12一二大前去上今本明下后民03-9](?:[089][0-9]{2}|[〇零一二三四五六七八九]{3}|前?年|一?年|[国國]"
    r"|(?<![0-9].)(?<=[0-9])[0-9](?:\s?年\s?(?:[0-9第上下]|[一二三四]\s?季)|财年))"
)


def read_chinese(text: str, base_date: date | None, fiscal: FiscalYear) -> Iterator[Time]:
    """Yield the dates and periods of a folded text that name their year; a relative one only with a base date."""
    if not ("年" in text or "季" in text):
        return
    done = 0
    for anchor in _ANCHOR.finditer(text):
        match = _ZH.match(text, anchor.start()) if anchor.start() >= done else None
        if match is None:
            continue
        done = match.end()
        year = _year(match, base_date)
        if year is None:
            continue
        by = fiscal if match.group("fiscal") or match.group("fiscal2") else None
        span, end = _span(match, year, by), match.end()
        if span is None:  # 2024年13月: the year stands, whatever follows it
            span, end = whole_year(year), match.start() + _year_length(match)
        elif span.is_day:
            span, end = _day_range(text, span, end)
        if span is not None:
            written = not match.group("relative")
            time = Time(span, match.start(), end, 1.0 if written else _CONFIDENCE, written=written)
            yield time
            if match.group("d"):
                yield from _listed_days(text, time)


def read_yearless(text: str, year: int) -> Iterator[Time]:
    """Yield 7月1日, 7月至8月, 第三季度 and 上半年, whose year nothing says, as of `year`."""
    if not ("月" in text or "季" in text or "半年" in text):
        return
    done = 0
    for anchor in _YEARLESS_ANCHOR.finditer(text):
        match = _YEARLESS.match(text, anchor.start()) if anchor.start() >= done else None
        if match is None or (match.group("q") and (match.group()[-1] not in "度报" or "个" in match.group())):
            continue
        if _EVERY_YEAR.search(text[max(0, anchor.start() - 4) : anchor.start()]):
            continue
        if (match.group("m") or match.group("m2")) and not match.group("d") and _NO_MONTH.match(text, match.end()):
            continue
        span, end = _span(match, year, None), match.end()
        if span is not None:
            if span.is_day:
                span, end = _day_range(text, span, end)
            done = end
            time = Time(span, match.start(), end, _CONFIDENCE, free=True, written=False)
            yield time
            if match.group("d"):
                yield from _listed_days(text, time)


def _year_length(match: re.Match[str]) -> int:
    year = next(match.group(name) for name in ("year", "zhyear", "roc", "short", "relative") if match.group(name))
    at = match.group().index(year) + len(year)
    rest = match.group()[at:]
    return at + (rest.index("年") + 1 if "年" in rest[:2] else 0)


def _year(match: re.Match[str], base_date: date | None) -> int | None:
    if match.group("year"):
        return int(match.group("year"))
    if match.group("zhyear"):
        return int(match.group("zhyear").translate(_CHINESE_DIGITS))
    if match.group("short"):
        return full_year(match.group("short"))
    if match.group("roc"):
        return _republican(match.group("roc"))
    return base_date.year + _RELATIVE_YEARS[match.group("relative")] if base_date else None


def _republican(number: str) -> int | None:
    """民国113年 is 2024, 民国元年 is 1912."""
    if number.isascii():
        return 1911 + int(number) if int(number) else None
    parsed = (1, 0) if number == "元" else parse_chinese(number)
    return 1911 + int(parsed[0]) if parsed and 0 < parsed[0] < 1000 else None


def _span(match: re.Match[str], year: int, fiscal: FiscalYear | None) -> Span | None:
    """Return the span of a part of a year, of a fiscal one where the text says so; dates are of the calendar."""
    group = match.groupdict()
    of_months, of_quarter, of_half = (fiscal.months, fiscal.quarter, fiscal.half) if fiscal else (months, quarter, half)
    if group["q1"]:
        return of_months(year, 3 * small_chinese(group["q1"]) - 2, 3 * small_chinese(group["q2"]))
    if group["q"] or group["Q"]:
        return of_quarter(year, small_chinese(group["q"] or group["Q"]))
    if group["H"] or group["h"] or group["interim"]:
        return of_half(year, int(group["H"] or (2 if group["h"] == "下" else 1)))
    if group["fq"]:
        return of_months(year, 1, 3 * small_chinese(group["fq"]))
    if group["fm"]:
        return of_months(year, 1, small_chinese(group["fm"]))
    if group["m1"]:
        return months(year, small_chinese(group["m1"]), small_chinese(group["m2"]))
    if group["m"]:
        month = small_chinese(group["m"])
        return day(year, month, small_chinese(group["d"])) if group["d"] else months(year, month, month)
    return fiscal.whole(year) if fiscal else whole_year(year)


_LISTED_DAY = re.compile(
    rf"\s?[、,，和与及或]\s?(?P<d>{_NUM})\s?(?:日(?![元均])|号(?![0-9A-Za-z楼院线店房机桌文桩公]))(?!\s?(?:[之以]?内|以[上下]))"
)


def _listed_days(text: str, time: Time) -> Iterator[Time]:
    """Yield the days of the same month in 7月3日、6日和9日."""
    while (match := _LISTED_DAY.match(text, time.end)) is not None:
        before = time.span.last
        span = day(before.year, before.month, small_chinese(match.group("d")))
        if span is None or span.first <= before:
            return
        span, end = _day_range(text, span, match.end())
        time = time._replace(span=span, start=match.start("d"), end=end)
        yield time


def _day_range(text: str, first: Span, end: int) -> tuple[Span, int]:
    """Read on in 2024年7月1日至9月30日, whose second day leaves out the year."""
    match = _TO_DAY.match(text, end)
    if match is None:
        return first, end
    month = small_chinese(match.group("m")) if match.group("m") else first.first.month
    last = day(first.first.year, month, small_chinese(match.group("d")))
    return (Span(first.first, last.last), match.end()) if last and last.last > first.first else (first, end)
