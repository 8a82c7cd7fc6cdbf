"""From the pages of a PDF to its blocks: furniture out, columns in order, paragraphs, headings, lists, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ingest.parsers.pdf.continued import join_continued
from ingest.parsers.pdf.furniture import find_furniture
from ingest.parsers.pdf.headings import OutlineEntry, heading_levels
from ingest.parsers.pdf.layout import reading_order
from ingest.parsers.pdf.lines import Line, body_size
from ingest.parsers.pdf.page import PageContent
from ingest.parsers.pdf.paragraphs import Paragraph, paragraphs_of
from ingest.parsers.pdf.tables import FoundTable
from ingest.types import Block, ParsedDocument

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def assemble(pages: Sequence[PageContent], outline: Sequence[OutlineEntry], title: str) -> ParsedDocument:
    """Build the document; `title` is the metadata's, empty where there is none worth showing."""
    lines = {page.number: page.lines for page in pages if not page.is_damaged}
    furniture = find_furniture(lines, {page.number: page.height for page in pages})
    flows: list[list[Line]] = []
    for page in pages:
        kept = [line for line in page.lines if line not in furniture]
        flows.extend(reading_order(_with_tables(kept, page.tables)))
    tables = {id(table.block): table for page in pages for table in page.tables}
    paragraphs = join_continued(paragraphs_of(flows), tables)
    levels = heading_levels(paragraphs, outline, body_size(line for flow in flows for line in flow))
    blocks = _blocks(paragraphs, levels, _vocabulary(lines.values()))
    first = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="pdf",
        blocks=tuple(blocks),
        page_count=len(pages),
        title=title or first,
        pages=tuple(page.as_yield() for page in pages),
        notes=_notes(pages, len(furniture)),
    )


def _with_tables(lines: Sequence[Line], tables: Sequence[FoundTable]) -> list[Line]:
    """Put each table in the place of the lines it was read from."""
    kept = list(lines)
    for table in tables:
        x0, y0, x1, y1 = table.area
        number = table.block.page_number or 1
        kept.append(Line("", number, x0, y0, x1, y1, size=10.0, table=table.block))
    return kept


def _vocabulary(pages: Iterable[Sequence[Line]]) -> frozenset[str]:
    return frozenset(word.casefold() for lines in pages for line in lines for word in _WORD.findall(line.text))


def _blocks(paragraphs: Sequence[Paragraph], levels: dict[int, int], words: frozenset[str]) -> list[Block]:
    blocks: list[Block] = []
    for index, paragraph in enumerate(paragraphs):
        table = paragraph.first.table
        if table is not None:
            blocks.append(table)
            continue
        block = Block(
            kind="paragraph",
            text=paragraph.text(words),
            page_number=paragraph.first.page_number,
            page_end=paragraph.last.page_number,
            boxes=paragraph.boxes(),
        )
        if index in levels:
            block = block.model_copy(update={"kind": "heading", "level": levels[index]})
        elif paragraph.is_caption:
            block = block.model_copy(update={"kind": "caption"})
        elif paragraph.is_list_item:
            block = block.model_copy(update={"kind": "list"})
        previous = blocks[-1] if blocks else None
        if block.kind == "list" and previous is not None and previous.kind == "list":
            blocks[-1] = _joined_list(previous, block)
        else:
            blocks.append(block)
    return blocks


def _joined_list(left: Block, right: Block) -> Block:
    return left.model_copy(
        update={"text": f"{left.text}\n{right.text}", "page_end": right.page_end, "boxes": left.boxes + right.boxes}
    )


def _notes(pages: Sequence[PageContent], furniture: int) -> tuple[str, ...]:
    notes: list[str] = []
    if furniture:
        notes.append(f"{furniture} lines of running headers, footers and page numbers were left out")
    for remark in dict.fromkeys(page.remark for page in pages if page.remark):
        notes.append(f"{remark}: pages {_ranges([page.number for page in pages if page.remark == remark])}")
    if damaged := [page.number for page in pages if page.is_damaged]:
        notes.append(f"damaged pages that could not be read: {_ranges(damaged)}")
    return tuple(notes)


def _ranges(numbers: Sequence[int]) -> str:
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ", ".join(str(start) if start == end else f"{start}-{end}" for start, end in ranges)
