"""Turns a parsed document into chunks that follow its structure. Pure and deterministic.

A section under its heading is a chunk; above the budget it is divided at paragraphs, rows,
sentences, clauses and at last characters; tiny sections join a neighbour of the same topic.
Every character of the blocks that is not white space stands in exactly one chunk, apart from
what a chunk repeats (table header, speaker name).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingest.chunking.draft import DraftChunk
from ingest.chunking.gauge import Gauge
from ingest.chunking.layout import Layout, lay_out
from ingest.chunking.pages import Place, place_of
from ingest.chunking.pieces import Cutter, Piece, fits, pack, text_of
from ingest.chunking.sections import Section, sections_of
from ingest.settings import ChunkSettings
from ingest.types import ParsedDocument
from retrieval.types import Box

_ONE_WORD_TOKENS = 8
"""A turn up to this size ("好的，同意。") means nothing without its neighbour."""

_TABLE_BY_TABLE = frozenset({"sqlite", "database"})
"""Formats in which a section is a table of a database, and is never merged with another's."""


def document_text(parsed: ParsedDocument) -> str:
    """Return the text that `start_char` and `end_char` count in: blocks joined by blank lines."""
    return lay_out(parsed).text


def chunk_document(
    parsed: ParsedDocument,
    measure: Callable[[str], int],
    settings: ChunkSettings,
    max_tokens: int,
    title: str | None = None,
) -> tuple[DraftChunk, ...]:
    """Divide a document into chunks in reading order; a document without text gives none.

    Args:
        parsed: the parser's blocks.
        measure: encoder tokens, special tokens included, of a text once it is symbolised.
        settings: sizes; the lower of `settings.max_tokens` and `max_tokens` is the budget.
        max_tokens: the encoder's own limit.
        title: the title that will stand before the text when it is encoded; None: the parsed one.
    """
    layout = lay_out(parsed)
    title = parsed.title if title is None else title
    gauge = Gauge(measure, min(settings.max_tokens, max_tokens), title)
    drafts = [draft for section in sections_of(layout.blocks) for draft in _cut(layout, gauge, section, settings)]
    if parsed.format not in _TABLE_BY_TABLE:
        drafts = _join(layout, gauge, _lead_in(layout, gauge, drafts), settings.min_tokens)
    return tuple(_finish(layout, gauge, draft, ordinal) for ordinal, draft in enumerate(drafts))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A chunk in the making; `last_path` is the path of the last section that went into it."""

    pieces: tuple[Piece, ...]
    path: tuple[str, ...]
    last_path: tuple[str, ...]
    number: int

    @property
    def size(self) -> int:
        return sum(piece.cost for piece in self.pieces)

    @property
    def is_turn(self) -> bool:
        return any(piece.placed.block.kind == "turn" for piece in self.pieces)

    @property
    def is_heading(self) -> bool:
        return all(piece.placed.block.kind == "heading" for piece in self.pieces)


def _cut(layout: Layout, gauge: Gauge, section: Section, settings: ChunkSettings) -> list[_Draft]:
    path = gauge.trim(section.path)
    cutter = Cutter(layout, gauge, gauge.room(path), settings.min_tokens)
    packed = pack(layout, gauge, path, cutter.cut(section.blocks), settings.min_tokens)
    return [_Draft(tuple(pieces), section.path, section.path, section.number) for pieces in packed]


def _lead_in(layout: Layout, gauge: Gauge, drafts: Sequence[_Draft]) -> list[_Draft]:
    """Put headings that have no text of their own before what comes first under them."""
    joined: list[_Draft] = []
    for draft in reversed(drafts):
        below = joined[-1] if joined else None
        if below and draft.is_heading and _starts_with(below.path, draft.path) and not below.pieces[0].repeat:
            both = _Draft(draft.pieces + below.pieces, below.path, below.last_path, below.number)
            if fits(layout, gauge, gauge.trim(both.path), both.pieces):
                joined[-1] = both
                continue
        joined.append(draft)
    return joined[::-1]


def _join(layout: Layout, gauge: Gauge, drafts: Sequence[_Draft], small: int) -> list[_Draft]:
    """Merge tiny drafts: within their section to what comes before, else to the next section of their topic."""
    forward: list[_Draft] = []
    for draft in drafts:
        before = forward[-1] if forward else None
        if before and (_is_tiny(before, small) or (_is_tiny(draft, small) and before.last_path == draft.path)):
            both = _merge(layout, gauge, before, draft)
            if both:
                forward[-1] = both
                continue
        forward.append(draft)
    backward: list[_Draft] = []
    for draft in forward:
        both = _merge(layout, gauge, backward[-1], draft) if backward and _is_tiny(draft, small) else None
        if both:
            backward[-1] = both
        else:
            backward.append(draft)
    return backward


def _is_tiny(draft: _Draft, small: int) -> bool:
    return draft.size < (min(small, _ONE_WORD_TOKENS) if draft.is_turn else small)


def _merge(layout: Layout, gauge: Gauge, before: _Draft, after: _Draft) -> _Draft | None:
    """Return the two as one where topic, page and budget allow it."""
    common = _common(before.path, after.path)
    same_topic = len(_common(before.last_path, after.path)) >= len(before.last_path) - 1
    if not same_topic or (after.pieces[0].repeat and not after.is_turn) or before.is_turn != after.is_turn:
        return None
    if before.pieces[0].repeat and before.pieces[0].placed is not after.pieces[0].placed and not before.is_turn:
        return None
    if _place(before.pieces[-1:]).page_end != _place(after.pieces[:1]).page_start:
        return None
    both = _Draft(before.pieces + after.pieces, common, after.path, before.number)
    return both if fits(layout, gauge, gauge.trim(common), both.pieces) else None


def _finish(layout: Layout, gauge: Gauge, draft: _Draft, ordinal: int) -> DraftChunk:
    pieces = draft.pieces
    text = text_of(layout, pieces)
    place = _place(pieces)
    blocks = [piece.placed.block for piece in pieces]
    starts = [block.start_s for block in blocks if block.start_s is not None]
    ends = [block.end_s for block in blocks if block.end_s is not None]
    turns = [piece.placed.turn for piece in pieces if piece.placed.turn]
    content = {block.kind for block in blocks} - {"heading", "caption"}
    return DraftChunk(
        ordinal=ordinal,
        text=text,
        heading_path=gauge.trim(draft.path),
        page_start=place.page_start,
        page_end=place.page_end,
        section_number=(turns[0] if turns else draft.number) if place.page_start is None else None,
        start_char=pieces[0].start,
        end_char=pieces[-1].end,
        repeated_chars=len(pieces[0].repeat),
        boxes=place.boxes,
        kind="turn" if "turn" in content else "table" if content == {"table"} else "text",
        speaker=_main_speaker(layout, pieces),
        start_s=min(starts, default=None),
        end_s=max(ends, default=None),
    )


def _place(pieces: Sequence[Piece]) -> Place:
    places = [place_of(piece.placed, piece.start, piece.end) for piece in pieces]
    first = [place.page_start for place in places if place.page_start is not None]
    last = [place.page_end for place in places if place.page_end is not None]
    boxes: dict[Box, None] = {box: None for place in places for box in place.boxes}
    return Place(min(first, default=None), max(last, default=None), tuple(boxes))


def _main_speaker(layout: Layout, pieces: Sequence[Piece]) -> str | None:
    """Return who says most, names not counted; the first of them where it is equal."""
    said: dict[str, int] = {}
    for piece in pieces:
        speaker = piece.placed.block.speaker
        if speaker:
            words = layout.text[piece.start : piece.end]
            if piece.start == piece.placed.start:
                words = words.removeprefix(piece.placed.repeat)
            said[speaker] = said.get(speaker, 0) + len("".join(words.split()))
    return max(said, key=lambda name: said[name], default=None)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]


def _starts_with(path: tuple[str, ...], head: tuple[str, ...]) -> bool:
    return path[: len(head)] == head
