"""Dates and periods in Chinese: 2024年7月1日, 二〇二四年, 2024年第三季度, 2024年1-9月, 去年三季度."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from retrieval.symbols.values.calendar import Span, day, half, months, quarter, whole_year
from retrieval.symbols.values.times import DASH, YEAR, Time

_CONFIDENCE = 0.9
"""Of a year that a base date resolved."""
_CHINESE_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_RELATIVE_YEARS = {
    "大前年": -3, "前年": -2, "去年": -1, "上年度": -1, "上一年": -1, "上年": -1, "今年": 0, "本年度": 0, "本年": 0,
    "明年": 1,
}  # fmt: skip

_ZH_NUM = r"(?:[0-9]{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_ZH_MONTH = rf"(?:{_ZH_NUM}|元(?=\s?月))"
_ZH_QUARTER = r"[一二三四1-4]"
_ZH = re.compile(
    rf"(?:(?<![0-9])(?P<year>{YEAR})\s?(?:年|(?=第?\s?[一二三四]\s?季)|(?=[上下]半年|半年度))"
    rf"|(?P<zhyear>[一二][〇零一二三四五六七八九]{{3}})\s?年"
    rf"|(?P<relative>{'|'.join(_RELATIVE_YEARS)}))(?!代|级|限|检|龄|同期)(?:\s?度)?"
    r"(?:\s?的?\s?(?:"
    rf"第?\s?(?P<q1>{_ZH_QUARTER}){DASH}第?\s?(?P<q2>{_ZH_QUARTER})\s?季度?"
    rf"|第?\s?(?P<q>{_ZH_QUARTER})\s?(?:个\s?)?季(?:度|报)?"
    r"|[Qq](?P<Q>[1-4])(?![0-9A-Za-z])|[Hh](?P<H>[12])(?![0-9A-Za-z])"
    r"|(?P<h>[上下])半年度?|(?P<interim>半年度|半年报|中报|中期)"
    r"|前\s?(?P<fq>[一二三1-3])\s?个?季度|(?:前|首)\s?(?P<fm>[一二三四五六七八九十]{1,2}|[0-9]{1,2})\s?个?月"
    rf"|(?P<m1>{_ZH_NUM})\s?月?{DASH}(?P<m2>{_ZH_NUM})\s?月(?:份)?(?!\s?{_ZH_NUM}\s?[日号])"
    rf"|(?P<m>{_ZH_MONTH})\s?月(?:份)?(?:\s?(?P<d>{_ZH_NUM})\s?[日号])?"
    r"|全年|财政年度|会计年度|财年"
    r"))?"
)
_ZH_TO_DAY = re.compile(rf"{DASH}(?:(?P<m>{_ZH_NUM})\s?月\s?)?(?P<d>{_ZH_NUM})\s?[日号]")
# Where a match can begin, cheap to find.
_ANCHOR = re.compile(r"[12一二大前去上今本明](?:[089][0-9]{2}|[〇零一二三四五六七八九]{3}|前?年|一?年)")
_HAS_CHINESE = re.compile("[年季]")


def read_chinese(text: str, base_date: date | None) -> Iterator[Time]:
    """Yield the dates and periods of a folded text; a relative year only with a base date."""
    if _HAS_CHINESE.search(text) is None:
        return
    done = 0
    for anchor in _ANCHOR.finditer(text):
        match = _ZH.match(text, anchor.start()) if anchor.start() >= done else None
        if match is None:
            continue
        done = match.end()
        year = _zh_year(match, base_date)
        if year is None:
            continue
        span, end = _zh_span(match, year), match.end()
        if span is None:  # 2024年13月: the year stands, whatever follows it
            span, end = whole_year(year), match.start() + _year_length(match)
        elif span.is_day:
            span, end = _zh_day_range(text, span, end)
        if span is not None:
            yield Time(span, match.start(), end, _CONFIDENCE if match.group("relative") else 1.0)


def _year_length(match: re.Match[str]) -> int:
    year = match.group("year") or match.group("zhyear") or match.group("relative")
    rest = match.group()[len(year) :]
    return len(year) + (rest.index("年") + 1 if "年" in rest[:2] else 0)


def _zh_year(match: re.Match[str], base_date: date | None) -> int | None:
    if match.group("year"):
        return int(match.group("year"))
    if match.group("zhyear"):
        return int(match.group("zhyear").translate(_CHINESE_DIGITS))
    return base_date.year + _RELATIVE_YEARS[match.group("relative")] if base_date else None


def _zh_span(match: re.Match[str], year: int) -> Span | None:
    group = match.groupdict()
    if group["q1"]:
        return months(year, 3 * _zh_number(group["q1"]) - 2, 3 * _zh_number(group["q2"]))
    if group["q"] or group["Q"]:
        return quarter(year, _zh_number(group["q"] or group["Q"]))
    if group["H"] or group["h"] or group["interim"]:
        return half(year, int(group["H"] or (2 if group["h"] == "下" else 1)))
    if group["fq"]:
        return months(year, 1, 3 * _zh_number(group["fq"]))
    if group["fm"]:
        return months(year, 1, _zh_number(group["fm"]))
    if group["m1"]:
        return months(year, _zh_number(group["m1"]), _zh_number(group["m2"]))
    if group["m"]:
        month = _zh_number(group["m"])
        return day(year, month, _zh_number(group["d"])) if group["d"] else months(year, month, month)
    return whole_year(year)


def _zh_day_range(text: str, first: Span, end: int) -> tuple[Span, int]:
    """Read on in 2024年7月1日至9月30日, whose second day leaves out the year."""
    match = _ZH_TO_DAY.match(text, end)
    if match is None:
        return first, end
    month = _zh_number(match.group("m")) if match.group("m") else first.first.month
    last = day(first.first.year, month, _zh_number(match.group("d")))
    return (Span(first.first, last.last), match.end()) if last and last.last > first.first else (first, end)


def _zh_number(text: str) -> int:
    if text.isascii():
        return int(text)
    if text == "元":
        return 1
    tens, ten, ones = text.partition("十")
    if not ten:
        return int(text.translate(_CHINESE_DIGITS))
    return 10 * int((tens or "一").translate(_CHINESE_DIGITS)) + int((ones or "〇").translate(_CHINESE_DIGITS))
