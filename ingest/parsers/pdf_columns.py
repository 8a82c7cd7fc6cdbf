"""Tables without rules: runs of rows whose pieces stand in the same columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from ingest.parsers.grid import Cell, table_block
from ingest.parsers.pdf_lines import Line, median_size, rows_of
from ingest.parsers.pdf_tables import FoundTable, on_page

_MIN_ROWS = 3
_WIDE = 4
"""Columns from which two rows are enough."""
_MIN_GAP = 1.2
"""Between cells, in type sizes; words stand closer."""


def borderless_tables(lines: Sequence[Line]) -> list[FoundTable]:
    """Find runs of rows whose pieces stand in the same columns; two columns count only where one holds figures."""
    found: list[FoundTable] = []
    run: list[list[Line]] = []
    for row in [*rows_of([line for line in lines if line.upright]), []]:
        if len(row) >= 2 and _is_spread(row) and (not run or _is_near(run[-1], row)):
            run.append(row)
            continue
        table = _borderless(run)
        if table is not None:
            found.append(table)
        run = [row] if len(row) >= 2 and _is_spread(row) else []
    return found


def _is_spread(row: Sequence[Line]) -> bool:
    gaps = [right.x0 - left.x1 for left, right in pairwise(row)]
    return min(gaps) >= _MIN_GAP * median_size(row)


def _is_near(above: Sequence[Line], below: Sequence[Line]) -> bool:
    return below[0].y0 - above[0].y1 < 2.5 * median_size(above)


def _borderless(run: Sequence[Sequence[Line]]) -> FoundTable | None:
    width = max((len(row) for row in run), default=0)
    if len(run) < (2 if width >= _WIDE else _MIN_ROWS):
        return None
    columns = _columns(run)
    if len(columns) != width:
        # A title cell over several columns joins them: let the usual rows say where the columns are.
        width = Counter(len(row) for row in run).most_common(1)[0][0]
        columns = _columns([row for row in run if len(row) == width])
    if len(columns) != width or width < 2:
        return None
    pieces = [piece for row in run for piece in row]
    if median(len(piece.text) for piece in pieces) > 30 or (width == 2 and not _has_figures(run)):
        return None
    rows = [_spanned(row, columns) for row in run]
    if any(row is None for row in rows):
        return None
    area = (
        min(piece.x0 for piece in pieces),
        min(piece.y0 for piece in pieces),
        max(piece.x1 for piece in pieces),
        max(piece.y1 for piece in pieces),
    )
    block = on_page(table_block([row for row in rows if row is not None]), pieces[0].page_number, area)
    return None if block is None else FoundTable(block, area)


def _columns(rows: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """Return the x ranges that the pieces of all rows cover, merged where they overlap."""
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted((piece.x0, piece.x1) for row in rows for piece in row):
        if columns and x0 <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    return columns


def _spanned(row: Sequence[Line], columns: Sequence[tuple[float, float]]) -> list[Cell] | None:
    """Place pieces in columns, a wide one over several; None where two pieces claim one column."""
    cells: list[Cell] = []
    column = 0
    for piece in row:
        touched = [index for index, (x0, x1) in enumerate(columns) if piece.x0 < x1 and piece.x1 > x0]
        if not touched or touched[0] < column:
            return None
        cells.extend(Cell("") for _ in range(touched[0] - column))
        cells.append(Cell(piece.text, touched[-1] - touched[0] + 1))
        column = touched[-1] + 1
    return cells


def _has_figures(run: Sequence[Sequence[Line]]) -> bool:
    last = [row[-1].text for row in run]
    return (
        sum(1 for text in last if any(character.isdigit() for character in text) and len(text) < 25) * 3
        >= len(last) * 2
    )
