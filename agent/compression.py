"""Shortens long texts towards a question: the sentences that speak of it are kept word for word, in their order.

What is left out is marked. Nothing is written anew, so that a figure or a name in a shortened text
stands in the original too.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.content_terms import content_terms

Cost = Callable[[str], float]
"""How much room a text takes; of parts of a text together no more than a little less than of the whole."""

GAP, ROW_GAP = " … ", "\n…\n"
_LONGEST = 400
"""A stretch without a sentence end, such as a row of a table, is cut into pieces of this many characters."""
_FIGURE_RE = re.compile(r"\d")
_SENTENCE_RE = re.compile(r"\S(?:[^\n。！？；!?;.]|\.(?!\s))*[\n。！？；!?;.]?")
"""Sentences nearly as `retrieval.sentences` has them, in a tenth of the time: it matters little here where one ends."""
_CJK_PAIR_RE = re.compile(r"[\u3400-\u9fff]{2}")
_MOST_MISFITS = 8
"""Sentences in a row of worth that did not fit: room is as good as full."""
_FIRST = 8000
_WIDEST = 400_000
"""Characters beyond this are not looked at."""


class Compressor(Protocol):
    """Makes a text fit."""

    async def compress(self, text: str, question: str, cost: Cost, room: float) -> str:
        """Return a text that takes at most `room`, with what matters for the question."""
        ...


class ExtractiveCompressor:
    """Keeps sentences."""

    async def compress(self, text: str, question: str, cost: Cost, room: float) -> str:
        """Return the text's own sentences; see `shorten`."""
        return shorten(text, question, cost, room)


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    weight: float


def shorten(text: str, question: str, cost: Cost, room: float) -> str:
    """Return the sentences of a text that speak of a question, as many as fit; a text that fits is returned as it is.

    The first sentence stays where it can, for it tells what the text is (the head of a table, a title);
    room that is left is filled from the beginning on. Linear in the length of the text.
    """
    if cost(text[:_FIRST]) <= room and (len(text) <= _FIRST or cost(text) <= room):
        return text
    text = text[:_WIDEST]
    pieces = _weighed(text, question)
    if not pieces:
        return ""
    order = sorted(range(len(pieces)), key=lambda i: (-pieces[i].weight, i))
    if order[0] != 0 and cost(text[pieces[0].start : pieces[0].end]) <= room / 4:
        order.remove(0)
        order.insert(0, 0)
    gap = cost(GAP)
    kept: set[int] = set()
    left, misfits = room - gap, 0  # of one piece both ends may be marked
    for index in order:
        needs = cost(text[pieces[index].start : pieces[index].end]) + gap
        if needs <= left:
            kept.add(index)
            left -= needs
        elif (misfits := misfits + 1) == _MOST_MISFITS:
            break
    if not kept:
        return _cut(text[pieces[order[0]].start : pieces[order[0]].end], cost, room)
    return _joined(text, pieces, sorted(kept))


def _weighed(text: str, question: str) -> list[_Piece]:
    spans = [piece for match in _SENTENCE_RE.finditer(text) for piece in _pieces(text, *match.span())]
    held = _held(text, [start for start, _ in spans], question)
    often = Counter(term for terms in held.values() for term in terms)
    rare = {term: math.log1p(len(spans) / count) for term, count in often.items()}
    return [
        # A figure breaks ties: questions to documents mostly ask for one.
        _Piece(start, end, sum(rare[t] for t in held[i]) * (1.1 if _FIGURE_RE.search(text, start, end) else 1.0))
        if i in held
        else _Piece(start, end, 0.0)
        for i, (start, end) in enumerate(spans)
    ]


def _held(text: str, starts: Sequence[int], question: str) -> dict[int, set[str]]:
    """Return, by the number of the sentence, the question's terms in it."""
    lower = question.lower()
    pairs = {lower[i : i + 2] for i in range(len(lower) - 1)}
    wanted = {*content_terms(question), *(pair for pair in pairs if _CJK_PAIR_RE.fullmatch(pair))}
    if not wanted:
        return {}
    # The beginning of a longer word stands for its forms: revenue, revenues.
    begins = {term[: max(4, len(term) - 2)] if term.isascii() and len(term) > 4 else term: term for term in wanted}
    parts = [
        rf"(?<![a-z0-9]){re.escape(begin)}" if begin[0].isascii() else re.escape(begin)
        for begin in sorted(begins, key=len, reverse=True)
    ]
    folded = text.lower()
    held: dict[int, set[str]] = {}
    for match in re.finditer("(?=(" + "|".join(parts) + "))", folded if len(folded) == len(text) else text):
        held.setdefault(bisect_right(starts, match.start()) - 1, set()).add(begins[match[1]])
    return held


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a span that is too long, at blanks where there are some."""
    pieces: list[tuple[int, int]] = []
    while end - start > _LONGEST:
        blank = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        middle = blank if blank > 0 else start + _LONGEST
        pieces.append((start, middle))
        start = middle
    return [*pieces, (start, end)]


def _joined(text: str, pieces: Sequence[_Piece], kept: Sequence[int]) -> str:
    parts: list[str] = []
    last: int | None = None
    for index in kept:
        if last is None:
            parts.append("" if index == 0 else GAP.lstrip())
        else:
            between = text[pieces[last].end : pieces[index].start]
            parts.append(between if index == last + 1 else ROW_GAP if "\n" in between else GAP)
        parts.append(text[pieces[index].start : pieces[index].end])
        last = index
    return "".join(parts).strip() + ("" if last == len(pieces) - 1 else GAP.rstrip())


def _cut(text: str, cost: Cost, room: float) -> str:
    """Return as much of the beginning as fits."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(text[:middle] + GAP.rstrip()) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + GAP.rstrip() if low else ""
