"""Tables from cells with spans: merged cells expanded, all rows of equal length.

F15's rule, in one place for every format. A merged cell's text is repeated
where a row or a column would otherwise lose its label: down the rows, and
across the header rows. Across a body row it stands once, in its first column,
so that a note over the whole width is not doubled; nor is a long text repeated
down the rows, because it is no label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.parsers.header_rows import SAMPLE_ROWS, count_headers
from ingest.parsers.header_rows import is_figure as is_figure
from ingest.parsers.header_rows import is_period as is_period
from ingest.parsers.text.joining import collapse
from ingest.types import Block

MAX_COLUMNS = 1024
"""Columns kept of a table; `colspan` is an attacker's number otherwise."""
_MAX_LABEL = 60
"""Characters up to which a cell that reaches over rows is taken for their label."""
MAX_CELLS = 1_000_000
"""Grid positions of one table; row spans beyond it are cut."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as its format has it: text and how many columns and rows it covers."""

    text: str
    columns: int = 1
    rows: int = 1
    header: bool = False


def expand(rows: Sequence[Sequence[Cell]], header_rows: int = 0) -> tuple[tuple[str, ...], ...]:
    """Lay cells out on the grid; each row lists only the cells that begin there, as in HTML.

    Rows that end up without any text are dropped, but no text ever is.
    """
    grid: list[dict[int, str]] = [{} for _ in rows]
    width = 0
    for row_index, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in grid[row_index]:
                column += 1
            columns = max(1, min(cell.columns, MAX_COLUMNS - column)) if column < MAX_COLUMNS else 1
            height = max(1, min(cell.rows, len(rows) - row_index, 1 + MAX_CELLS // (columns * max(1, len(rows)))))
            text = collapse(cell.text)
            across, is_label = row_index < header_rows, len(text) <= _MAX_LABEL
            for down in range(height):
                for right in range(columns):
                    said = (down == 0 or is_label) and (right == 0 or across)
                    grid[row_index + down].setdefault(column + right, text if said else "")
            column += columns
            width = max(width, column)
    table = [tuple(row.get(column, "") for column in range(width)) for row in grid]
    return _without_empty_columns([row for row in table if any(row)])


def render(rows: Sequence[Sequence[str]]) -> str:
    """Return the text of a table: rows joined by newlines, cells by ` | `."""
    return "\n".join(" | ".join(row) for row in rows)


def table_block(rows: Sequence[Sequence[Cell]], header_rows: int | None = None) -> Block | None:
    """Build a table block; None when no cell has text.

    Args:
        rows: the cells that begin in each row.
        header_rows: how many leading rows are the header; None: as the cells say, else guessed.
    """
    headers = guess_header_rows(rows) if header_rows is None else header_rows
    grid = expand(rows, headers)
    if not grid:
        return None
    headers = min(headers, max(0, len(grid) - 1))
    return Block(kind="table", text=render(grid), rows=grid, header_rows=headers)


def text_table(rows: Iterable[Sequence[str]], header_rows: int) -> Block | None:
    """Build a table block from cells without spans; rows may be of different lengths. None when no cell has text."""
    # A cell that is clean already keeps its string: a large table is not in memory twice.
    table = [tuple(text if (clean := collapse(text)) == text else clean for text in row) for row in rows]
    headers = sum(1 for row in table[:header_rows] if any(row))
    table = [row for row in table if any(row)]
    width = max((len(row) for row in table), default=0)
    grid = _without_empty_columns([row + ("",) * (width - len(row)) for row in table])
    if not grid:
        return None
    return Block(kind="table", text=render(grid), rows=grid, header_rows=min(headers, len(grid) - 1))


def guess_header_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """Count the leading header rows: those marked as such, else rows of words over rows with figures."""
    marked = 0
    for row in rows:
        if not any(cell.header for cell in row) or not all(cell.header or not cell.text.strip() for cell in row):
            break
        marked += 1
    if marked:
        return _close_spans(rows, min(marked, len(rows)))
    return _close_spans(rows, count) if (count := count_headers(_texts(rows[:SAMPLE_ROWS]))) else 0


def _texts(rows: Sequence[Sequence[Cell]]) -> list[list[str | None]]:
    """Lay rows out as a reader sees them: a cell merged downwards counts in every row, to the right it is None."""
    grid: list[dict[int, str | None]] = [{} for _ in rows]
    for index, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in grid[index]:
                column += 1
            columns = max(1, min(cell.columns, MAX_COLUMNS))
            for line in grid[index : index + max(1, cell.rows)]:
                line.setdefault(column, collapse(cell.text))
                for covered in range(column + 1, column + columns):
                    line.setdefault(covered, None)
            column += columns
    width = max((max(row, default=-1) + 1 for row in grid), default=0)
    return [[row.get(column, "") for column in range(width)] for row in grid]


def _close_spans(rows: Sequence[Sequence[Cell]], count: int) -> int:
    """Extend the header to the last row that one of its cells reaches into, up to three rows."""
    reach = max((index + cell.rows for index in range(count) for cell in rows[index]), default=count)
    return min(max(count, reach), 3, max(1, len(rows) - 1)) if reach > count else count


def _without_empty_columns(rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    if not rows:
        return ()
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    if len(kept) == len(rows[0]):
        return tuple(rows)
    return tuple(tuple(row[column] for column in kept) for row in rows)
