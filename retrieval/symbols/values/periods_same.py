"""上年同期, the same period last year: the period a sentence spoke of, a year earlier."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from retrieval.symbols.values.calendar import years_later
from retrieval.symbols.values.times import Time

_CHINESE = re.compile("同期")
_CHINESE_BEFORE = re.compile(r"(?:上年|去年|上一年|上年度|上一年度|(?P<two>前年))\s?的?\Z")
_ENGLISH = re.compile(
    r"[SsCcPpYy](?<![A-Za-z].)(?i:(?:(?<=s)ame|(?<=c)orresponding|(?<=c)omparable)(?:\s(?:three|six|nine)[\s-]month)?"
    r"\s(?:period|quarter)(?:,?\s(?:of|in|from))?\s(?:the\s)?(?:last|previous|prior|preceding)(?:\s(?:fiscal|financial))?\syear"
    r"|(?:(?<=p)rior|(?<=y)ear)[\s-](?:year|ago|earlier)\s(?:period|quarter))(?![A-Za-z])"
)
_ENGLISH_WORDS = (
    "ame period",
    "ame quarter",
    "orresponding",
    "omparable",
    "rior-year",
    "rior year",
    "ear-ago",
    "ear-earlier",
)
_SENTENCE_END = re.compile(r"[。!?;；\n]|\.\s+(?=[A-Z\"'])")
_FARTHEST = 400


def same_periods(text: str, times: Sequence[Time]) -> list[Time]:
    """Add the same periods of other years, and drop what was read within their words; `times` is ordered by start."""
    mentions = sorted(_mentions(text))
    if not mentions:
        return list(times)
    kept: list[Time] = []
    at = 0
    for start, end, years_back in mentions:
        while at < len(times) and times[at].end <= start:
            kept.append(times[at])
            at += 1
        while at < len(times) and times[at].start < end:
            at += 1
        before = kept[-1] if kept else None
        if before is None or start - before.end > _FARTHEST or _SENTENCE_END.search(text, before.end, start):
            continue
        span = years_later(before.span, -years_back)
        if span is not None:
            kept.append(Time(span, start, end, 0.8))
    return [*kept, *times[at:]]


def _mentions(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and how many years back."""
    for match in _CHINESE.finditer(text):
        window = text[max(0, match.start() - 7) : match.start()]
        before = _CHINESE_BEFORE.search(window)
        if before is not None:
            yield match.start() - len(before.group()), match.end(), 2 if before.group("two") else 1
    for match in _ENGLISH.finditer(text) if any(word in text for word in _ENGLISH_WORDS) else ():
        yield match.start(), match.end(), 1
