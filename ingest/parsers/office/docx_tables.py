"""WordprocessingML tables: merged cells as spans, each cell's text once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from docx.oxml.ns import qn

from ingest.parsers.grid import MAX_COLUMNS, Cell, guess_header_rows, table_block
from ingest.parsers.office.docx_text import Element, descend, paragraph_text, text_boxes
from ingest.types import Block


@dataclass
class _Open:
    """A cell under construction: later rows may continue it."""

    text: str
    column: int
    columns: int
    rows: int = 1


def docx_table(table: Element, text_of: Callable[[Element], str] = paragraph_text) -> Block | None:
    """Build the block of a table; None when it has no text. Text in a covered cell joins its origin's.

    `text_of` gives the text of a paragraph, called for each in order.
    """
    rows: list[list[_Open]] = []
    headers = 0
    above: dict[int, _Open] = {}
    for row in _children(table, qn("w:tr")):
        if headers == len(rows) and _is_header(row):
            headers += 1
        cells, above = _read_row(row, above, text_of)
        rows.append(cells)
    spans = [[_cell(cell) for cell in row] for row in _padded(rows)]
    return table_block(spans, headers or guess_header_rows(spans))


def layout_cell(table: Element) -> Element | None:
    """Return the only cell of a one-cell table: a frame around text, not a table."""
    rows = list(_children(table, qn("w:tr")))
    cells = [cell for row in rows for cell in _children(row, qn("w:tc"))]
    return cells[0] if len(cells) == 1 else None


def _children(parent: Element, tag: str) -> Iterator[Element]:
    """Yield children by tag, through content controls and accepted changes."""
    wrappers = {qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml"), qn("w:moveTo")}
    stack = list(reversed(list(parent)))
    while stack:
        element = stack.pop()
        if element.tag == tag:
            yield element
        elif element.tag in wrappers:
            stack.extend(reversed(list(element)))


def _is_header(row: Element) -> bool:
    properties = row.find(qn("w:trPr"))
    mark = None if properties is None else properties.find(qn("w:tblHeader"))
    return mark is not None and mark.get(qn("w:val")) not in ("0", "false", "off")


def _read_row(
    row: Element, above: dict[int, _Open], text_of: Callable[[Element], str]
) -> tuple[list[_Open], dict[int, _Open]]:
    cells: list[_Open] = []
    reach: dict[int, _Open] = {}
    column = _grid_before(row)
    for element in _children(row, qn("w:tc")):
        properties = element.find(qn("w:tcPr"))
        columns = max(1, min(_number(properties, "w:gridSpan", 1), MAX_COLUMNS))
        merge = None if properties is None else properties.find(qn("w:vMerge"))
        origin = above.get(column) if merge is not None and merge.get(qn("w:val")) != "restart" else None
        text = _cell_text(element, text_of)
        if origin is not None and origin.columns == columns:
            origin.rows += 1
            origin.text = f"{origin.text} {text}".strip() if text and text != origin.text else origin.text
            reach[column] = origin
        elif _is_horizontal_continuation(properties) and cells:
            cells[-1].columns += columns
            cells[-1].text = f"{cells[-1].text} {text}".strip()
        else:
            cell = _Open(text, column, columns)
            cells.append(cell)
            reach[column] = cell
        column += columns
    return cells, reach


def _is_horizontal_continuation(properties: Element | None) -> bool:
    merge = None if properties is None else properties.find(qn("w:hMerge"))
    return merge is not None and merge.get(qn("w:val")) != "restart"


def _grid_before(row: Element) -> int:
    return max(0, min(_number(row.find(qn("w:trPr")), "w:gridBefore", 0), MAX_COLUMNS))


def _number(properties: Element | None, name: str, default: int) -> int:
    element = None if properties is None else properties.find(qn(name))
    value = "" if element is None else str(element.get(qn("w:val")) or "")
    return int(value) if value.isdigit() and len(value) < 6 else default


def _padded(rows: list[list[_Open]]) -> Iterator[list[_Open]]:
    """Fill the grid positions a row leaves out, so that the cells keep their columns."""
    covered: dict[int, int] = {}
    for row in rows:
        line: list[_Open] = []
        column = 0
        for cell in row:
            while column < cell.column:
                if covered.get(column, 0) <= 0:
                    line.append(_Open("", column, 1))
                column += 1
            line.append(cell)
            column = cell.column + cell.columns
        covered = {at: left - 1 for at, left in covered.items() if left > 1}
        for cell in row:
            for at in range(cell.column, cell.column + cell.columns):
                if cell.rows > 1:
                    covered[at] = cell.rows - 1
        yield line


def _cell(cell: _Open) -> Cell:
    return Cell(cell.text, cell.columns, cell.rows)


def _cell_text(element: Element, text_of: Callable[[Element], str]) -> str:
    """Return the text of a cell, nested tables and text boxes included, each paragraph once."""
    parts: list[str] = []
    for child in descend(element):
        if child.tag == qn("w:p"):
            parts.append(text_of(child))
            for box in text_boxes(child):
                parts.extend(text_of(inner) for inner in box.iter(qn("w:p")))
    return " ".join(part for part in parts if part)
