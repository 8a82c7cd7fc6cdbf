"""Reading order of a page: columns side by side, with whatever spans them in between.

The page is searched for a gutter, a vertical strip that few lines cross. Lines
that cross it part the page into bands; inside a band the left side is read
before the right one, each searched for gutters in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingest.parsers.pdf.lines import Line, is_right_to_left, joined, median_size, rows_of

_BIN = 2.0
_MAX_DEPTH = 4
_MAX_CROSSING = 0.4
"""Share of lines that may cross a gutter: titles, abstracts, wide tables."""
_MIN_SIDE_LINES = 3
_MIN_FILL = 0.55
"""Text fills its column; the cells of a table do not."""
_MANY_LINES, _MAX_ALIGNED = 8, 0.5
"""Short lines make columns too when there are many of them and their baselines do not meet, as a table's do."""


def reading_order(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the page's columns in reading order, each a list of lines from top to bottom.

    Pieces side by side inside a column become one line. Text at an angle comes last;
    vertical lines are read from right to left.
    """
    upright = [line for line in lines if line.upright]
    rest = sorted((line for line in lines if not line.upright), key=lambda line: (-round(line.x0 / 4), line.y0))
    flows = _order(upright, 0)
    if rest:
        flows.append(rest)
    return flows


def _order(lines: Sequence[Line], depth: int) -> list[list[Line]]:
    if not lines:
        return []
    gutter = _find_gutter(lines) if depth < _MAX_DEPTH and len(lines) >= 2 * _MIN_SIDE_LINES else None
    if gutter is None:
        return [_column(lines)]
    flows: list[list[Line]] = []
    for spanning, band in _bands(lines, gutter):
        if spanning:
            flows.append(_column(band))
            continue
        left = [line for line in band if line.middle_x < gutter]
        right = [line for line in band if line.middle_x >= gutter]
        sides = (right, left) if is_right_to_left(band) else (left, right)
        for side in sides:
            flows.extend(_order(side, depth + 1))
    return flows


def _column(lines: Sequence[Line]) -> list[Line]:
    column: list[Line] = []
    for row in rows_of(lines):
        if is_right_to_left(row) and len(row) > 1:
            row = row[::-1]
        line = row[0]
        for piece in row[1:]:
            line = joined(line, piece)
        column.append(line)
    return column


def _bands(lines: Sequence[Line], gutter: float) -> list[tuple[bool, list[Line]]]:
    """Part lines at those that cross the gutter; True marks a band of crossing lines."""
    bands: list[tuple[bool, list[Line]]] = []
    for line in sorted(lines, key=lambda line: line.middle_y):
        crosses = line.x0 < gutter < line.x1
        if bands and bands[-1][0] == crosses:
            bands[-1][1].append(line)
        else:
            bands.append((crosses, [line]))
    return bands


def _find_gutter(lines: Sequence[Line]) -> float | None:
    """Return the middle of the best gutter, or None where the page is one column."""
    left_edge, right_edge = min(line.x0 for line in lines), max(line.x1 for line in lines)
    bins = int((right_edge - left_edge) / _BIN) + 1
    if bins < 20 or bins > 20_000:
        return None
    coverage = _coverage(lines, left_edge, bins)
    first, last = int(bins * 0.15), int(bins * 0.85)
    lowest = min(coverage[first:last])
    if lowest > _MAX_CROSSING * len(lines):
        return None
    minimum = max(2, int(0.5 * median_size(lines) / _BIN))
    runs = [run for run in _runs(coverage, first, last, lowest) if run[1] - run[0] >= minimum]
    for start, end in sorted(runs, key=lambda run: run[0] - run[1]):
        gutter = left_edge + (start + end) / 2 * _BIN
        if _is_gutter(lines, gutter, left_edge, right_edge):
            return gutter
    return None


def _coverage(lines: Sequence[Line], left_edge: float, bins: int) -> list[int]:
    steps = [0] * (bins + 2)
    for line in lines:
        steps[max(0, int((line.x0 - left_edge) / _BIN))] += 1
        steps[min(bins + 1, int((line.x1 - left_edge) / _BIN) + 1)] -= 1
    coverage: list[int] = []
    level = 0
    for step in steps[:bins]:
        level += step
        coverage.append(level)
    return coverage


def _runs(coverage: Sequence[int], first: int, last: int, lowest: int) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    start: int | None = None
    for index in range(first, last + 1):
        if index < last and coverage[index] == lowest:
            start = index if start is None else start
        elif start is not None:
            runs.append((start, index))
            start = None
    return runs


def _is_gutter(lines: Sequence[Line], gutter: float, left_edge: float, right_edge: float) -> bool:
    left = [line for line in lines if line.x1 <= gutter]
    right = [line for line in lines if line.x0 >= gutter]
    if len(left) < _MIN_SIDE_LINES or len(right) < _MIN_SIDE_LINES:
        return False
    overlap = min(_bottom(left), _bottom(right)) - max(_top(left), _top(right))
    if overlap < 0.4 * min(_bottom(left) - _top(left), _bottom(right) - _top(right)):
        return False
    if _fills(left, gutter - left_edge) and _fills(right, right_edge - gutter):
        return True
    return min(len(left), len(right)) >= _MANY_LINES and _aligned_share(left, right) < _MAX_ALIGNED


def _top(lines: Sequence[Line]) -> float:
    return min(line.y0 for line in lines)


def _bottom(lines: Sequence[Line]) -> float:
    return max(line.y1 for line in lines)


def _fills(lines: Sequence[Line], width: float) -> bool:
    """Half of the rows reach over most of the column's width."""
    widths = sorted(row[-1].x1 - row[0].x0 for row in rows_of(lines))
    return widths[len(widths) // 2] >= _MIN_FILL * width


def _aligned_share(left: Sequence[Line], right: Sequence[Line]) -> float:
    """Share of the shorter side's lines that stand on the baseline of a line of the other."""
    shorter, longer = sorted((left, right), key=len)
    baselines = [line.y1 for line in longer]
    aligned = sum(1 for line in shorter if any(abs(line.y1 - baseline) < 0.15 * line.size for baseline in baselines))
    return aligned / len(shorter)
