"""Columns from the places of pieces of text: which x ranges the rows of a table have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.parsers.pdf.lines import Line, median_size

Range = tuple[float, float]


def columns_of(rows: Sequence[Sequence[Line]]) -> list[Range]:
    """Return the x ranges of the columns: narrow pieces make them, wide ones that touch two are cells over both.

    Ranges that never hold a piece in the same row are one column (indented labels,
    a heading beside its right-aligned figures) where a piece reaches over both or
    little room lies between.
    """
    columns: list[Range] = []
    for piece in sorted((piece for row in rows for piece in row), key=lambda piece: piece.width):
        touched = [index for index, (x0, x1) in enumerate(columns) if piece.x0 < x1 and piece.x1 > x0]
        if not touched:
            columns.append((piece.x0, piece.x1))
        elif len(touched) == 1:
            x0, x1 = columns[touched[0]]
            columns[touched[0]] = min(x0, piece.x0), max(x1, piece.x1)
    columns.sort()
    index = 0
    while index + 1 < len(columns):
        if _are_one(columns[index], columns[index + 1], rows):
            columns[index : index + 2] = [(columns[index][0], columns[index + 1][1])]
        else:
            index += 1
    return columns


def _are_one(left: Range, right: Range, rows: Sequence[Sequence[Line]]) -> bool:
    bridged, together = False, 0
    sides = [0, 0]
    for row in rows:
        in_left = [piece for piece in row if piece.x0 < left[1] and piece.x1 > left[0]]
        in_right = [piece for piece in row if piece.x0 < right[1] and piece.x1 > right[0]]
        bridged = bridged or any(piece in in_right for piece in in_left)
        together += any(piece not in in_right for piece in in_left) and any(piece not in in_left for piece in in_right)
        sides[0] += bool(in_left)
        sides[1] += bool(in_right)
    if together:
        return False
    return bridged or right[0] - left[1] < 2.0 * median_size(rows[0]) or min(sides) == 1


def misfit(rows: Sequence[Sequence[Line]], columns: Sequence[Range]) -> float:
    """Return the share of pieces that do not have a column of their own."""
    misfits = pieces = 0
    for row in rows:
        taken: set[int] = set()
        for piece in row:
            touched = [index for index, (x0, x1) in enumerate(columns) if piece.x0 < x1 and piece.x1 > x0]
            misfits += len(touched) != 1 or touched[0] in taken
            taken.update(touched)
        pieces += len(row)
    return misfits / pieces
