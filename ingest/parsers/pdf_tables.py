"""Tables of a PDF page: ruled ones through PyMuPDF where a cheap look sees rules, borderless ones by aligned columns.

`find_tables` reads about two pages a second, text alone more than a hundred; so
it runs only on pages whose drawing log has the rules of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from statistics import median
from typing import Any

from ingest.parsers.grid import Cell, table_block
from ingest.parsers.joining import join_lines
from ingest.parsers.pdf_lines import Line, is_right_to_left, joined, median_size, rows_of
from ingest.types import Block, Box

_MAX_PATHS = 20_000
"""Drawings with more paths than this are maps and plots; looking for tables in them takes minutes."""
_THIN = 3.0
_MIN_RULE = 25.0
_MIN_ROWS = 3
_WIDE = 4
"""Columns from which two rows are enough."""
_FRAME_CHARACTERS = 160
_MIN_GAP = 1.2
"""Between cells, in type sizes; words stand closer."""

Rect = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table and the area whose lines it takes over."""

    block: Block
    area: Rect


def may_have_ruled_table(bbox_log: Sequence[tuple[Any, ...]]) -> bool:
    """Tell from PyMuPDF's `get_bboxlog` whether rules or cell frames are drawn on the page."""
    paths = [entry[1] for entry in bbox_log if entry[0] in ("stroke-path", "fill-path")]
    if len(paths) > _MAX_PATHS:
        return False
    horizontal = sum(1 for x0, y0, x1, y1 in paths if y1 - y0 <= _THIN and x1 - x0 >= _MIN_RULE)
    vertical = sum(1 for x0, y0, x1, y1 in paths if x1 - x0 <= _THIN and y1 - y0 >= 6)
    frames = [(x0, y0, x1, y1) for x0, y0, x1, y1 in paths if x1 - x0 > 10 and y1 - y0 > 6]
    # A grid may be drawn as one path, whose box tells nothing of its inside.
    return (horizontal >= 2 and vertical >= 2) or len(frames) >= 4 or any(_is_large(frame) for frame in frames)


def _is_large(frame: Rect) -> bool:
    return frame[2] - frame[0] > 120 and frame[3] - frame[1] > 30


def ruled_tables(page: Any, lines: Sequence[Line]) -> list[FoundTable]:
    """Read the ruled tables of a PyMuPDF page.

    Args:
        page: the page.
        lines: its words, each as a line; cells take their text from them, so that nothing is lost or doubled.
    """
    found: list[FoundTable] = []
    for table in page.find_tables(use_layout=False).tables:
        cells = [tuple(map(float, cell)) for cell in table.cells if cell is not None]
        block = _ruled_block(cells, tuple(map(float, table.bbox)), lines)
        if block is not None:
            found.append(FoundTable(block, tuple(map(float, table.bbox))))  # type: ignore[arg-type]
    return found


def _ruled_block(cells: Sequence[Any], area: Any, lines: Sequence[Line]) -> Block | None:
    xs, ys = (
        _edges([cell[0] for cell in cells] + [cell[2] for cell in cells]),
        _edges([cell[1] for cell in cells] + [cell[3] for cell in cells]),
    )
    if len(xs) < 3 or len(ys) < 3:
        return None
    texts = _assign(cells, [line for line in lines if inside(line, area)])
    if texts is None:
        return None
    rows: list[list[Cell]] = [[] for _ in ys[:-1]]
    for cell, text in sorted(zip(cells, texts, strict=True), key=lambda pair: (pair[0][1], pair[0][0])):
        left, top = _nearest(xs, cell[0]), _nearest(ys, cell[1])
        rows[min(top, len(rows) - 1)].append(
            Cell(text, max(1, _nearest(xs, cell[2]) - left), max(1, _nearest(ys, cell[3]) - top))
        )
    filled = sum(1 for text in texts if text)
    if max(map(len, texts)) > max(_FRAME_CHARACTERS, sum(map(len, texts)) // 2):
        # One cell with most of the text is a frame around text, or around a table without rules.
        return None
    if filled < 3 or sum(1 for row in rows if sum(1 for cell in row if cell.text) >= 2) < 1:
        return None
    return _with_box(table_block(rows), lines[0].page_number, area)


def _assign(cells: Sequence[Any], lines: Sequence[Line]) -> list[str] | None:
    """Give each line inside the table to a cell; None when a line fits in no cell, so that its text is not lost."""
    texts: list[list[Line]] = [[] for _ in cells]
    for line in lines:
        holder = next(
            (
                i
                for i, c in enumerate(cells)
                if c[0] - 1 <= line.middle_x <= c[2] + 1 and c[1] - 1 <= line.middle_y <= c[3] + 1
            ),
            None,
        )
        if holder is None:
            return None
        texts[holder].append(line)
    return [_text_of(members) for members in texts]


def _text_of(words: Sequence[Line]) -> str:
    rows = [row[::-1] if is_right_to_left(row) else row for row in rows_of(words)]
    return join_lines(reduce(joined, row).text for row in rows)


def _edges(values: Sequence[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > 2.0:
            edges.append(value)
    return edges


def _nearest(edges: Sequence[float], value: float) -> int:
    return min(range(len(edges)), key=lambda index: abs(edges[index] - value))


def inside(line: Line, area: Rect) -> bool:
    """Tell whether the middle of a line lies in an area."""
    return area[0] - 1 <= line.middle_x <= area[2] + 1 and area[1] - 1 <= line.middle_y <= area[3] + 1


def _with_box(block: Block | None, page_number: int, area: Rect) -> Block | None:
    if block is None:
        return None
    box = Box(page_number=page_number, x0=area[0], y0=area[1], x1=area[2], y1=area[3])
    return block.model_copy(update={"page_number": page_number, "page_end": page_number, "boxes": (box,)})


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
    block = _with_box(table_block([row for row in rows if row is not None]), pieces[0].page_number, area)
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
