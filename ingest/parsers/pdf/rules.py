"""The rules drawn on a PDF page: straight horizontal and vertical strokes, joined where they touch.

Reads PyMuPDF's `get_cdrawings`, which costs about as much as the page's text;
`find_tables` costs two hundred times that. A rule may be drawn as a stroke, as
a thin filled rectangle, as the side of a frame or of a cell's background, and
in many pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

_MAX_EDGES = 50_000
"""Pages with more strokes than this are maps and plots; none of them is looked at."""
_THIN = 3.0
"""Points up to which a filled rectangle is a stroke."""
_SLANT = 1.0
_SNAP = 2.5
"""Parallel strokes closer than this are one rule: double lines, the sides of two neighbouring cells."""
_GAP = 3.0
"""White space bridged between the pieces of a rule: dashes, the corners of cells."""
_MIN_LENGTH = 5.0
_WHITE = 0.99

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule at `at` (y of a horizontal, x of a vertical one) from `start` to `end`, in points."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class Rules:
    """The rules of a page."""

    horizontal: list[Rule] = field(default_factory=list[Rule])
    vertical: list[Rule] = field(default_factory=list[Rule])


def rules_of_page(drawings: Iterable[dict[str, Any]], matrix: Sequence[float] | None = None) -> Rules:
    """Collect the rules of a page.

    Args:
        drawings: the page's `get_cdrawings()`.
        matrix: the page's rotation matrix; None where the page is not rotated.
    """
    edges = _Edges(matrix)
    for drawing in drawings:
        _collect(drawing, edges)
        if len(edges.horizontal) + len(edges.vertical) > _MAX_EDGES:
            return Rules()
    return Rules(_joined(edges.horizontal), _joined(edges.vertical))


class _Edges:
    """Strokes as they come: `(at, start, end)` by direction."""

    def __init__(self, matrix: Sequence[float] | None) -> None:
        self.horizontal: list[tuple[float, float, float]] = []
        self.vertical: list[tuple[float, float, float]] = []
        self._matrix = matrix

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Take a stroke that is nearly horizontal or vertical; leave others."""
        if self._matrix is not None:
            a, b, c, d, e, f = self._matrix
            x0, y0 = x0 * a + y0 * c + e, x0 * b + y0 * d + f
            x1, y1 = x1 * a + y1 * c + e, x1 * b + y1 * d + f
        if abs(y1 - y0) <= _SLANT and abs(x1 - x0) > _SLANT:
            self.horizontal.append(((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(x1 - x0) <= _SLANT and abs(y1 - y0) > _SLANT:
            self.vertical.append(((x0 + x1) / 2, min(y0, y1), max(y0, y1)))

    def rectangle(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Take a thin rectangle as one stroke, another as its four sides."""
        width, height = x1 - x0, y1 - y0
        if height <= _THIN or width <= _THIN:
            if width >= height:
                self.line(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2)
            else:
                self.line((x0 + x1) / 2, y0, (x0 + x1) / 2, y1)
            return
        self.line(x0, y0, x1, y0)
        self.line(x0, y1, x1, y1)
        self.line(x0, y0, x0, y1)
        self.line(x1, y0, x1, y1)


def _collect(drawing: dict[str, Any], edges: _Edges) -> None:
    kind: str = drawing["type"]
    if "s" not in kind and (kind != "f" or _is_white(drawing.get("fill"))):
        return
    items: Sequence[Any] = drawing["items"]
    if "s" not in kind and not any(item[0] in ("re", "qu") for item in items):
        # A filled outline made of lines: a stroke where it is thin, else a shape; a rectangle has four corners.
        x0, y0, x1, y1 = drawing["rect"]
        if min(x1 - x0, y1 - y0) <= _THIN or _is_rectangle(items):
            edges.rectangle(x0, y0, x1, y1)
        return
    for item in items:
        name: str = item[0]
        if name == "l":
            (x0, y0), (x1, y1) = item[1], item[2]
            edges.line(x0, y0, x1, y1)
        elif name == "re":
            edges.rectangle(*_sorted_box(item[1]))
        elif name == "qu":
            _quad(item[1], edges)
    if drawing.get("closePath") and items and items[0][0] == items[-1][0] == "l":
        (x0, y0), (x1, y1) = items[-1][2], items[0][1]
        edges.line(x0, y0, x1, y1)


def _is_white(fill: Sequence[float] | None) -> bool:
    return fill is None or min(fill, default=1.0) >= _WHITE


def _is_rectangle(items: Sequence[Any]) -> bool:
    if not 3 <= len(items) <= 5 or any(item[0] != "l" for item in items):
        return False
    return all(abs(item[1][0] - item[2][0]) <= _SLANT or abs(item[1][1] - item[2][1]) <= _SLANT for item in items)


def _sorted_box(box: Sequence[float]) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = box
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _quad(corners: Sequence[Point], edges: _Edges) -> None:
    """Take the quad's box where its sides are upright, a thin one as a stroke."""
    xs, ys = sorted(point[0] for point in corners), sorted(point[1] for point in corners)
    if all(high - low <= _SLANT for low, high in (xs[:2], xs[2:], ys[:2], ys[2:])):
        edges.rectangle(xs[0], ys[0], xs[3], ys[3])


def _joined(edges: list[tuple[float, float, float]]) -> list[Rule]:
    """Join strokes of one height, touching or nearly so, into rules; specks are dropped."""
    edges.sort()
    rules: list[Rule] = []
    group: list[tuple[float, float, float]] = []
    for edge in edges:
        if group and edge[0] - group[0][0] > _SNAP:
            rules.extend(_joined_group(group))
            group = []
        group.append(edge)
    rules.extend(_joined_group(group))
    return rules


def _joined_group(group: list[tuple[float, float, float]]) -> list[Rule]:
    if not group:
        return []
    at = sum(edge[0] * (edge[2] - edge[1]) for edge in group) / sum(edge[2] - edge[1] for edge in group)
    rules: list[Rule] = []
    start = end = None
    for _, low, high in sorted(group, key=lambda edge: edge[1]):
        if start is None or end is None or low > end + _GAP:
            if start is not None and end is not None and end - start >= _MIN_LENGTH:
                rules.append(Rule(at, start, end))
            start, end = low, high
        else:
            end = max(end, high)
    if start is not None and end is not None and end - start >= _MIN_LENGTH:
        rules.append(Rule(at, start, end))
    return rules
