"""PDF through PyMuPDF: blocks in reading order with pages and boxes.

The only importer of PyMuPDF, which knows no threads: it runs in the sandbox's
process alone. Nothing of PyMuPDF leaves this file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, EncryptedDocumentError, NoTextError
from ingest.parsers.joining import collapse
from ingest.parsers.pdf_furniture import find_furniture
from ingest.parsers.pdf_headings import OutlineEntry, heading_levels
from ingest.parsers.pdf_layout import reading_order
from ingest.parsers.pdf_lines import Line, body_size, clean, garbled_ratio, lines_of_page, mend_rows, raw_text
from ingest.parsers.pdf_paragraphs import Paragraph, paragraphs_of
from ingest.parsers.pdf_tables import FoundTable, borderless_tables, inside, may_have_ruled_table, ruled_tables
from ingest.parsers.session import QUIET, ParseSession
from ingest.settings import ParserSettings
from ingest.types import Block, PageYield, ParsedDocument

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TOOL_TITLE = re.compile(
    r"(?:untitled|\(?anonymous\)?|unspecified|microsoft (?:word|powerpoint|excel)\b.*"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|odt))$",
    re.I,
)
"""Titles that programs write by themselves."""
_MIN_TABLE_LINES = 3


@dataclass
class _Pages:
    """What was read page by page."""

    lines: dict[int, list[Line]] = field(default_factory=dict[int, list[Line]])
    heights: dict[int, float] = field(default_factory=dict[int, float])
    tables: dict[int, list[FoundTable]] = field(default_factory=dict[int, list[FoundTable]])
    yields: list[PageYield] = field(default_factory=list[PageYield])
    damaged: list[int] = field(default_factory=list[int])
    images_only: list[int] = field(default_factory=list[int])


def parse_pdf(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a PDF.

    Raises:
        EncryptedDocumentError: it needs a password.
        CorruptDocumentError: it cannot be opened or has no pages.
        DocumentTooLargeError: more pages than `limits.max_pages`.
        NoTextError: no page has a text layer; says that OCR is needed.
    """
    pymupdf = _pymupdf()
    try:
        with pymupdf.open(str(path), filetype="pdf") as document:
            _check(document, display_name, limits)
            pages = _read_pages(document)
            outline = _outline(document)
            title = _metadata_title(document)
            page_count: int = document.page_count
    except _vendor_errors() as exc:
        _raise_if_out_of_memory(exc)
        raise CorruptDocumentError(
            f"{display_name}: the PDF is damaged and cannot be read ({type(exc).__name__})"
        ) from exc
    if not any(pages.lines.values()) and not any(pages.tables.values()):
        raise NoTextError(f"{display_name}: none of its {page_count} pages has a text layer; it needs OCR")
    return _assemble(pages, outline, title, page_count)


def _pymupdf() -> Any:
    """Import PyMuPDF (1.5 s) when the first PDF comes; its stubs leave most types unknown."""
    import pymupdf

    vendor: Any = pymupdf
    vendor.TOOLS.mupdf_display_errors(False)
    vendor.TOOLS.mupdf_display_warnings(False)
    return vendor


def _vendor_errors() -> tuple[type[Exception], ...]:
    """MuPDF's own errors, and what PyMuPDF's Python layer runs into on broken objects."""
    own: type[Exception] = _pymupdf().mupdf.FzErrorBase
    return (own, RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError)


def _raise_if_out_of_memory(error: Exception) -> None:
    if isinstance(error, _pymupdf().mupdf.FzErrorSystem) and "alloc" in str(error):
        raise MemoryError from error


def _check(document: Any, display_name: str, limits: ParserSettings) -> None:
    if document.needs_pass:
        raise EncryptedDocumentError(f"{display_name}: the PDF is encrypted; a password is needed")
    if document.page_count < 1:
        raise CorruptDocumentError(f"{display_name}: the PDF has no pages")
    if document.page_count > limits.max_pages:
        raise DocumentTooLargeError(f"{display_name}: {document.page_count} pages, the limit is {limits.max_pages}")


def _read_pages(document: Any) -> _Pages:
    pages = _Pages()
    for index in range(document.page_count):
        number = index + 1
        try:
            page = document[index]
            raw, text = _page_lines(page, number)
            tables = _ruled_tables(page, raw, number)
            lines = mend_rows(_outside(raw, tables))
            tables += borderless_tables(lines)
            images_only = not raw and bool(page.get_images())
            height = float(page.rect.height)
        except _vendor_errors() as exc:
            _raise_if_out_of_memory(exc)
            # One broken page costs that page, not the document; the report names it.
            pages.damaged.append(number)
            pages.yields.append(PageYield(page_number=number, characters=0))
            continue
        pages.lines[number], pages.heights[number], pages.tables[number] = _outside(lines, tables), height, tables
        if images_only:
            pages.images_only.append(number)
        characters = sum(1 for character in text if not character.isspace())
        pages.yields.append(PageYield(page_number=number, characters=characters, garbled_ratio=garbled_ratio(text)))
    if not pages.lines:
        raise ValueError("no page could be read")
    return pages


def _page_lines(page: Any, number: int) -> tuple[list[Line], str]:
    """Return the page's lines as people see them, and its raw text for the measure of garbling."""
    pymupdf = _pymupdf()
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    blocks = page.get_text("dict", flags=flags)["blocks"]
    lines = lines_of_page(blocks, number)
    if page.rotation:
        # Text comes in the coordinates of the unrotated page; people see the rotated one.
        lines = [_rotated(line, page.rotation_matrix, page.rotation, pymupdf.Rect) for line in lines]
    return lines, raw_text(blocks)


def _rotated(line: Line, matrix: Any, rotation: int, rect: Any) -> Line:
    turned = rect(line.x0, line.y0, line.x1, line.y1) * matrix
    upright = line.upright if rotation == 180 else not line.upright
    return replace(line, x0=turned.x0, y0=turned.y0, x1=turned.x1, y1=turned.y1, upright=upright)


def _ruled_tables(page: Any, lines: Sequence[Line], number: int) -> list[FoundTable]:
    if len(lines) < _MIN_TABLE_LINES or not may_have_ruled_table(page.get_bboxlog()):
        return []
    matrix = page.rotation_matrix
    rect = _pymupdf().Rect
    words = [
        Line(clean(word), number, *(rect(box) * matrix), size=10.0)
        for *box, word, _, _, _ in page.get_text("words", sort=False)
        if clean(word)
    ]
    return ruled_tables(page, words)


def _outside(lines: Sequence[Line], tables: Sequence[FoundTable]) -> list[Line]:
    return [line for line in lines if not (line.upright and any(inside(line, table.area) for table in tables))]


def _outline(document: Any) -> list[OutlineEntry]:
    try:
        return [OutlineEntry(level, title, page) for level, title, page, *_ in document.get_toc()]
    except _vendor_errors():
        return []


def _metadata_title(document: Any) -> str:
    metadata: dict[str, Any] = document.metadata or {}
    title = collapse(str(metadata.get("title") or ""))
    return "" if _TOOL_TITLE.match(title) or garbled_ratio(title) > 0 else title


def _assemble(pages: _Pages, outline: Sequence[OutlineEntry], title: str, page_count: int) -> ParsedDocument:
    furniture = find_furniture(pages.lines, pages.heights)
    flows: list[list[Line]] = []
    for number, lines in pages.lines.items():
        flows.extend(
            reading_order(_with_tables([line for line in lines if line not in furniture], pages.tables[number]))
        )
    words = _vocabulary(pages.lines.values())
    paragraphs = paragraphs_of(flows)
    text_lines = [line for flow in flows for line in flow]
    levels = heading_levels(paragraphs, outline, body_size(text_lines))
    blocks = _blocks(paragraphs, levels, words)
    first = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="pdf",
        blocks=tuple(blocks),
        page_count=page_count,
        title=title or first,
        pages=tuple(pages.yields),
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


def _vocabulary(pages: Any) -> frozenset[str]:
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


def _notes(pages: _Pages, furniture: int) -> tuple[str, ...]:
    notes: list[str] = []
    if furniture:
        notes.append(f"{furniture} lines of running headers, footers and page numbers were left out")
    if pages.images_only:
        notes.append(f"pages without a text layer, which need OCR: {_ranges(pages.images_only)}")
    if pages.damaged:
        notes.append(f"damaged pages that could not be read: {_ranges(pages.damaged)}")
    return tuple(notes)


def _ranges(numbers: Sequence[int]) -> str:
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ", ".join(str(start) if start == end else f"{start}-{end}" for start, end in ranges)
