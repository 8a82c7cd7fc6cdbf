"""Tables without rules: runs of rows whose pieces stand in the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from ingest.parsers.header_rows import is_figure, is_period
from ingest.parsers.pdf.lines import Line, joined, median_size, rows_of
from ingest.parsers.pdf.ranges import Range, columns_of, misfit
from ingest.parsers.pdf.rows import PlacedRow, aligned_block
from ingest.parsers.pdf.tables import FoundTable, on_page

_MIN_ROWS = 3
_WIDE = 4
"""Columns from which two rows are enough."""
_MIN_GAP = 1.0
"""Between cells, in type sizes; words stand closer."""
_MIN_FIGURE_GAP = 0.4
_MAX_PENDING = 4
"""Rows of one piece in a row, as labels over several lines make them, that a table may have inside."""
_MAX_MISFIT = 0.3
_MAX_HEADERS = 3
_MAX_ASIDE = 80
"""Characters of such a row."""
_CURRENCIES = frozenset({"$", "€", "£", "¥", "￥", "US$", "HK$", "RMB", "NT$", "C$", "A$", "Rs.", "₹"})
_TAILS = frozenset({")", "%", ")%", "％", "）"})


def borderless_tables(lines: Sequence[Line]) -> list[FoundTable]:
    """Find runs of rows whose pieces stand in the same columns; two columns count only where one holds figures."""
    rows = [_with_signs(row) for row in rows_of([line for line in lines if line.upright and line.table is None])]
    found: list[FoundTable] = []
    start = 0
    while start < len(rows):
        end = _table_end(rows, start, _run_end(rows, start))
        table = _table(rows, start, end) if end > start else None
        if table is not None:
            found.append(table)
            start = end
        else:
            start = max(end, start + 1)
    return found


def _with_signs(row: list[Line]) -> list[Line]:
    """Join currency signs, closing brackets and percent signs, set apart, to their figures."""
    if len(row) < 2:
        return row
    result = [row[0]]
    for piece in row[1:]:
        last = result[-1]
        if (last.text in _CURRENCIES and (is_figure(piece.text) or piece.text in "-–—")) or piece.text in _TAILS:
            result[-1] = joined(last, piece)
        else:
            result.append(piece)
    return result


def _run_end(rows: Sequence[Sequence[Line]], start: int) -> int:
    """Return the index after the last row of the run that begins at `start`; `start` where none does."""
    if not _is_spread(rows[start]):
        return start
    end, left, right = start + 1, rows[start][0].x0, rows[start][-1].x1
    for index in range(start + 1, len(rows)):
        row = rows[index]
        if not _is_near(rows[index - 1], row):
            break
        if _is_spread(row):
            end, left, right = index + 1, min(left, row[0].x0), max(right, row[-1].x1)
        elif index - end >= _MAX_PENDING or not _is_aside(row, left, right):
            break
    return end


def _table_end(rows: Sequence[Sequence[Line]], start: int, end: int) -> int:
    """Part a run at a row of one piece where what follows stands in other columns: another table begins there."""
    before: list[Sequence[Line]] = []
    at = start
    for first, last in _parts(rows, start, end):
        part = rows[first:last]
        if len(before) > 1 and len(part) > 1 and _are_apart(before, part):
            return at
        before.extend(part)
        at = last
    return end


def _are_apart(above: Sequence[Sequence[Line]], below: Sequence[Sequence[Line]]) -> bool:
    return max(misfit(below, columns_of(above)), misfit(above, columns_of(below))) > _MAX_MISFIT


def _parts(rows: Sequence[Sequence[Line]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the stretches of rows with several pieces."""
    parts: list[tuple[int, int]] = []
    for index in range(start, end):
        if len(rows[index]) < 2:
            continue
        if parts and parts[-1][1] == index:
            parts[-1] = parts[-1][0], index + 1
        else:
            parts.append((index, index + 1))
    return parts


def _is_spread(row: Sequence[Line]) -> bool:
    if len(row) < 2:
        return False
    size = median_size(row)
    return all(
        right.x0 - left.x1 >= size * (_MIN_FIGURE_GAP if is_figure(left.text) and is_figure(right.text) else _MIN_GAP)
        for left, right in pairwise(row)
    )


def _is_near(above: Sequence[Line], below: Sequence[Line]) -> bool:
    return below[0].y0 - above[0].y1 < 2.2 * median_size(above)


def _is_aside(row: Sequence[Line], left: float, right: float) -> bool:
    """A row of one short piece beside or inside the columns: a label, or a further line of a cell."""
    piece = row[0]
    whole = max(right, piece.x1) - min(left, piece.x0)
    return len(row) == 1 and piece.width <= 0.65 * whole and len(piece.text) <= _MAX_ASIDE


def _table(rows: Sequence[Sequence[Line]], start: int, end: int) -> FoundTable | None:
    spread = [row for row in rows[start:end] if len(row) >= 2]
    columns = columns_of(spread)
    if len(columns) < 2 or len(spread) < (2 if len(columns) >= _WIDE else _MIN_ROWS):
        return None
    if not _reads_like_table(spread, columns):
        return None
    start = _with_header(rows, start, columns)
    placed = [_placed(row, columns) for row in rows[start:end]]
    pieces = [piece for row in rows[start:end] for piece in row]
    area = (
        min(piece.x0 for piece in pieces),
        min(piece.y0 for piece in pieces),
        max(piece.x1 for piece in pieces),
        max(piece.y1 for piece in pieces),
    )
    block = on_page(aligned_block(placed, len(columns)), pieces[0].page_number, area)
    return (
        None
        if block is None
        else FoundTable(block, area, tuple(edge for column in columns for edge in column), is_ruled=False)
    )


def _reads_like_table(rows: Sequence[Sequence[Line]], columns: Sequence[Range]) -> bool:
    """Tell a table from columns of prose: its pieces are short, and figures, or leave their column open."""
    pieces = [piece for row in rows for piece in row]
    if median(len(piece.text) for piece in pieces) > 30:
        return False
    values = [piece for row in rows for piece in row[1:]]
    figures = sum(1 for piece in values if is_figure(piece.text) or is_period(piece.text) or piece.text in "-–—")
    if len(columns) == 2:
        last = [row[-1].text for row in rows]
        return sum(any(map(str.isdigit, text)) and len(text) < 25 for text in last) * 3 >= len(last) * 2
    if figures * 4 >= len(values):
        return True
    filling = sum(1 for piece in pieces if len(piece.text) > 14 and _fills(piece, columns))
    return filling * 2 < len(pieces)


def _fills(piece: Line, columns: Sequence[Range]) -> bool:
    return any(x0 <= piece.middle_x <= x1 and piece.width >= 0.85 * (x1 - x0) for x0, x1 in columns)


def _with_header(rows: Sequence[Sequence[Line]], start: int, columns: Sequence[Range]) -> int:
    """Return the index of the first row above that belongs to the table.

    That is one that stands over the columns of values alone, or a short label set
    like the table and no further from it than its rows are from each other.
    """
    first = start
    pitch = rows[start + 1][0].y1 - rows[start][0].y1
    while first > 0 and start - first < _MAX_HEADERS and _is_near(rows[first - 1], rows[first]):
        above, below = rows[first - 1], rows[first]
        over_values = above[0].x0 >= columns[0][1] - 2 and len(above[0].text) <= 60
        like_rows = (
            len(above) == 1
            and len(above[0].text) <= 40
            and abs(above[0].x0 - columns[0][0]) < 12
            and above[0].text[-1] not in ".。"
            and (above[0].bold, above[0].size) == (below[0].bold, below[0].size)
            and below[0].y1 - above[0].y1 <= 1.1 * pitch
        )
        if above[-1].x1 > columns[-1][1] + 20 or not (over_values or like_rows):
            break
        first -= 1
    return first


def _placed(row: Sequence[Line], columns: Sequence[Range]) -> PlacedRow:
    """Give each piece the columns that it touches, or the nearest one."""
    cells: list[tuple[int, int, str]] = []
    for piece in row:
        touched = [index for index, (x0, x1) in enumerate(columns) if piece.x0 < x1 and piece.x1 > x0]
        if not touched:
            middle = piece.middle_x
            touched = [min(range(len(columns)), key=lambda at: abs(sum(columns[at]) / 2 - middle))]
        cells.append((touched[0], touched[-1], piece.text))
    return PlacedRow(cells, row[0].y1, median_size(row))
