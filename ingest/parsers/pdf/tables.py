"""Ruled tables of a PDF page: the lines of text laid into the cells that the rules make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

from ingest.parsers.grid import Cell, table_block
from ingest.parsers.pdf.cells import Grid, Rect
from ingest.parsers.pdf.lines import Line, is_right_to_left, joined, rows_of
from ingest.parsers.text.joining import join_lines
from ingest.types import Block, Box

_FRAME_CHARACTERS = 160
_INNER_ROWS = 3
_CROSSES = 2.0
"""Points by which a line of text may overhang its cell."""

WordsOf = Callable[[Line], Sequence[Line]]


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table and the area whose lines it takes over."""

    block: Block
    area: Rect
    columns: tuple[float, ...]
    """Points: the rules between its columns, or where each column begins and ends."""
    is_ruled: bool = True


def ruled_tables(
    grids: Sequence[Grid], lines: Sequence[Line], words_of: WordsOf
) -> tuple[list[FoundTable], list[Line]]:
    """Read the tables of a page.

    Args:
        grids: of the page's rules.
        lines: of the page.
        words_of: parts a line into its words; asked only for lines that reach over several cells.

    Returns:
        The tables, and the lines that stand outside all of them.
    """
    found: list[FoundTable] = []
    rest = list(lines)
    for grid in grids:
        members = [line for line in rest if inside(line, grid.area)]
        block = _block(grid, members, words_of) if len(members) >= 3 else None
        if block is not None:
            found.append(FoundTable(block, grid.area, grid.xs))
            taken = set(map(id, members))
            rest = [line for line in rest if id(line) not in taken]
    return found, rest


def _block(grid: Grid, lines: Sequence[Line], words_of: WordsOf) -> Block | None:
    at = {
        (row, column): index
        for index, cell in enumerate(grid.cells)
        for row in range(cell.row, cell.row + cell.rows)
        for column in range(cell.column, cell.column + cell.columns)
    }
    members: list[list[Line]] = [[] for _ in grid.cells]
    for line in lines:
        for piece in _pieces(line, grid, at, words_of):
            members[at[grid.position(piece.middle_x, piece.middle_y)]].append(piece)
    texts = [_text_of(lines) for lines in members]
    rows: list[list[Cell]] = [[] for _ in grid.ys[:-1]]
    for cell, text in zip(grid.cells, texts, strict=True):
        rows[cell.row].append(Cell(text, cell.columns, cell.rows))
    if _is_frame(texts) or any(_holds_columns(lines) for lines in members):
        return None
    if not any(sum(1 for cell in row if cell.text) >= 2 for row in rows):
        return None
    return on_page(table_block(rows), lines[0].page_number, grid.area)


def _is_frame(texts: Sequence[str]) -> bool:
    """One cell with most of the text is a frame around text, or around a table without rules."""
    filled = sum(1 for text in texts if text)
    return filled < 3 or max(map(len, texts)) > max(_FRAME_CHARACTERS, sum(map(len, texts)) // 2)


def _holds_columns(lines: Sequence[Line]) -> bool:
    """Three rows of pieces far apart inside one cell: the rules are a frame around columns that have none."""
    if len(lines) < 2 * _INNER_ROWS:
        return False
    wide = 0
    for row in rows_of([line for line in lines if line.upright]):
        wide += any(right.x0 - left.x1 > 2 * left.size for left, right in pairwise(row))
    return wide >= _INNER_ROWS


def _pieces(line: Line, grid: Grid, at: dict[tuple[int, int], int], words_of: WordsOf) -> Sequence[Line]:
    """Return the line whole where it stays in one cell, else its words."""
    start = at[grid.position(line.x0 + _CROSSES, line.middle_y)]
    end = at[grid.position(max(line.x1 - _CROSSES, line.x0 + _CROSSES), line.middle_y)]
    return [line] if start == end else words_of(line)


def _text_of(pieces: Sequence[Line]) -> str:
    upright = [piece for piece in pieces if piece.upright]
    rows = [row[::-1] if is_right_to_left(row) else row for row in rows_of(upright)]
    texts = [reduce(joined, row).text for row in rows]
    texts.extend(piece.text for piece in pieces if not piece.upright)
    return join_lines(texts)


def inside(line: Line, area: Rect) -> bool:
    """Tell whether the middle of a line lies in an area."""
    return area[0] - 1 <= line.middle_x <= area[2] + 1 and area[1] - 1 <= line.middle_y <= area[3] + 1


def on_page(block: Block | None, page_number: int, area: Rect) -> Block | None:
    """Give a table its page and box."""
    if block is None:
        return None
    box = Box(page_number=page_number, x0=area[0], y0=area[1], x1=area[2], y1=area[3])
    return block.model_copy(update={"page_number": page_number, "page_end": page_number, "boxes": (box,)})
