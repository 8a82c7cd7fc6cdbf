"""Periods that only a base date resolves: 上季度, 本月, 上半年, last quarter, this year."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from retrieval.symbols.values.calendar import Span, half, months, quarter, whole_year
from retrieval.symbols.values.times import Time, in_word

_CONFIDENCE = 0.9
_STEPS = {"上": -1, "last": -1, "previous": -1, "prior": -1, "本": 0, "这": 0, "当": 0, "this": 0, "current": 0,
          "下": 1, "next": 1}  # fmt: skip
_UNITS = {"季": "quarter", "月": "month", "quarter": "quarter", "month": "month", "year": "year"}
# Every pattern begins with a set of characters: only then does the engine skip ahead to it.
_CHINESE = re.compile(r"([上本这当下])(?:一\s?)?(?:个\s?)?(季|月)(?:度|份)?(?![0-9])")
_CHINESE_HALF = re.compile(r"([上下])(?<![年的].)半年")
_ENGLISH = re.compile(
    r"([LlPpTtCcNn](?i:(?<![a-z].)(?:(?<=l)ast|(?<=p)revious|(?<=p)rior|(?<=t)his|(?<=c)urrent|(?<=n)ext)))"
    r"(?i:\s(?:fiscal\s|financial\s)?(quarter|month|year)(?![a-z])(?!\s(?:of|in)\s(?:the\s)?(?:fiscal\s)?[0-9]))"
)
_SAME_PERIOD = re.compile(r"\s?的?同期")


def read_relative(text: str, base_date: date) -> Iterator[Time]:
    """Yield the relative periods of a folded text, resolved from `base_date`."""
    for match in _matches(text):
        # 上年同期 names the same stretch of another year, which this text alone does not give.
        if _SAME_PERIOD.match(text, match.end()) or (match.re is _ENGLISH and in_word(text, match.start())):
            continue
        span = _span(match, base_date)
        if span is not None:
            yield Time(span, match.start(), match.end(), _CONFIDENCE)


def _matches(text: str) -> Iterator[re.Match[str]]:
    if not text.isascii():
        yield from _CHINESE.finditer(text)
        yield from _CHINESE_HALF.finditer(text)
    yield from _ENGLISH.finditer(text)


def _span(match: re.Match[str], base: date) -> Span | None:
    if match.re is _CHINESE_HALF:
        return half(base.year, 1 if match.group(1) == "上" else 2)
    step, unit = _STEPS[match.group(1).lower()], _UNITS[match.group(2).lower()]
    if unit == "year":
        return whole_year(base.year + step)
    if unit == "quarter":
        index = base.year * 4 + (base.month - 1) // 3 + step
        return quarter(index // 4, index % 4 + 1)
    index = base.year * 12 + base.month - 1 + step
    return months(index // 12, index % 12 + 1, index % 12 + 1)
