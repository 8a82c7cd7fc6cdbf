"""What stands around a passage: the rows, turns or paragraphs beside its chunk at the same place. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from retrieval.sentences import sentence_spans
from retrieval.types import Chunk

Place = tuple[str, int]
"""A document and the ordinal of a chunk in it."""

_CHARS_PER_TOKEN = {"zh": 1.4, "en": 4.0, "other": 2.5}
"""Tokens of a character, roughly, in the vocabulary of XLM-R; only to estimate what a cut text costs."""


class Context(NamedTuple):
    """Text before and after a chunk; empty where there is none."""

    before: str = ""
    after: str = ""


def places_beside(chunks: Sequence[Chunk]) -> set[Place]:
    """Return the places right before and after these chunks, without those of the chunks themselves."""
    own = {(chunk.document_id, chunk.ordinal) for chunk in chunks}
    beside = {(chunk.document_id, chunk.ordinal + step) for chunk in chunks for step in (-1, 1)}
    return {place for place in beside - own if place[1] >= 0}


def context_of(chunk: Chunk, beside: Mapping[Place, Chunk], shown: Collection[str], max_tokens: int) -> Context:
    """Return the context of a chunk within a budget; half of it for each side, what one leaves to the other.

    Only of the same page or section and under the same headings, so that the passage's label names the right
    place for it too; not of chunks that are shown as passages themselves. Cut at the ends of rows and sentences.
    """
    before = _usable(chunk, beside.get((chunk.document_id, chunk.ordinal - 1)), shown)
    after = _usable(chunk, beside.get((chunk.document_id, chunk.ordinal + 1)), shown)
    share = max_tokens if before is None or after is None else max_tokens // 2
    head = _cut(chunk, before, share, from_end=True) if before is not None else ""
    left = max_tokens - _tokens(head, chunk)
    return Context(head, _cut(chunk, after, left, from_end=False) if after is not None else "")


def _usable(chunk: Chunk, other: Chunk | None, shown: Collection[str]) -> Chunk | None:
    if other is None or other.chunk_id in shown or chunk.kind == "schema":
        return None
    if other.kind != chunk.kind or other.heading_path != chunk.heading_path:
        return None
    if chunk.page_start is not None:
        first, last = chunk.page_start, chunk.page_end or chunk.page_start
        start = other.page_start
        inside = start is not None and first <= start and (other.page_end or start) <= last
        return other if inside else None
    return other if other.section_number == chunk.section_number else None


def _cut(chunk: Chunk, other: Chunk, max_tokens: int, *, from_end: bool) -> str:
    """Return the part of a neighbour next to the chunk that the budget holds; a table's rows under their header."""
    header, text = _header(chunk, other) if chunk.kind == "table" else ("", other.text)
    room = int(max_tokens * _CHARS_PER_TOKEN[chunk.language]) - len(header)
    if room <= 0:
        return ""
    near = text[-2 * room :] if from_end else text[: 2 * room]
    cut_off = len(near) < len(text)
    spans = [span for span in sentence_spans(near) if near[span[0] : span[1]].strip()]
    if cut_off and spans:  # the piece at the far end may be half a sentence
        spans = spans[1:] if from_end else spans[:-1]
    if not spans:
        return ""
    # From the end next to the chunk as far as the budget holds, gaps between sentences included.
    if from_end:
        last = spans[-1][1]
        first = next((start for start, _ in spans if last - start <= room), last)
    else:
        first = spans[0][0]
        last = next((end for _, end in reversed(spans) if end - first <= room), first)
    body = near[first:last].strip()
    if not body:
        return ""
    speaker = f"{other.speaker}: " if other.kind == "turn" and other.speaker else ""
    return f"{header}{speaker}{body}"


def _header(chunk: Chunk, other: Chunk) -> tuple[str, str]:
    """Return the lines that both pieces of one table begin with, and the rest of the other's."""
    ours, theirs = chunk.text.split("\n"), other.text.split("\n")
    same = 0
    while same < min(len(ours), len(theirs)) and ours[same] == theirs[same]:
        same += 1
    header = "\n".join(theirs[:same])
    return (f"{header}\n" if header else ""), "\n".join(theirs[same:])


def _tokens(text: str, chunk: Chunk) -> int:
    return int(len(text) / _CHARS_PER_TOKEN[chunk.language])
