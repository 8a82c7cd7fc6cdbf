"""The order in which boxes on a slide are read: a recursive cut along the widest gap.

Pure functions. A gap over the whole width parts a slide into rows, a gap over
its whole height into columns; the wider gap decides, rows where both are equal.
This keeps the columns of a comparison apart and reads a grid of cards by rows.
"""

from __future__ import annotations

from collections.abc import Sequence

Rectangle = tuple[int, int, int, int]
"""Left, top, right, bottom; any unit, any origin, y grows downwards."""
_MAX_CUT = 400
"""Boxes up to which a slide is cut; more of them are a drawing, read by rows."""
_OVERLAP = 0.1
"""Share of its size by which a box may reach into its neighbour: text boxes are drawn larger than their text."""


def reading_order(boxes: Sequence[Rectangle]) -> list[int]:
    """Return the indices of `boxes` in reading order. Equal boxes keep their order."""
    everything = list(range(len(boxes)))
    if len(boxes) > _MAX_CUT:
        return _by_position(boxes, everything)
    ordered: list[int] = []
    stack = [everything] if everything else []
    while stack:
        group = stack.pop()
        if len(group) == 1:
            ordered.append(group[0])
            continue
        parts = _cut(boxes, group)
        if parts is None:
            ordered.extend(_by_position(boxes, group))
        else:
            stack.extend(reversed(parts))
    return ordered


def _by_position(boxes: Sequence[Rectangle], group: list[int]) -> list[int]:
    return sorted(group, key=lambda index: (boxes[index][1], boxes[index][0]))


def _cut(boxes: Sequence[Rectangle], group: list[int]) -> list[list[int]] | None:
    """Part a group along its widest gap; None where none goes through."""
    rows, rows_gap = _parts(boxes, group, 1)
    columns, columns_gap = _parts(boxes, group, 0)
    if len(rows) == 1 and len(columns) == 1:
        return None
    if len(columns) == 1 or (len(rows) > 1 and rows_gap >= columns_gap):
        return rows
    return columns


def _parts(boxes: Sequence[Rectangle], group: list[int], axis: int) -> tuple[list[list[int]], float]:
    """Part a group where nothing crosses along `axis` (0: columns, 1: rows); with the widest gap found."""

    def span(index: int) -> tuple[float, float]:
        start, end = boxes[index][axis], boxes[index][axis + 2]
        margin = (end - start) * _OVERLAP
        return start + margin, end - margin

    ordered = sorted(group, key=lambda index: (span(index), index))
    parts: list[list[int]] = [[ordered[0]]]
    reach, widest = span(ordered[0])[1], 0.0
    edge = float(boxes[ordered[0]][axis + 2])
    for index in ordered[1:]:
        start, end = span(index)
        if start >= reach and start > span(parts[-1][0])[0]:
            widest = max(widest, boxes[index][axis] - edge)
            parts.append([])
        parts[-1].append(index)
        reach, edge = max(reach, end), max(edge, float(boxes[index][axis + 2]))
    return parts, widest
