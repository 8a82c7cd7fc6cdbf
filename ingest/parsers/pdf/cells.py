"""Grids from the rules of a page: which rules make a table, and what cells lie between them.

Pure geometry. Rules that touch belong together; a set with two or more in each
direction is a grid. A position whose border to its neighbour is not drawn is
one cell with it (a merged cell).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.parsers.pdf.rules import Rule, Rules

_TOUCH = 3.0
"""Points by which two rules may miss each other and still touch."""
_SAME = 4.5
"""No column or row is narrower: the sides of two framed cells with a little air between them are one border."""
_OPEN_SIDE = 8.0
"""A rule that reaches this far past the last crossing one has a column there, open at its side."""
_MAX_POSITIONS = 50_000
_MAX_CROSSINGS = 2_000_000
"""Of the rules of a page; more are hatching or a plan, and looking for cells in it takes seconds."""

Rect = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell by its place on the grid."""

    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Edges of columns and rows in points, ascending, and the cells between them in reading order."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[GridCell, ...]

    @property
    def area(self) -> Rect:
        """The outer frame."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    def position(self, x: float, y: float) -> tuple[int, int]:
        """Return row and column that hold a point; one outside goes to the nearest."""
        column = min(max(bisect_right(self.xs, x) - 1, 0), len(self.xs) - 2)
        return min(max(bisect_right(self.ys, y) - 1, 0), len(self.ys) - 2), column


def grids_of(rules: Rules) -> list[Grid]:
    """Return the grids of a page, top to bottom."""
    found: list[Grid] = []
    if len(rules.horizontal) * len(rules.vertical) > _MAX_CROSSINGS:
        return found
    for horizontal, vertical in _touching(rules):
        xs = _positions(vertical, horizontal)
        ys = _positions(horizontal, vertical)
        if len(xs) < 2 or len(ys) < 2 or len(xs) * len(ys) > _MAX_POSITIONS or (len(xs) == 2 and len(ys) == 2):
            continue
        found.append(Grid(tuple(xs), tuple(ys), _cells(xs, ys, horizontal, vertical)))
    return sorted(found, key=lambda grid: (grid.ys[0], grid.xs[0]))


def _touching(rules: Rules) -> list[tuple[list[Rule], list[Rule]]]:
    """Part the rules into sets that hang together by crossings."""
    horizontal, vertical = rules.horizontal, sorted(rules.vertical, key=lambda rule: rule.at)
    places = [rule.at for rule in vertical]
    parent = list(range(len(horizontal) + len(vertical)))
    for index, rule in enumerate(horizontal):
        first, last = bisect_left(places, rule.start - _TOUCH), bisect_right(places, rule.end + _TOUCH)
        for other in range(first, last):
            if vertical[other].start - _TOUCH <= rule.at <= vertical[other].end + _TOUCH:
                _unite(parent, index, len(horizontal) + other)
    sets: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for index, rule in enumerate(horizontal):
        sets.setdefault(_root(parent, index), ([], []))[0].append(rule)
    for index, rule in enumerate(vertical, start=len(horizontal)):
        sets.setdefault(_root(parent, index), ([], []))[1].append(rule)
    return [(across, down) for across, down in sets.values() if len(across) >= 2 and down]


def _root(parent: list[int], index: int) -> int:
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


def _unite(parent: list[int], left: int, right: int) -> None:
    left, right = _root(parent, left), _root(parent, right)
    parent[max(left, right)] = min(left, right)


def _positions(rules: Sequence[Rule], crossing: Sequence[Rule]) -> list[float]:
    """Return the places of parallel rules, and the ends of the crossing ones where they reach past the last."""
    places: list[float] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if not places or rule.at - places[-1] > _SAME:
            places.append(rule.at)
    start, end = _common_end([rule.start for rule in crossing], min), _common_end([rule.end for rule in crossing], max)
    if start < places[0] - _OPEN_SIDE:
        places.insert(0, start)
    if end > places[-1] + _OPEN_SIDE:
        places.append(end)
    return places


def _common_end(ends: Sequence[float], outermost: object) -> float:
    """Return the outermost end that two rules share; without one, the middle of all."""
    ordered = sorted(ends, reverse=outermost is max)
    for left, right in pairwise(ordered):
        if abs(left - right) <= _TOUCH:
            return left
    return ordered[len(ordered) // 2]


class _Borders:
    """Where rules run: for each place, the stretches that they cover."""

    def __init__(self, places: Sequence[float], rules: Iterable[Rule]) -> None:
        self._stretches: list[list[tuple[float, float]]] = [[] for _ in places]
        for rule in rules:
            nearest = bisect_right(places, rule.at) - 1
            if nearest < 0 or (nearest + 1 < len(places) and places[nearest + 1] - rule.at < rule.at - places[nearest]):
                nearest += 1
            self._stretches[nearest].append((rule.start, rule.end))

    def covers(self, place: int, low: float, high: float) -> bool:
        """Tell whether a rule at `place` runs along most of the way from `low` to `high`."""
        need = 0.6 * (high - low)
        return any(min(end, high) - max(start, low) >= need for start, end in self._stretches[place])


def _cells(
    xs: Sequence[float], ys: Sequence[float], horizontal: Sequence[Rule], vertical: Sequence[Rule]
) -> tuple[GridCell, ...]:
    """Grow each position to the right and then down until a border; what is covered already is not begun again."""
    below, beside = _Borders(ys, horizontal), _Borders(xs, vertical)
    rows, columns = len(ys) - 1, len(xs) - 1
    right_border = [
        [column == columns - 1 or beside.covers(column + 1, ys[row], ys[row + 1]) for column in range(columns)]
        for row in range(rows)
    ]
    bottom_border = [
        [row == rows - 1 or below.covers(row + 1, xs[column], xs[column + 1]) for column in range(columns)]
        for row in range(rows)
    ]
    taken = [[False] * columns for _ in range(rows)]
    cells: list[GridCell] = []
    for row in range(rows):
        for column in range(columns):
            if taken[row][column]:
                continue
            width = 1
            while not right_border[row][column + width - 1] and not taken[row][column + width]:
                width += 1
            height = 1
            while _grows_down(right_border, bottom_border, taken, row + height - 1, column, width):
                height += 1
            for covered in range(row, row + height):
                taken[covered][column : column + width] = [True] * width
            cells.append(GridCell(row, column, height, width))
    return tuple(cells)


def _grows_down(
    right_border: list[list[bool]],
    bottom_border: list[list[bool]],
    taken: list[list[bool]],
    row: int,
    column: int,
    width: int,
) -> bool:
    """Tell whether nothing is drawn below the cell's last row, and the next row is as wide."""
    span = range(column, column + width)
    if any(bottom_border[row][place] for place in span):
        return False
    return not any(right_border[row + 1][place] for place in span[:-1]) and not any(
        taken[row + 1][place] for place in span
    )
