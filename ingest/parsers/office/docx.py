"""DOCX through python-docx: headings by style, lists with their numbers, tables, text boxes, notes.

A DOCX has no pages: where they break is the printer's decision, so none is reported.
"""

# python-docx and lxml type little of what is used here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
from docx.exceptions import PythonDocxError
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.office.docx_anchored import anchored_blocks
from ingest.parsers.office.docx_furniture import furniture
from ingest.parsers.office.docx_notes import Notes
from ingest.parsers.office.docx_numbering import Numbering
from ingest.parsers.office.docx_package import check_package, read_package
from ingest.parsers.office.docx_styles import Styles
from ingest.parsers.office.docx_tables import docx_table, layout_cell
from ingest.parsers.office.docx_text import Element, paragraph_text, text_boxes
from ingest.parsers.office.office_parts import part_roots
from ingest.parsers.office.office_pictures import picture_texts
from ingest.parsers.office.office_titles import own_title
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.numbering import heading_number, is_numbered_heading, number_levels, reads_like_heading
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_WRAPPERS = frozenset({
    qn("w:sdt"),
    qn("w:sdtContent"),
    qn("w:ins"),
    qn("w:moveTo"),
    qn("w:customXml"),
    qn("w:smartTag"),
})
_MAX_SCANS = 50
"""Pictures read of a document without other text; each takes seconds."""
_VENDOR_ERRORS = (
    PythonDocxError, OpcError, zipfile.BadZipFile, zlib.error, etree.LxmlError,
    KeyError, ValueError, AttributeError, TypeError, IndexError, OSError, EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip
"""python-docx answers a damaged package with whatever its code runs into."""


def parse_docx(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a DOCX file.

    Raises:
        CorruptDocumentError: not a readable Word document.
        DocumentTooLargeError: it unpacks to more than a document may.
        NoTextError: no text in body, tables, boxes and notes.
    """
    check_package(path, display_name, limits)
    try:
        with read_package(path) as file:
            document = docx.Document(file)
        reader = _Reader(document, limits)
        blocks = reader.read()
        title = own_title(document.core_properties.title)
    except _VENDOR_ERRORS as exc:
        raise CorruptDocumentError(f"{display_name}: not a readable Word document ({type(exc).__name__})") from exc
    if not blocks:
        raise NoTextError(f"{display_name}: the document has no text, and no picture with text that OCR may read")
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="docx", blocks=tuple(blocks), title=reader.title or title or heading, notes=reader.notes()
    )


class _Reader:
    """Reads one document's body in order."""

    def __init__(self, document: Any, limits: ParserSettings) -> None:
        part = document.part
        self._limits = limits
        self._scanned = 0
        self._body: Element = document.element.body
        self._styles = Styles.of(_related(part, RT.STYLES))
        self._numbering = Numbering.of(_related(part, RT.NUMBERING))
        self._notes = Notes(part)
        self._part = part
        self._headers, self._footers, self._left_out = furniture(self._body, part)
        self._items: list[str] = []
        self._blocks: list[Block] = []
        self._plain: list[tuple[int, Element]] = []
        """Block index and paragraph of what may be a heading without a style."""
        self.title = ""

    def read(self) -> list[Block]:
        self._container(self._body)
        self._flush_list()
        if not any(block.kind == "heading" for block in self._blocks):
            self._promote_unstyled_headings()
        body = [*self._blocks, *self._notes.rest()] or self._scans()
        # A page of letterhead alone is a document without text.
        return [*self._headers, *body, *self._footers] if body else []

    def _scans(self) -> list[Block]:
        """Read the pictures of a document that has no other text: pages that were scanned into Word."""
        texts = list(picture_texts(self._body, self._part, self._limits, _MAX_SCANS))
        self._scanned = len(texts)
        return [Block(kind="paragraph", text=text) for text in texts]

    def notes(self) -> tuple[str, ...]:
        said: list[str] = []
        if self._scanned:
            said.append(f"the document has no text but in pictures, of which OCR read {self._scanned}")
        kept = len(self._headers) + len(self._footers)
        if kept:
            said.append(f"{kept} page headers and footers stand once, at the start and the end")
        if self._left_out:
            said.append(f"{self._left_out} page headers and footers with page numbers alone were left out")
        if self._notes.comments:
            said.append(f"{self._notes.comments} comments stand after what they refer to")
        if self._notes.count:
            said.append(f"{self._notes.count} footnotes and endnotes stand after the paragraph that refers to them")
        return tuple(said)

    def _container(self, root: Element) -> None:
        for element in _flow(root):
            if element.tag == qn("w:p"):
                self._paragraph(element)
            else:
                self._table(element)

    def _paragraph(self, paragraph: Element) -> None:
        text = paragraph_text(paragraph)
        number = self._styles.number(paragraph)
        if text:
            level = self._styles.heading_level(paragraph)
            marker = self._numbering.next(*number) if number is not None else ""
            if level or self._styles.is_title(paragraph):
                self._heading(text.replace("\n", " "), level, marker)
            elif number is not None:
                self._items.append("  " * min(number[1], 8) + f"{marker} {text}".strip())
            else:
                self._text(text, paragraph)
        for box in text_boxes(paragraph):
            self._flush_list()
            self._container(box)
        self._attached(paragraph)

    def _attached(self, element: Element) -> None:
        """Add what a paragraph or table carries beside its text."""
        attached = [*anchored_blocks(element, self._part), *self._notes.after(element)]
        if attached:
            self._flush_list()
            self._blocks.extend(attached)

    def _heading(self, text: str, level: int, marker: str) -> None:
        self._flush_list()
        if not level:
            self.title = self.title or text
        said = f"{marker} {text}" if marker and marker != "-" else text
        self._blocks.append(Block(kind="heading", text=said, level=level or 1))

    def _text(self, text: str, paragraph: Element) -> None:
        self._flush_list()
        if self._styles.is_caption(paragraph):
            self._blocks.append(Block(kind="caption", text=text))
            return
        self._plain.append((len(self._blocks), paragraph))
        self._blocks.append(Block(kind="paragraph", text=text))

    def _table(self, table: Element) -> None:
        self._flush_list()
        frame = layout_cell(table)
        if frame is not None:
            self._container(frame)
            return
        block = docx_table(table, self._cell_paragraph)
        if block is not None:
            self._blocks.append(block)
        self._attached(table)

    def _cell_paragraph(self, paragraph: Element) -> str:
        text = paragraph_text(paragraph)
        number = self._styles.number(paragraph) if text else None
        return text if number is None else f"{self._numbering.next(*number)} {text}".strip()

    def _flush_list(self) -> None:
        if self._items:
            self._blocks.append(Block(kind="list", text="\n".join(self._items)))
            self._items = []

    def _promote_unstyled_headings(self) -> None:
        """Without any heading style, numbers (`第三章`, `1.2`) and bold short lines are the headings."""
        ranks: dict[int, int] = {}
        for index, paragraph in self._plain:
            text = self._blocks[index].text
            number = heading_number(text)
            if number is not None and is_numbered_heading(text):
                ranks[index] = number.rank
            elif reads_like_heading(text) and "\n" not in text and self._styles.is_bold(paragraph):
                ranks[index] = number.rank if number is not None else 0
        levels = number_levels(ranks.values())
        for index, rank in ranks.items():
            self._blocks[index] = Block(kind="heading", text=self._blocks[index].text, level=levels[rank])


def _flow(root: Element) -> Iterator[Element]:
    """Yield the paragraphs and tables of a container in order, through content controls."""
    stack = list(reversed(list(root)))
    while stack:
        element = stack.pop()
        if element.tag in (qn("w:p"), qn("w:tbl")):
            yield element
        elif element.tag in _WRAPPERS:
            stack.extend(reversed(list(element)))


def _related(part: Any, relation: str) -> Element | None:
    return next(part_roots(part, (relation,)), None)
