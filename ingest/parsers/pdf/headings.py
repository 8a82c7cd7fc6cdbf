"""Which paragraphs of a PDF are headings, and of which level: the outline first, else type size, weight and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.parsers.pdf.lines import garbled_ratio
from ingest.parsers.pdf.paragraphs import Paragraph
from ingest.parsers.text.joining import squeeze
from ingest.parsers.text.numbering import heading_number, is_numbered_heading, reads_like_heading

_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}|·{4,}")
_NUMBER = re.compile(r"^(?:[\divx]+(?:[.．]\d+)*[.．、]?|第.{1,6}?[章节篇条部]|[（(]?[一二三四五六七八九十]+[）)、])")
_MAX_LINES = 3


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark: level from 1, title, 1-based page (0 where it points nowhere)."""

    level: int
    title: str
    page_number: int


def heading_levels(
    paragraphs: Sequence[Paragraph], outline: Sequence[OutlineEntry], body_size: float
) -> dict[int, int]:
    """Return heading level by index of paragraph.

    Args:
        paragraphs: in reading order.
        outline: the document's bookmarks; where at least half of them are found on
            their pages, they decide, and other headings hang below them.
        body_size: the type size of running text.
    """
    by_outline = _match_outline(paragraphs, outline)
    trusted = bool(by_outline) and len(by_outline) * 2 >= len([entry for entry in outline if entry.page_number])
    candidates = [index for index in range(len(paragraphs)) if _looks_like_heading(paragraphs[index], body_size)]
    by_type = _levels_by_type(paragraphs, candidates)
    if not trusted:
        return by_type
    return _merge(by_outline, by_type, paragraphs, body_size)


def _match_outline(paragraphs: Sequence[Paragraph], outline: Sequence[OutlineEntry]) -> dict[int, int]:
    """Find each bookmark's words on its page, with or without the number."""
    by_page: dict[int, list[tuple[str, OutlineEntry]]] = {}
    for entry in outline:
        by_page.setdefault(entry.page_number, []).append((squeeze(entry.title), entry))
    levels: dict[int, int] = {}
    used: set[int] = set()
    for index, paragraph in enumerate(paragraphs):
        if paragraph.first.table is not None or len(paragraph.lines) > _MAX_LINES:
            continue
        text = squeeze("".join(line.text for line in paragraph.lines))
        for title, entry in by_page.get(paragraph.first.page_number, ()):
            if id(entry) not in used and title and _same_title(text, title):
                levels[index] = min(max(entry.level, 1), 6)
                used.add(id(entry))
                break
    return levels


def _same_title(text: str, title: str) -> bool:
    return text == title or _NUMBER.sub("", text) == _NUMBER.sub("", title) != ""


def _looks_like_heading(paragraph: Paragraph, body_size: float) -> bool:
    first = paragraph.first
    if first.table is not None or len(paragraph.lines) > _MAX_LINES or paragraph.breaks or not first.upright:
        return False
    text = " ".join(line.text for line in paragraph.lines)
    if not reads_like_heading(text) or garbled_ratio(text) > 0 or _LEADERS.search(text) or paragraph.is_caption:
        return False
    if first.size >= max(body_size * 1.15, body_size + 0.9):
        return True
    bold = all(line.bold for line in paragraph.lines)
    if bold and first.size >= body_size - 0.6 and len(paragraph.lines) <= 2 and len(text) >= 2:
        return not paragraph.is_list_item or heading_number(text) is not None
    fills = first.x1 > paragraph.column_x1 - first.size and len(text) > 20
    return len(paragraph.lines) == 1 and first.size >= body_size - 0.6 and not fills and is_numbered_heading(text)


def _levels_by_type(paragraphs: Sequence[Paragraph], candidates: Sequence[int]) -> dict[int, int]:
    """Rank headings by size class, weight, then number; one without a number ranks as the outermost of its class."""
    keys: dict[int, tuple[float, bool, int]] = {}
    for index in candidates:
        line = paragraphs[index].first
        number = heading_number(line.text)
        keys[index] = (-round(line.size), not line.bold, number.rank if number is not None else -1)
    outermost: dict[tuple[float, bool], int] = {}
    for size, weight, rank in keys.values():
        if rank != -1:
            outermost[size, weight] = min(rank, outermost.get((size, weight), rank))
    for index, (size, weight, rank) in keys.items():
        if rank == -1:
            keys[index] = (size, weight, outermost.get((size, weight), 0))
    order = {key: min(level, 6) for level, key in enumerate(sorted(set(keys.values())), start=1)}
    return {index: order[key] for index, key in keys.items()}


def _merge(
    by_outline: dict[int, int], by_type: dict[int, int], paragraphs: Sequence[Paragraph], body_size: float
) -> dict[int, int]:
    """Keep what the outline says; clear headings that it leaves out hang one level below the last bookmark."""
    merged: dict[int, int] = {}
    current = 0
    for index in sorted(by_outline.keys() | by_type.keys()):
        if index in by_outline:
            current = by_outline[index]
            merged[index] = current
        elif is_numbered_heading(paragraphs[index].first.text) or paragraphs[index].first.size >= body_size * 1.15:
            merged[index] = min(current + 1, 6)
    return merged
