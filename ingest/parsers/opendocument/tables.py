"""OpenDocument tables: spans, repeated rows and columns, header rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ingest.parsers.grid import MAX_CELLS, MAX_COLUMNS, Cell, table_block
from ingest.parsers.office.drawing_text import Element
from ingest.parsers.opendocument.package import odf, whole
from ingest.types import Block

_ROW, _CELL = odf("table:table-row"), odf("table:table-cell")
_HEADERS = odf("table:table-header-rows")
_ROW_GROUPS = frozenset({odf("table:table-rows"), odf("table:table-row-group"), _HEADERS})
_MAX_REPEATED = 1_000
"""Times a row with text is repeated; the number is an attacker's otherwise."""
_FAR = 10_000_000


def odf_table(table: Element, text_of: Callable[[Element], str]) -> Block | None:
    """Build the block of a table; None when it has no text.

    `text_of` gives the text of a cell, called for each in order.
    """
    rows: list[list[Cell]] = []
    places = 0
    for row, header in _rows(table):
        cells = _row(row, header, text_of)
        if places > MAX_CELLS:
            break
        said = any(cell.text for cell in cells)
        for _ in range(whole(row.get(odf("table:number-rows-repeated")), 1, _MAX_REPEATED) if said else 1):
            rows.append(cells)
            places += max(1, len(cells))
    return table_block(rows)


def layout_cell(table: Element) -> Element | None:
    """Return the only cell of a one-cell table: a frame around text, not a table."""
    cells = [cell for row, _ in _rows(table) for cell in row.iterchildren(_CELL)]
    return cells[0] if len(cells) == 1 else None


def _rows(table: Element) -> Iterator[tuple[Element, bool]]:
    """Yield the rows in order, through groups, and whether each is a header."""
    stack = [(child, False) for child in reversed(list(table))]
    while stack:
        element, header = stack.pop()
        if element.tag == _ROW:
            yield element, header
        elif element.tag in _ROW_GROUPS:
            stack.extend((child, header or element.tag == _HEADERS) for child in reversed(list(element)))


def _row(row: Element, header: bool, text_of: Callable[[Element], str]) -> list[Cell]:
    """Return the cells that begin in a row; covered ones are left to the spans that cover them."""
    cells: list[Cell] = []
    for element in row.iterchildren(_CELL):
        columns = whole(element.get(odf("table:number-columns-spanned")), 1, MAX_COLUMNS)
        height = whole(element.get(odf("table:number-rows-spanned")), 1, _FAR)
        cell = Cell(text_of(element), max(1, columns), max(1, height), header)
        room = MAX_COLUMNS - len(cells)
        cells.extend([cell] * min(whole(element.get(odf("table:number-columns-repeated")), 1, _FAR), room))
    return cells
