"""Fold a text to one writing without moving a single character.

Every recogniser reads the folded text; because folding replaces characters one by one, the
spans it finds are spans of the text as given.
"""

from __future__ import annotations

import re

MASK = "\ufffc"
"""Stands where a recogniser must not look: no digit, no letter, no space."""

_JOINERS = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# Only minus signs; dashes stay what they are, because a dash before a figure is punctuation.
_MINUSES = "\u2212\ufe63\uff0d\u2796"
_TRADITIONAL = "億萬圓幣點個幾餘漲長減負環較達為約兩貳參陸滑虧損歐鎊買險級產戶適評號證駕紙維穩進積極謹資單發軍"
_SIMPLIFIED = "亿万圆币点个几余涨长减负环较达为约两贰叁陆滑亏损欧镑买险级产户适评号证驾纸维稳进积极谨资单发军"


def _table() -> dict[int, str]:
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    del table[ord("，")]  # a comma between clauses; see `fold` for the one between digits
    table.update({ord(c): " " for c in _SPACES})
    table.update({ord(c): "\u200b" for c in _JOINERS})
    table.update({ord(c): "-" for c in _MINUSES})
    table.update({ord(a): b for a, b in zip(_TRADITIONAL, _SIMPLIFIED, strict=True)})
    table.update({ord("￥"): "¥", ord("￡"): "£", ord("○"): "〇", ord("﹪"): "%", ord("〜"): "~", ord("∼"): "~"})
    # Patterns that ignore case take these for the plain letters; tables of words would not know them.
    table.update({ord(a): b for a, b in zip("ſıİ\u212a", "siIK", strict=True)})
    table[ord(MASK)] = " "
    return table


_TABLE = {chr(code): char for code, char in _table().items()}
# Most characters stay: visiting only those that change is several times faster than str.translate.
_CHANGING = re.compile("[" + re.escape("".join(_TABLE)) + "]")
_WIDE_COMMA = re.compile(r"(?<=[０-９])，(?=[０-９]{3})")


def fold(text: str) -> str:
    """Return `text` with half-width forms, plain spaces and simplified numerals; the length is unchanged."""
    if text.isascii():
        return text
    # A full-width comma is a thousands separator only in a number that is itself full-width.
    if "，" in text:
        text = _WIDE_COMMA.sub(",", text)
    return _CHANGING.sub(_replacement, text)


def _replacement(match: re.Match[str]) -> str:
    return _TABLE[match.group()]


def mask(text: str, spans: list[tuple[int, int]]) -> str:
    """Return `text` with every span (ordered, not overlapping) overwritten by `MASK`."""
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], MASK * (end - start))
        at = end
    return "".join((*parts, text[at:]))
