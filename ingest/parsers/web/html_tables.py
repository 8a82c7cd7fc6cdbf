"""HTML tables: cells with spans, and which tables only lay out a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from ingest.parsers.grid import Cell, expand
from ingest.parsers.text.joining import collapse
from ingest.parsers.web.html_dom import BLOCKS, CELLS, HEADINGS, inline_mark, texts, walk

_LONG_CELL = 1000
"""Characters above which a cell of several paragraphs is a column of the page, not of a table."""


def table_rows(table: LexborNode) -> list[list[Cell]] | None:
    """Return the cells by row, or None where the table only lays out a page.

    Header cells, a border or a caption make a table of data. Without any of them, nested
    tables, headings, code, long cells of several paragraphs or a single column say that
    it is none: its content is then read as if the table were not there.
    """
    is_data = _says_data(table)
    reader = _Reader(table)
    if not reader.read(stop_at_layout=not is_data):
        return None
    rows = reader.rows
    if not is_data and len({index for row in expand(rows) for index, text in enumerate(row) if text}) < 2:
        return None
    return rows if max((sum(cell.columns for cell in row) for row in rows), default=0) > 1 else None


def caption_of(table: LexborNode) -> str:
    """Return the table's caption; empty where it has none."""
    caption = next((child for child in table.iter() if child.tag == "caption"), None)
    return collapse("".join(texts(caption))) if caption is not None else ""


def _says_data(table: LexborNode) -> bool:
    attributes = table.attributes
    if attributes.get("role") in ("presentation", "none"):
        return False
    if (attributes.get("border") or "0").strip() not in ("", "0") or caption_of(table):
        return True
    depth = 0
    for event, node in walk(table):
        if node.tag == "table":
            depth += 1 if event == "enter" else -1
        elif depth == 1 and event == "enter" and node.tag == "th":
            return True
    return False


@dataclass
class _Reader:
    """Folds the walk's events into rows of cells; a table in a cell becomes part of the cell's text."""

    table: LexborNode
    rows: list[list[Cell]] = field(default_factory=list[list[Cell]])
    _words: list[str] | None = None
    _paragraphs: int = 0
    _inner: int = 0
    _in_head: bool = False

    def read(self, *, stop_at_layout: bool) -> bool:
        """Read all rows; False as soon as something shows that the table is for layout."""
        for event, node in walk(self.table):
            if event == "text":
                self._text(node)
            elif node.tag == "table" and node.mem_id != self.table.mem_id:
                if stop_at_layout:
                    return False
                self._inner += 1 if event == "enter" else -1
            elif event == "enter":
                if stop_at_layout and (node.tag in HEADINGS or node.tag == "pre"):
                    return False
                self._enter(node)
            elif not self._leave(node) and stop_at_layout:
                return False
        return True

    def _text(self, node: LexborNode) -> None:
        if self._words is not None:
            self._words.append(node.text_content or "")

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if self._inner or tag not in ("thead", "tr", *CELLS):
            self._inside(node)
        elif tag == "thead":
            self._in_head = True
        elif tag == "tr":
            self.rows.append([])
        else:
            self._words, self._paragraphs = [], 0

    def _inside(self, node: LexborNode) -> None:
        if self._words is None:
            return
        if node.tag in BLOCKS:
            self._words.append(" ")
            self._paragraphs += node.tag in ("p", "li", "div")
        else:
            self._words.append(inline_mark(node, self._words[-1] if self._words else ""))

    def _leave(self, node: LexborNode) -> bool:
        """Close an element; False where a cell is too long for a table of data."""
        if self._inner or self._words is None:
            if node.tag == "thead" and not self._inner:
                self._in_head = False
            return True
        if node.tag in BLOCKS and node.tag not in CELLS:
            self._words.append(" ")
        if node.tag not in CELLS:
            return True
        if not self.rows:
            self.rows.append([])
        text = collapse("".join(self._words))
        height = _span(node, "rowspan") or len(self.rows) + 65534
        header = self._in_head or node.tag == "th"
        self.rows[-1].append(Cell(text, max(1, _span(node, "colspan")), height, header=header))
        self._words = None
        return self._paragraphs < 2 or len(text) < _LONG_CELL


def _span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "1").strip()
    return int(value) if re.fullmatch(r"\d{1,5}", value) else 1
