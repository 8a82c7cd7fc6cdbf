"""Where on a sheet its tables are: regions parted by empty rows and columns.

Not every gap parts tables. Accountants leave a narrow column between labels and figures and a row
between groups of figures; cut there, the figures would lose their labels. So a region goes on
behind a gap of one where what stands there has no labels, or no header, of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.parsers.header_rows import SAMPLE_ROWS, count_headers, is_figure, is_period

Rows = dict[int, dict[int, str]]
"""Row → column → text, both 0-based; an empty text marks a cell that a merged one covers."""
_MAX_DEPTH = 16


@dataclass(slots=True)
class Region:
    """A rectangle of a sheet: its rows that are not empty, in order, and its first and last column."""

    rows: list[int]
    left: int
    right: int

    @property
    def top(self) -> int:
        """First row."""
        return self.rows[0]

    @property
    def bottom(self) -> int:
        """Last row."""
        return self.rows[-1]

    @property
    def width(self) -> int:
        """Columns, those without text included."""
        return self.right - self.left + 1


def find_regions(rows: Rows) -> list[Region]:
    """Part a sheet into regions, from top to bottom and from left to right; no text stands outside of them."""
    occupied = sorted(row for row, cells in rows.items() if cells)
    if not occupied:
        return []
    left = min(min(rows[row]) for row in occupied)
    right = max(max(rows[row]) for row in occupied)
    return _Parter(rows).part(Region(occupied, left, right), 0)


class _Parter:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def part(self, region: Region, depth: int) -> list[Region]:
        found: list[Region] = []
        for band in _runs(region.rows):
            last = found[-1] if found else None
            columns = self._columns(band, region)
            groups = self._side_by_side([Region(band, run[0], run[-1]) for run in _runs(columns)])
            if len(groups) == 1 or depth >= _MAX_DEPTH:
                leaf = self._trimmed(Region(band, columns[0], columns[-1]))
                if last is not None and self._goes_on(last, leaf):
                    last.rows += leaf.rows
                else:
                    found += self._at_corners(leaf)
            else:
                for group in groups:
                    found += self.part(self._trimmed(group), depth + 1)
        return found

    def _columns(self, band: Sequence[int], region: Region) -> list[int]:
        columns: set[int] = set()
        whole = region.width
        for row in band:
            columns.update(self._rows[row])
            if region.left == 0 and len(columns) == whole and max(columns) == region.right:
                break
        return sorted(column for column in columns if region.left <= column <= region.right)

    def _trimmed(self, region: Region) -> Region:
        """Leave out the rows that have nothing between the region's columns."""
        kept = [row for row in region.rows if self._has(row, region.left, region.right)]
        return Region(kept, region.left, region.right)

    def _has(self, row: int, left: int, right: int) -> bool:
        cells = self._rows[row]
        if len(cells) <= right - left + 1:
            return any(left <= column <= right for column in cells)
        return any(column in cells for column in range(left, right + 1))

    def _at_corners(self, region: Region) -> list[Region]:
        """Part a region whose lower rows all stand right, or all left, of its upper rows: they touch at a corner."""
        spans = [self._span(row, region) for row in region.rows]
        below = [spans[-1]] * len(spans)
        for index in range(len(spans) - 2, -1, -1):
            below[index] = (min(spans[index][0], below[index + 1][0]), max(spans[index][1], below[index + 1][1]))
        parts: list[Region] = []
        first, left, right = 0, *spans[0]
        for index in range(1, len(spans)):
            if below[index][0] > right or below[index][1] < left:
                parts.append(Region(region.rows[first:index], left, right))
                first, (left, right) = index, spans[index]
            left, right = min(left, spans[index][0]), max(right, spans[index][1])
        return [*parts, Region(region.rows[first:], left, right)]

    def _span(self, row: int, region: Region) -> tuple[int, int]:
        columns = [column for column in self._rows[row] if region.left <= column <= region.right]
        return min(columns), max(columns)

    def _side_by_side(self, runs: list[Region]) -> list[Region]:
        """Join neighbours where the right one is columns of the left one behind an empty one."""
        groups: list[Region] = []
        for run in runs:
            run = self._trimmed(run)
            before = groups[-1] if groups else None
            if before is not None and run.left - before.right == 2 and self._are_columns_of(before, run):
                rows = sorted({*before.rows, *run.rows})
                groups[-1] = Region(rows, before.left, run.right)
            else:
                groups.append(run)
        return groups

    def _are_columns_of(self, left: Region, right: Region) -> bool:
        if right.bottom > left.bottom or left.bottom - right.bottom > 1 or abs(right.top - left.top) > 3:
            return False
        here, there = self._texts(left, left.top), self._texts(right, right.top)
        if any(text in here and not is_period(text) for text in there if text):
            return False
        return left.width == 1 or not self._has_labels(right)

    def _has_labels(self, region: Region) -> bool:
        """Words in the first column of most rows."""
        first = [self._rows[row].get(region.left, "") for row in region.rows[1:SAMPLE_ROWS]]
        words = sum(1 for text in first if text and not is_figure(text))
        return words * 2 > len(first)

    def _goes_on(self, above: Region, below: Region) -> bool:
        """Tell whether a region is further rows of the one above: figures under its header, after one empty row."""
        if below.top - above.bottom != 2 or above.left != below.left or below.right > above.right:
            return False
        if below.width < 2 or not self._header_height(above):
            return False
        for row in below.rows[:2]:
            texts = self._texts(below, row)
            if any(text and is_figure(text) for text in texts[1:]):
                return True
            if any(texts[1:]):
                return False
        return False

    def _header_height(self, region: Region) -> int:
        return count_headers([self._texts(region, row) for row in region.rows[:SAMPLE_ROWS]])

    def _texts(self, region: Region, row: int) -> list[str]:
        cells = self._rows[row]
        return [cells.get(column, "") for column in range(region.left, region.right + 1)]


def _runs(values: Sequence[int]) -> list[list[int]]:
    """Cut ascending numbers where one is left out."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return runs
