"""Folds a text for verbatim comparison: width, case, white space and marks aside, positions kept."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_FOLDS = str.maketrans({"“": '"', "”": '"', "「": '"', "」": '"', "『": '"', "』": '"', "‘": "'", "’": "'", "、": ","})
_DASHES = frozenset("‐‑‒–—―−－")
EDGE = re.compile(r"^[\W_]+|[\W_]+$")
"""Punctuation round a text, which a verbatim comparison leaves out."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A text without the differences a verbatim quotation may have, and where each character came from."""

    text: str
    offsets: tuple[int, ...]


@lru_cache(maxsize=16_384)
def _fold_char(raw: str) -> str:
    """Return what one character becomes: nothing for marks and invisible ones, one blank for white space."""
    if raw in "*`" or unicodedata.category(raw) == "Cf":
        return ""
    folded = unicodedata.normalize("NFKC", raw).translate(_FOLDS).casefold()
    return "".join("-" if c in _DASHES else "." if c == "。" else " " if c.isspace() else c for c in folded)


def fold(text: str) -> Folded:
    """Fold width, case, quotation marks, dashes, emphasis and white space."""
    chars: list[str] = []
    offsets: list[int] = []
    for at, raw in enumerate(text):
        for char in _fold_char(raw):
            previous = chars[-1] if chars else " "
            # A blank counts only between words of scripts that write blanks.
            if char == " " and not (previous.isascii() and previous.isalnum()):
                continue
            if chars and previous == " " and not (char.isascii() and char.isalnum()):
                chars.pop()
                offsets.pop()
            chars.append(char)
            offsets.append(at)
    return Folded("".join(chars), tuple(offsets))


def find_verbatim(needle: str, haystack: Folded, start: int = 0) -> tuple[int, int] | None:
    """Return where `needle` stands in the folded text (folded positions), at word boundaries."""
    wanted = EDGE.sub("", fold(needle).text)
    if not wanted:
        return None
    at = haystack.text.find(wanted, start)
    while at >= 0:
        end = at + len(wanted)
        if not _inside_word(haystack.text, at) and not _inside_word(haystack.text, end):
            return at, end
        at = haystack.text.find(wanted, at + 1)
    return None


def _inside_word(text: str, at: int) -> bool:
    pair = text[max(0, at - 1) : at + 1]
    return 0 < at < len(text) and pair.isascii() and pair.isalnum()
