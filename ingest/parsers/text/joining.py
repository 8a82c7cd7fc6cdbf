"""Joining the lines of a paragraph: CJK without a space, hyphenated words made whole.

Pure functions, shared by the PDF, text and subtitle parsers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

_HYPHENS = "-\u2010\u00ad"
_LAST_WORD = re.compile(r"([^\W\d_]+)[-\u2010\u00ad]$")
_FIRST_WORD = re.compile(r"([^\W\d_]+)")
_NO_WORDS: frozenset[str] = frozenset()
_KEEPS_HYPHEN = frozenset({
    "self",
    "well",
    "half",
    "quasi",
    "ex",
    "all",
    "cross",
    "high",
    "low",
    "long",
    "short",
    "mid",
    "non",
})
"""Words that seldom open a hyphenated word but often a compound; used where the vocabulary does not decide."""
SENTENCE_END = frozenset("。！？；.!?;…:：”’」』）)")


def is_cjk(character: str) -> bool:
    """Tell whether `character` belongs to a script written without spaces (Hangul is written with them)."""
    code = ord(character)
    return (
        0x2E80 <= code <= 0x31FF
        or 0x3400 <= code <= 0x4DBF
        or 0x4E00 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0xFE30 <= code <= 0xFE4F
        or 0xFF00 <= code <= 0xFFEF
        or 0x20000 <= code <= 0x3FFFF
        or 0x3000 <= code <= 0x303F
    )


def collapse(text: str) -> str:
    """Return `text` with every run of white space, ideographic spaces included, as one space."""
    return " ".join(text.split())


def squeeze(text: str) -> str:
    """Return `text` without any white space, case-folded: the form in which titles are compared."""
    return "".join(text.split()).casefold()


def join_lines(lines: Iterable[str], words: AbstractSet[str] = _NO_WORDS) -> str:
    """Join the lines of one paragraph.

    Args:
        lines: lines in reading order; empty ones are skipped.
        words: the document's vocabulary, case-folded, hyphenated words included. It decides
            whether a hyphen at a line end belongs to the word (`long-term`) or to the line.
    """
    joined = ""
    for line in lines:
        line = line.strip()
        if not line:
            continue
        joined = _join_two(joined, line, words) if joined else line
    return joined


def _join_two(left: str, right: str, words: AbstractSet[str]) -> str:
    last, first = left[-1], right[0]
    if last in _HYPHENS and first.isalpha() and not is_cjk(first):
        head, tail = _LAST_WORD.search(left), _FIRST_WORD.match(right)
        if head and tail:
            return _join_hyphenated(left, right, head.group(1), tail.group(1), words)
    if is_cjk(last) or is_cjk(first):
        return left + right
    return f"{left} {right}"


def _join_hyphenated(left: str, right: str, head: str, tail: str, words: AbstractSet[str]) -> str:
    if left[-1] == "\u00ad":
        return left[:-1] + right
    whole, compound = f"{head}{tail}".casefold(), f"{head}-{tail}".casefold()
    keeps_hyphen = whole not in words and (compound in words or head.casefold() in _KEEPS_HYPHEN)
    if keeps_hyphen or not tail[0].islower():
        return left + right
    return left[:-1] + right
