"""One slide as blocks: its title apart, its shapes in reading order, then comments and speaker notes."""

# python-pptx and lxml type little of what is used here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.parsers.grid import MAX_COLUMNS, Cell, guess_header_rows, table_block
from ingest.parsers.office.drawing_chart import CHARTS, chart_blocks
from ingest.parsers.office.drawing_diagram import DATA_ID, DIAGRAM_IDS, diagram_list
from ingest.parsers.office.drawing_text import RELATIONSHIP_ID, A, Element, body_text, paragraph_text, paragraphs
from ingest.parsers.office.office_parts import part_root, part_roots
from ingest.parsers.office.office_pictures import picture_texts
from ingest.parsers.office.pptx_comments import COMMENT_RELATIONS, comment_texts
from ingest.parsers.office.pptx_inherit import TITLES, AutoNumbers, Inheritance, P, placeholder_type
from ingest.parsers.office.pptx_shapes import alternative_text, shapes_in_order
from ingest.parsers.office.slide_titles import leads_as_title
from ingest.settings import ParserSettings
from ingest.types import Block, BlockKind

_TITLE_RANK, _SECTION_RANK, _SLIDE_RANK = 1, 2, 3
_MAX_PICTURES = 8
"""Pictures read on one slide; each takes seconds."""
_NOTES_MARK = "Speaker notes: "


@dataclass(slots=True)
class Slide:
    """What one slide gave."""

    number: int
    hidden: bool
    rank: int = _SLIDE_RANK
    title: str = ""
    blocks: list[Block] = field(default_factory=list[Block])
    ocr: bool = False
    """Its text was read from its pictures."""
    extras: Counter[str] = field(default_factory=Counter[str])

    @property
    def is_title_slide(self) -> bool:
        """True for the layout that opens a presentation."""
        return self.rank == _TITLE_RANK

    @property
    def characters(self) -> int:
        """Characters of title and blocks."""
        return len(self.title) + sum(len(block.text) for block in self.blocks)


class SlideReader:
    """Reads one slide; `authors` names the authors of comments by their ids."""

    def __init__(
        self, slide: Any, number: int, inheritance: Inheritance, authors: dict[str, str], limits: ParserSettings
    ) -> None:
        self._limits = limits
        self._part = slide.part
        self._element: Element = slide.element
        self._inheritance = inheritance
        self._authors = authors
        self._slide = Slide(number, hidden=self._element.get("show") in ("0", "false"))
        layout = slide.slide_layout.element.get("type")
        self._slide.rank = {"title": _TITLE_RANK, "secHead": _SECTION_RANK}.get(str(layout), _SLIDE_RANK)

    def read(self) -> Slide:
        """Return the slide's title and blocks."""
        tree = self._element.find(f"{P}cSld/{P}spTree")
        for shape in () if tree is None else shapes_in_order(tree, self._inheritance):
            self._shape(shape)
        if not self._slide.characters and tree is not None:
            self._pictures(tree)
        if not self._slide.title and not self._slide.ocr and leads_as_title(self._slide.blocks):
            self._slide.title = self._slide.blocks.pop(0).text
        self._comments()
        self._speaker_notes()
        return self._slide

    def _add(self, kind: BlockKind, text: str) -> None:
        if text.strip():
            number = self._slide.number
            self._slide.blocks.append(Block(kind=kind, text=text, page_number=number, page_end=number))

    def _shape(self, shape: Element) -> None:
        kind = placeholder_type(shape)
        body = shape.find(f"{P}txBody")
        if kind in TITLES and not self._slide.title:
            self._slide.title = " ".join(body_text(body, " ").split())
            if kind == "ctrTitle" and self._slide.rank == _SLIDE_RANK:
                self._slide.rank = _TITLE_RANK
        elif body is not None:
            self._text(shape, body)
        elif shape.tag == f"{P}graphicFrame":
            self._graphic(shape)
        if shape.tag in (f"{P}pic", f"{P}graphicFrame"):
            self._add("caption", alternative_text(shape))

    def _text(self, shape: Element, body: Element) -> None:
        """Add the paragraphs of a text body; those with bullets or numbers in a row are one list."""
        items: list[str] = []
        numbers = AutoNumbers()
        for paragraph in paragraphs(body):
            text = paragraph_text(paragraph)
            if not text:
                continue
            level = _level(paragraph)
            marker = numbers.marker(self._inheritance.bullet(shape, paragraph, level), level)
            if marker:
                items.append("  " * level + f"{marker} " + text.replace("\n", " "))
                continue
            self._add("list", "\n".join(items))
            items = []
            self._add("paragraph", text)
        self._add("list", "\n".join(items))

    def _graphic(self, frame: Element) -> None:
        for graphic in frame.iterfind(f"{A}graphic/{A}graphicData"):
            for child in graphic:
                if child.tag == f"{A}tbl":
                    self._blocks([_table(child)])
                elif child.tag == DIAGRAM_IDS:
                    root = part_root(self._part, child.get(DATA_ID))
                    self._add("list", "" if root is None else diagram_list(root))
                elif child.tag in CHARTS:
                    root = part_root(self._part, child.get(RELATIONSHIP_ID))
                    self._blocks([] if root is None else chart_blocks(root))
                else:
                    self._slide.extras["objects"] += 1

    def _blocks(self, blocks: Sequence[Block | None]) -> None:
        place = {"page_number": self._slide.number, "page_end": self._slide.number}
        self._slide.blocks.extend(block.model_copy(update=place) for block in blocks if block is not None)

    def _pictures(self, tree: Element) -> None:
        """Read the pictures of a slide that has no other text: scans, exported pages, screenshots."""
        for text in picture_texts(tree, self._part, self._limits, _MAX_PICTURES):
            self._slide.ocr = True
            self._add("paragraph", text)

    def _comments(self) -> None:
        for root in part_roots(self._part, COMMENT_RELATIONS):
            for text in comment_texts(root, self._authors):
                self._slide.extras["comments"] += 1
                self._add("paragraph", text)

    def _speaker_notes(self) -> None:
        if not self._part.has_notes_slide:
            return
        tree = self._part.notes_slide.element.find(f"{P}cSld/{P}spTree")
        texts = [] if tree is None else list(_notes_texts(tree))
        if texts:
            self._slide.extras["speaker notes"] += 1
            self._add("paragraph", _NOTES_MARK + texts[0])
            for text in texts[1:]:
                self._add("paragraph", text)


def _notes_texts(tree: Element) -> Iterator[str]:
    for shape in shapes_in_order(tree, Inheritance()):
        for paragraph in paragraphs(shape.find(f"{P}txBody")):
            text = paragraph_text(paragraph)
            if text:
                yield text


def _level(paragraph: Element) -> int:
    properties = paragraph.find(f"{A}pPr")
    value = "" if properties is None else str(properties.get("lvl") or "0")
    return min(int(value), 8) if value.isdigit() else 0


def _table(table: Element) -> Block | None:
    """Build the block of an `a:tbl`: covered cells are marked, so that each row lists the cells that begin in it."""
    rows: list[list[Cell]] = []
    for row in table.iterfind(f"{A}tr"):
        cells: list[Cell] = []
        for cell in list(row.iterfind(f"{A}tc"))[:MAX_COLUMNS]:
            if cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
                continue
            text = body_text(cell.find(f"{A}txBody"), " ")
            cells.append(Cell(text, _span(cell.get("gridSpan")), _span(cell.get("rowSpan"))))
        rows.append(cells)
    properties = table.find(f"{A}tblPr")
    first_row = properties is not None and properties.get("firstRow") in ("1", "true")
    headers = guess_header_rows(rows)
    return table_block(rows, max(headers, 1) if first_row and len(rows) > 1 else headers)


def _span(value: object) -> int:
    text = str(value or "1")
    return int(text) if text.isdigit() and len(text) < 6 else 1
