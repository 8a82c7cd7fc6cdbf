"""Ranges: 2-3亿元, 5% to 6%, between 5 and 8%, 5和8之间."""

from __future__ import annotations

import re

RANGE = re.compile(r"\s{0,2}(?:[-–—~]{1,2}|至|到|to)\s{0,2}")
_AND = re.compile(r"\s(?:and|to)\s|\s?[和与]\s?")
_BETWEEN = re.compile(r"(?<![A-Za-z])[Bb]etween\s(?:about\s|approximately\s)?[A-Z$€£¥]{0,4}\s?\Z")
_REACH = 32
_LONGEST = 6  # characters of RANGE


def is_range(text: str, left_start: int, left_end: int, right_start: int) -> bool:
    """Tell whether a range word joins a figure to the next, or `between … and …` stands around them."""
    if right_start - left_end > _LONGEST:
        return False
    if RANGE.fullmatch(text, left_end, right_start) is not None:
        return True
    if right_start - left_end > 5 or _AND.fullmatch(text, left_end, right_start) is None:
        return False
    if _BETWEEN.search(text[max(0, left_start - _REACH) : left_start]) is not None:
        return True
    return "之间" in text[right_start : right_start + 12]
