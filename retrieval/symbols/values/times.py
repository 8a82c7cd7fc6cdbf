"""What the readers of dates and periods share."""

from __future__ import annotations

from typing import NamedTuple

from retrieval.symbols.values.calendar import Span

YEAR = r"(?:1[89]|20)[0-9]{2}"
DASH = r"\s?(?:至|到|[-–—~]{1,2})\s?"
TO = r"\s?(?:to|through|thru|until|till|[-–—~]{1,2}|至|到)\s?"
_CHINESE_DIGITS = str.maketrans("〇零一二两三四五六七八九", "001223456789")


class Time(NamedTuple):
    """A date or period in a text; `start`/`end` are half-open."""

    span: Span
    start: int
    end: int
    confidence: float = 1.0
    free: bool = False
    """Whether nothing says its year: `span` lies in some year only for want of another."""
    written: bool = True
    """Whether its year, if any, is written rather than told by a base date (去年)."""


def full_year(digits: str) -> int:
    """Return the year that its last two digits name: 50 to 99 are of the twentieth century."""
    year = int(digits)
    return year + (0 if len(digits) > 2 else 1900 if year >= 50 else 2000)


def small_chinese(text: str) -> int:
    """Return a number below a hundred in Arabic or Chinese digits; 元 is the first month, 初 and zeros are nothing."""
    if text.isascii():
        return int(text)
    if text == "元":
        return 1
    tens, ten, ones = text.partition("十")
    if not ten:
        return int(text.translate(_CHINESE_DIGITS))
    return 10 * int((tens or "一").translate(_CHINESE_DIGITS)) + int((ones or "〇").translate(_CHINESE_DIGITS))


def in_word(text: str, start: int) -> bool:
    """Tell whether position `start` lies within a Latin word, a number or an identifier."""
    before = text[max(0, start - 2) : start]
    if not before:
        return False
    if before[-1] in ".,/-" and before[:-1].isdecimal():
        return True
    return before[-1].isascii() and (before[-1].isalnum() or before[-1] == "_")


def longest(times: list[Time]) -> list[Time]:
    """Return the times that do not overlap, ordered by start; of two that do, the longer stays."""
    times.sort(key=lambda t: (t.start, -t.end))
    kept: list[Time] = []
    for time in times:
        if kept and time.start < kept[-1].end:
            if time.end - time.start > kept[-1].end - kept[-1].start:
                kept[-1] = time
        else:
            kept.append(time)
    return kept
