"""Heading numbers in Latin and Chinese styles, and the levels they imply.

Pure functions. `1.2`, `Chapter 3`, `第三章`, `一、`, `（二）`, `附录A` are heading
numbers when the line they open is short and is not a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_CJK_NUMBER = r"[零〇一二三四五六七八九十百千两\d０-９]+"
_STYLES: tuple[tuple[str, int, re.Pattern[str]], ...] = (
    ("part", 10, re.compile(rf"第\s*{_CJK_NUMBER}\s*(?:编|部分|篇|卷)(?=[\s　:：、]|[^\s\d]|$)")),
    ("part", 10, re.compile(r"(?:PART|Part)\s+(?:[IVXLC]+|\d+)\b")),
    ("chapter", 20, re.compile(rf"第\s*{_CJK_NUMBER}\s*章")),
    ("chapter", 20, re.compile(r"(?:CHAPTER|Chapter|APPENDIX|Appendix|ANNEX|Annex)\s+(?:[IVXLC]+|\d+|[A-Z])\b")),
    ("chapter", 20, re.compile(r"(?:附录|附件|附表)\s*(?:[A-Z]|[一二三四五六七八九十]+|\d+)(?=[\s　:：、.．]|$)")),
    ("section", 30, re.compile(rf"第\s*{_CJK_NUMBER}\s*节")),
    ("section", 30, re.compile(r"(?:SECTION|Section|ARTICLE|Article)\s+(?:[IVXLC]+|\d+)\b")),
    ("article", 35, re.compile(rf"第\s*{_CJK_NUMBER}\s*条")),
    ("cjk", 40, re.compile(r"[一二三四五六七八九十百]+[、．.]")),
    ("cjk_parens", 50, re.compile(r"[（(][一二三四五六七八九十百]+[）)]")),
    ("decimal", 60, re.compile(r"\d{1,3}(?:[.．]\d{1,3})+[.．、]?(?=\s|[^\s\d.．,，%％])")),
    ("arabic", 60, re.compile(r"\d{1,2}(?:[.．、](?!\d)|(?=[\s　]\S))")),
    ("roman", 60, re.compile(r"[IVX]{1,5}[.．、](?=\s)")),
    ("arabic_parens", 70, re.compile(r"[（(]\d{1,2}[）)]")),
)
_SURE_STYLES = frozenset({"part", "chapter", "section"})
_SENTENCE_TAIL = frozenset("。；;，,、！!：:…")
_INNER_STOP = re.compile(r"[。；！]|[.;!?]\s+\S")
_MAX_CJK, _MAX_LATIN = 40, 100


@dataclass(frozen=True, slots=True)
class HeadingNumber:
    """The number that opens a line: its style, and a rank in which outer numbers are smaller."""

    style: str
    rank: int
    length: int
    """Characters of the line that the number takes."""

    @property
    def is_sure(self) -> bool:
        """True where the words alone make a heading of a short line (`第三章`, `Part II`)."""
        return self.style in _SURE_STYLES


def heading_number(line: str) -> HeadingNumber | None:
    """Return the heading number that opens `line`, or None."""
    for style, rank, pattern in _STYLES:
        match = pattern.match(line)
        if match is None:
            continue
        depth = len(re.findall(r"\d+", match.group())) - 1 if style == "decimal" else 0
        return HeadingNumber(style, rank + min(depth, 5), match.end())
    return None


def reads_like_heading(line: str) -> bool:
    """Tell whether `line` is short and no sentence, as headings are. Says nothing of numbers or type."""
    text = line.strip()
    if not any(character.isalpha() for character in text):
        return False
    wide = sum(1 for character in text if ord(character) > 0x2E80)
    limit = _MAX_CJK if wide * 3 > len(text) else _MAX_LATIN
    if len(text) > limit or text[-1] in _SENTENCE_TAIL:
        return False
    number = heading_number(text)
    body = text[number.length :] if number else text
    return _INNER_STOP.search(body) is None


def is_numbered_heading(line: str) -> bool:
    """Tell whether number and form alone make `line` a heading, without help from type size.

    A lone Arabic number (`1. …`) is as often a list item, and `第三条` opens a
    sentence as often as it stands alone: these need more than their number.
    """
    text = line.strip()
    number = heading_number(text)
    if number is None or not reads_like_heading(text):
        return False
    body = text[number.length :].strip()
    if number.style == "decimal":
        return bool(body) and body[0].isalpha() and not text.endswith(".") and not _starts_with_unit(body)
    if number.style in ("cjk", "cjk_parens"):
        return bool(body) and not text.endswith((".", "?", "？")) and len(body) <= 30
    return number.is_sure and not text.endswith(".")


def number_levels(ranks: Iterable[int]) -> dict[int, int]:
    """Map each rank that occurs to a heading level, outermost 1, none above 6."""
    return {rank: min(level, 6) for level, rank in enumerate(sorted(set(ranks)), start=1)}


def _starts_with_unit(body: str) -> bool:
    """`2.38 亿元` and `5.2 million` are figures, not sections."""
    return (
        re.match(r"(?:[万亿元千百吨米年月日个美人倍]|(?:million|billion|percent|bn|mn|USD|RMB|kg|km|m|s|ms)\b)", body)
        is not None
    )
