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
from ingest.parsers.docx_numbering import Numbering
from ingest.parsers.docx_package import check_package, read_package
from ingest.parsers.docx_styles import Styles
from ingest.parsers.docx_tables import docx_table, layout_cell
from ingest.parsers.docx_text import Element, note_references, paragraph_text, text_boxes
from ingest.parsers.numbering import heading_number, is_numbered_heading, number_levels, reads_like_heading
from ingest.parsers.session import QUIET, ParseSession
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
_NOTE_WORDS = {"footnote": "Footnote", "endnote": "Endnote"}
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
        reader = _Reader(document)
        blocks = reader.read()
        title = (document.core_properties.title or "").strip()
    except _VENDOR_ERRORS as exc:
        raise CorruptDocumentError(f"{display_name}: not a readable Word document ({type(exc).__name__})") from exc
    if not blocks:
        raise NoTextError(f"{display_name}: the document has no text; pictures would need OCR")
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="docx", blocks=tuple(blocks), title=reader.title or title or heading, notes=reader.notes()
    )


class _Reader:
    """Reads one document's body in order."""

    def __init__(self, document: Any) -> None:
        part = document.part
        self._body: Element = document.element.body
        self._styles = Styles.of(_related(part, RT.STYLES))
        self._numbering = Numbering.of(_related(part, RT.NUMBERING))
        self._note_texts = {
            **_notes(_related(part, RT.FOOTNOTES), "footnote"),
            **_notes(_related(part, RT.ENDNOTES), "endnote"),
        }
        self._furniture = _furniture_count(part)
        self._comments = _related(part, RT.COMMENTS) is not None
        self._note_count = 0
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
        return self._blocks

    def notes(self) -> tuple[str, ...]:
        said: list[str] = []
        if self._furniture:
            said.append(f"{self._furniture} page headers and footers with text were left out")
        if self._comments:
            said.append("comments were left out")
        if self._note_count:
            said.append(f"{self._note_count} footnotes and endnotes stand after the paragraph that refers to them")
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
        for kind, note_id in note_references(paragraph):
            note = self._note_texts.pop((kind, note_id), "")
            if note:
                self._flush_list()
                self._note_count += 1
                self._blocks.append(Block(kind="paragraph", text=f"{_NOTE_WORDS[kind]} {self._note_count}: {note}"))

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
        block = docx_table(table)
        if block is not None:
            self._blocks.append(block)

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
    """Return the XML root of a related part; None where it is missing or unreadable."""
    try:
        related = part.part_related_by(relation)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        return etree.fromstring(related.blob, parser)
    except (KeyError, ValueError, etree.LxmlError):
        return None


def _notes(root: Element | None, kind: str) -> dict[tuple[str, str], str]:
    notes: dict[tuple[str, str], str] = {}
    for note in () if root is None else root.iterchildren(qn(f"w:{kind}")):
        if note.get(qn("w:type")) in ("separator", "continuationSeparator", "continuationNotice"):
            continue
        text = " ".join(filter(None, (paragraph_text(paragraph) for paragraph in note.iter(qn("w:p")))))
        notes[kind, str(note.get(qn("w:id")))] = text
    return notes


def _furniture_count(part: Any) -> int:
    """Count page headers and footers that have text."""
    count = 0
    for relation in part.rels.values():
        if relation.reltype not in (RT.HEADER, RT.FOOTER) or relation.is_external:
            continue
        try:
            root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
        except (ValueError, etree.LxmlError):
            continue
        count += any((text.text or "").strip() for text in root.iter(qn("w:t")))
    return count
