"""Cuts a span of text that is above a budget: at lines, sentences, clauses, at last between characters."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from retrieval.sentences import sentence_spans

Span = tuple[int, int]

_LINE_RE = re.compile(r"\n")
_CLAUSE_RE = re.compile(r"[，、：][”’」』）]?|[,:](?=\s)")
_JOINED_RE = re.compile(r"[A-Za-z0-9@._%+/~#=&?:-]{2}")
_GROUPED_RE = re.compile(r"\d[ -]?\d")
LONGEST_TOKEN = 12
"""Characters per token beyond which no real text goes: a longer text is divided without being measured."""
_WORD_REACH = 48
"""How far a cut moves back so as not to split a word, a number or an account number."""


def fit(text: str, span: Span, limit: int, cost: Callable[[str], int]) -> list[Span]:
    """Return spans in order that cover the non-space text of `span`, none costing more than `limit`.

    A span that fits is returned whole. `cost` is called a number of times linear in the pieces made.
    """
    trimmed = _trim(text, *span)
    return _fit(text, trimmed, limit, cost, (_lines, _sentences, _clauses)) if trimmed else []


def _fit(
    text: str,
    span: Span,
    limit: int,
    cost: Callable[[str], int],
    cuts: tuple[Callable[[str, Span], list[Span]], ...],
) -> list[Span]:
    whole = None
    if span[1] - span[0] <= limit * LONGEST_TOKEN:
        whole = cost(text[slice(*span)])
        if whole <= limit:
            return [span]
    for level, cut in enumerate(cuts):
        pieces = cut(text, span)
        if len(pieces) > 1:
            return [fitting for piece in pieces for fitting in _fit(text, piece, limit, cost, cuts[level + 1 :])]
    return _windows(text, span, limit, whole or cost(text[slice(*span)]), cost)


def _windows(text: str, span: Span, limit: int, whole: int, cost: Callable[[str], int]) -> list[Span]:
    """Cut into windows of about equal cost; a window denser than the average is cut again."""
    start, end = span
    if end - start < 2:
        return [span]
    count = max(2, -(-whole * 10 // (limit * 9)))
    width = max(1, (end - start) // count)
    found: list[Span] = []
    while start < end:
        cut = end if end - start <= width + width // 4 else _safe_cut(text, start, start + width)
        if end - start == span[1] - span[0]:
            cut = min(cut, end - 1)
        trimmed = _trim(text, start, cut)
        if trimmed:
            inner = cost(text[slice(*trimmed)])
            found += [trimmed] if inner <= limit else _windows(text, trimmed, limit, inner, cost)
        start = cut
    return found


def _safe_cut(text: str, start: int, at: int) -> int:
    """Move a cut back to white space or punctuation near it, else out of a word or number."""
    floor = max(start + 1, at - _WORD_REACH, start + (at - start) // 2)
    for place in range(at, floor, -1):
        around = text[max(start, place - 2) : place + 2]
        pair = text[place - 1 : place + 1]
        if not _JOINED_RE.fullmatch(pair) and not _GROUPED_RE.search(around):
            return place
    return at


def _lines(text: str, span: Span) -> list[Span]:
    return _between(text, span, [m.end() for m in _LINE_RE.finditer(text, *span)])


def _sentences(text: str, span: Span) -> list[Span]:
    offset = span[0]
    return [(offset + start, offset + end) for start, end in sentence_spans(text[slice(*span)])]


def _clauses(text: str, span: Span) -> list[Span]:
    return _between(text, span, [m.end() for m in _CLAUSE_RE.finditer(text, *span)])


def _between(text: str, span: Span, cuts: list[int]) -> list[Span]:
    bounds = [span[0], *cuts, span[1]]
    trimmed = (_trim(text, start, end) for start, end in pairwise(bounds))
    return [piece for piece in trimmed if piece]


def _trim(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
