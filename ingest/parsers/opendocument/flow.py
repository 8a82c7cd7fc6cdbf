"""Reads OpenDocument content in order into blocks: text, lists, tables, frames, notes, comments."""

from __future__ import annotations

from collections.abc import Iterable

from ingest.parsers.office.drawing_text import Element, description
from ingest.parsers.office.office_comments import marked_comment
from ingest.parsers.opendocument.lists import MAX_LEVEL, Counters, OdfNumbers
from ingest.parsers.opendocument.objects import chart_blocks, formula_text, object_root
from ingest.parsers.opendocument.package import OdfPackage, OdfStyles, children, odf, whole
from ingest.parsers.opendocument.tables import layout_cell, odf_table
from ingest.parsers.opendocument.text import is_shape, paragraph_parts, plain_text
from ingest.types import Block

_PARAGRAPH, _HEADING = odf("text:p"), odf("text:h")
_ANNOTATION, _NOTE = odf("office:annotation"), odf("text:note")
_SKIPPED = frozenset({
    odf("text:tracked-changes"),
    odf("office:forms"),
    odf("presentation:notes"),
    odf("text:index-title-template"),
    odf("draw:glue-point"),
})
_CAPTION_STYLES = frozenset({"Caption", "Illustration", "Table", "Drawing", "Figure", "Text"})
_WORDS = {"footnote": "Footnote", "endnote": "Endnote"}
_MAX_DEPTH = 100
"""What lies deeper is read as plain text."""


class OdfFlow:
    """Collects the blocks of one document; containers may be given one after the other."""

    def __init__(self, package: OdfPackage) -> None:
        """Take the document and its styles."""
        self._package = package
        self.styles = OdfStyles(package.styles, package.content)
        self._numbers = OdfNumbers(self.styles)
        self._items: list[str] = []
        self._blocks: list[Block] = []
        self._depth = 0
        self.plain: list[tuple[int, Element]] = []
        """Block index and element of paragraphs that may be headings without a style."""
        self.title = ""
        self.note_count = 0
        self.comment_count = 0

    @property
    def blocks(self) -> list[Block]:
        """What was read so far."""
        self._flush_list()
        return self._blocks

    def read(self, elements: Iterable[Element]) -> None:
        """Read elements in order; what is no text, table or shape is entered."""
        self._depth += 1
        for element in elements:
            if not isinstance(element.tag, str) or element.tag in _SKIPPED:
                continue
            if self._depth < _MAX_DEPTH:
                self._element(element)
            elif text := plain_text(element):
                self._add(Block(kind="paragraph", text=text))
        self._depth -= 1

    def _element(self, element: Element) -> None:
        if element.tag == _PARAGRAPH:
            self._paragraph(element)
        elif element.tag == _HEADING:
            level = max(1, whole(element.get(odf("text:outline-level")), 1, MAX_LEVEL))
            self._heading(element, self._numbers.heading(element, level), level)
        elif element.tag == odf("text:list"):
            self._list(element, self._numbers.open(element), self._style_of(element), 1)
        elif element.tag == odf("table:table"):
            self._table(element)
        elif element.tag in (_ANNOTATION, _NOTE):
            self._beside([element])
        elif is_shape(element):
            self._shape(element)
        else:
            self.read(element)

    def _paragraph(self, element: Element) -> None:
        text, beside = paragraph_parts(element, self._formula)
        names = self.styles.names(element) if text else frozenset[str]()
        if text and "Title" in names:
            self.title = self.title or text
            self._add(Block(kind="heading", text=text.replace("\n", " "), level=1))
        elif text and names & _CAPTION_STYLES:
            self._add(Block(kind="caption", text=text))
        elif text:
            self._flush_list()
            self.plain.append((len(self._blocks), element))
            self._add(Block(kind="paragraph", text=text))
        self._beside(beside)

    def _heading(self, element: Element, marker: str, level: int) -> None:
        text, beside = paragraph_parts(element, self._formula)
        if text:
            said = f"{marker} {text}" if marker not in ("", "-") else text
            self._add(Block(kind="heading", text=said.replace("\n", " "), level=min(level, 6)))
        self._beside(beside)

    def _list(self, element: Element, counters: Counters, style: str | None, level: int) -> None:
        for item in children(element, "text:list-item", "text:list-header"):
            start = item.get(odf("text:start-value"))
            numbered = item.tag == odf("text:list-item")
            for child in item:
                if child.tag == odf("text:list") and level < MAX_LEVEL:
                    self._list(child, counters, child.get(odf("text:style-name")) or style, level + 1)
                elif child.tag in (_PARAGRAPH, _HEADING):
                    marker = self._numbers.item(counters, style, level, start) if numbered else ""
                    self._item(child, marker, level)
                    # Further paragraphs of an item have no marker of their own.
                    numbered, start = False, None
                else:
                    self.read([child])

    def _item(self, element: Element, marker: str, level: int) -> None:
        if element.tag == _HEADING:
            self._heading(element, marker, max(1, whole(element.get(odf("text:outline-level")), level, MAX_LEVEL)))
            return
        text, beside = paragraph_parts(element, self._formula)
        if text:
            self._items.append("  " * (level - 1) + f"{marker} {text}".strip().replace("\n", " "))
        self._beside(beside)

    def _style_of(self, element: Element) -> str | None:
        name = element.get(odf("text:style-name"))
        if name:
            return name
        first = next(element.iter(_PARAGRAPH), None)
        return None if first is None else self.styles.list_of(first)

    def _table(self, table: Element) -> None:
        frame = layout_cell(table)
        if frame is not None:
            self.read(frame)
            return
        beside: list[Element] = []
        block = odf_table(table, lambda cell: self._cell(cell, beside))
        if block is not None:
            self._add(block)
        self._beside(beside)

    def _cell(self, cell: Element, beside: list[Element]) -> str:
        """Return the text of a cell in one line; what stands in notes and frames is read after the table."""
        texts: list[str] = []
        # Each entry is an element with the marker of the list item that it opens.
        stack = [(child, "") for child in reversed(list(cell))]
        while stack:
            element, marker = stack.pop()
            if element.tag in (_PARAGRAPH, _HEADING):
                text, found = paragraph_parts(element, self._formula)
                texts.append(f"{marker} {text}".strip() if text else "")
                beside.extend(found)
            elif is_shape(element) or element.tag in (_ANNOTATION, _NOTE):
                beside.append(element)
            elif element.tag == odf("text:list"):
                stack.extend(reversed(self._cell_items(element)))
            else:
                stack.extend((child, "") for child in reversed(list(element)))
        return " ".join(filter(None, texts))

    def _cell_items(self, element: Element) -> list[tuple[Element, str]]:
        counters, style = self._numbers.open(element), self._style_of(element)
        items: list[tuple[Element, str]] = []
        for item in children(element, "text:list-item", "text:list-header"):
            marker = self._numbers.item(counters, style, 1) if item.tag == odf("text:list-item") else ""
            items.extend((child, marker if index == 0 else "") for index, child in enumerate(item))
        return items

    def _beside(self, elements: list[Element]) -> None:
        for element in elements:
            if element.tag == _NOTE:
                self._note(element)
            elif element.tag == _ANNOTATION:
                self._comment(element)
            else:
                self._shape(element)

    def _note(self, note: Element) -> None:
        text = plain_text(next(children(note, "text:note-body"), None))
        if text:
            self.note_count += 1
            word = _WORDS.get(str(note.get(odf("text:note-class"))), "Footnote")
            self._add(Block(kind="paragraph", text=f"{word} {self.note_count}: {text}"))

    def _comment(self, comment: Element) -> None:
        text = plain_text(comment)
        if text:
            self.comment_count += 1
            name, date = (" ".join(str(comment.findtext(odf(one)) or "").split()) for one in ("dc:creator", "dc:date"))
            self._add(Block(kind="paragraph", text=marked_comment(name, text, date)))

    def _shape(self, shape: Element) -> None:
        root = object_root(shape, self._package)
        formula = formula_text(root)
        if formula:
            self._add(Block(kind="paragraph", text=formula))
        for block in chart_blocks(root):
            self._add(block)
        self.read(child for child in shape if not str(child.tag).startswith(odf("svg:")))
        described = (shape.findtext(odf("svg:desc")) or shape.findtext(odf("svg:title"))) if not formula else ""
        if description(described):
            self._add(Block(kind="caption", text=description(described)))

    def _formula(self, shape: Element) -> str | None:
        return formula_text(object_root(shape, self._package))

    def _add(self, block: Block) -> None:
        self._flush_list()
        self._blocks.append(block)

    def _flush_list(self) -> None:
        if self._items:
            self._blocks.append(Block(kind="list", text="\n".join(self._items)))
            self._items = []
