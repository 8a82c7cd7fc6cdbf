"""Rows of a table from its lines of text: the lines of one cell joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.parsers.grid import Cell, table_block
from ingest.parsers.header_rows import is_figure
from ingest.parsers.text.joining import join_lines
from ingest.types import Block


@dataclass(slots=True)
class PlacedRow:
    """One line of text over the columns: `(first column, last column, text)` from left to right."""

    cells: list[tuple[int, int, str]]
    baseline: float
    size: float

    @property
    def label(self) -> str:
        """Text of the first column alone; empty where it has none."""
        return self.cells[0][2] if self.cells and self.cells[0][1] == 0 else ""

    @property
    def has_values(self) -> bool:
        """True where a column after the first has text."""
        return any(last > 0 for _, last, _ in self.cells)

    @property
    def has_figures(self) -> bool:
        """True where a column after the first holds a figure."""
        return any(last > 0 and is_figure(text) for _, last, text in self.cells)


def aligned_block(rows: Sequence[PlacedRow], width: int) -> Block | None:
    """Build the table from lines of text placed in `width` columns."""
    return table_block([_cells(group, width) for group in _logical_rows(rows)])


def _logical_rows(rows: Sequence[PlacedRow]) -> list[list[PlacedRow]]:
    """Group the lines that are one row.

    Where the lines of a cell stand closer than the rows do, the distance decides;
    in tables set with one distance, a label that goes on in lower case does.
    """
    limit = _closest_rows(rows)
    groups: list[list[PlacedRow]] = []
    for row in rows:
        if groups and _belongs(groups[-1], row, limit):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _closest_rows(rows: Sequence[PlacedRow]) -> float:
    """Return the distance of baselines below which lines are one row; 0 where distance does not tell."""
    steps = sorted(below.baseline - above.baseline for above, below in pairwise(rows))
    sure = sorted(
        below.baseline - above.baseline
        for above, below in pairwise(rows)
        if above.has_figures and below.has_figures and above.label and below.label
    )
    if not sure or not steps:
        return 0.0
    pitch = sure[len(sure) // 4]
    return 0.5 * (steps[0] + pitch) if steps[0] < 0.88 * pitch else 0.0


def _belongs(group: Sequence[PlacedRow], row: PlacedRow, limit: float) -> bool:
    above = group[-1]
    if row.has_figures and any(member.has_figures for member in group):
        return False
    if limit:
        return row.baseline - above.baseline < limit
    if row.baseline - above.baseline > 1.6 * row.size:
        return False
    if not row.has_values:
        return row.label[:1].islower() and bool(above.label)
    return len(group) <= 2 and not any(member.has_values for member in group) and row.label[:1].islower()


def _cells(group: Sequence[PlacedRow], width: int) -> list[Cell]:
    """Join a row's lines by column; a piece over several columns stays one cell where nothing else claims them."""
    texts: dict[int, list[str]] = {}
    ends: dict[int, int] = {}
    for row in group:
        for first, last, text in row.cells:
            texts.setdefault(first, []).append(text)
            ends[first] = max(ends.get(first, first), last)
    cells: list[Cell] = []
    column = 0
    for first in sorted(texts):
        following = min((other for other in texts if other > first), default=width)
        cells.extend(Cell("") for _ in range(first - column))
        span = min(ends[first], following - 1) - first + 1
        cells.append(Cell(join_lines(texts[first]), span))
        column = first + span
    cells.extend(Cell("") for _ in range(width - column))
    return cells
