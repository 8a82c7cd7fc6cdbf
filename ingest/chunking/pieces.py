"""Cuts a section's blocks into pieces that fit the budget, and packs pieces into chunks."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ingest.chunking.gauge import Gauge
from ingest.chunking.layout import Layout, PlacedBlock, cell_spans, header_of, label_of
from ingest.chunking.reaching import reach
from ingest.chunking.splitting import LONGEST_TOKEN, Span, fit


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of the document's text inside one block that no chunk divides."""

    placed: PlacedBlock
    start: int
    end: int
    cost: int
    group: int
    """Pieces of different groups never share a chunk."""
    repeat: str = ""
    """What precedes the piece in the chunk's text when it opens the chunk."""


class Cutter:
    """Turns the blocks of one section into pieces of at most `room` tokens."""

    def __init__(self, layout: Layout, gauge: Gauge, room: int, small: int) -> None:
        self._text, self._gauge, self._room, self._small = layout.text, gauge, room, small
        self._pieces: list[Piece] = []
        self._group = 0

    def cut(self, blocks: Sequence[PlacedBlock]) -> list[Piece]:
        """Return the pieces in order. A turn and a table too large for one chunk form groups of their own."""
        last: PlacedBlock | None = None
        for placed in blocks:
            if placed.block.kind == "turn":
                if last is None or last.block.kind != "turn" or last.block.speaker != placed.block.speaker:
                    self._group += 1
                self._add_text(placed)
            elif last is not None and last.block.kind == "turn":
                self._group += 1
                self._add_block(placed)
            else:
                self._add_block(placed)
            last = placed
        return self._pieces

    def _add_block(self, placed: PlacedBlock) -> None:
        too_long = placed.end - placed.start > self._room * LONGEST_TOKEN
        if placed.row_spans and (too_long or self._cost((placed.start, placed.end)) > self._room):
            self._add_rows(placed)
        else:
            self._add_text(placed)

    def _add_text(self, placed: PlacedBlock) -> None:
        repeat = placed.repeat if placed.block.kind == "turn" else ""
        room = self._room - self._gauge.cost(repeat) if repeat else self._room
        for span in fit(self._text, (placed.start, placed.end), max(8, room), self._gauge.cost):
            opens = span[0] > placed.start or not self._text.startswith(repeat, span[0])
            self._append(placed, span, repeat if opens else "")

    def _add_rows(self, placed: PlacedBlock) -> None:
        """A table above the budget: rows, every chunk with the header; what led up to it stays with its first rows."""
        self._open_table_group()
        header_rows = placed.block.header_rows
        header_fits = bool(placed.repeat) and self._gauge.cost(placed.repeat) * 2 <= self._room
        repeat = placed.repeat if header_fits else ""
        first = 0
        if header_fits:
            head = (placed.start, placed.row_spans[header_rows][1])
            if self._cost(head) <= self._room:
                self._append(placed, head, "")
                first = header_rows + 1
            else:
                self._append(placed, (placed.start, placed.row_spans[header_rows - 1][1]), "")
                first = header_rows
        room = self._room - self._gauge.cost(repeat)
        for row in range(first, len(placed.row_spans)):
            if self._cost(placed.row_spans[row]) <= room:
                self._append(placed, placed.row_spans[row], repeat)
            else:
                self._add_cells(placed, row)
        self._group += 1

    def _add_cells(self, placed: PlacedBlock, row: int) -> None:
        """A row above the budget: runs of cells that fit, each after the row's label under its own columns' header."""
        cells = cell_spans(placed, row)
        first = 0
        while first < len(cells):
            more = reach(partial(self._cells_fit, placed, row, cells, first), len(cells) - first - 1)
            stop = first + 1 + more
            before = self._before_cells(placed, row, first, stop)
            room = max(8, self._room - self._gauge.cost(f"{before}| " if before else ""))
            for span in fit(self._text, (cells[first][0], cells[stop - 1][1]), room, self._gauge.cost):
                self._group += 1
                goes_on = before and not self._text.startswith("|", span[0]) and first > 0
                self._append(placed, span, f"{before}| " if goes_on else before)
            first = stop
        self._group += 1

    def _cells_fit(self, placed: PlacedBlock, row: int, cells: Sequence[Span], first: int, more: int) -> bool:
        """Tell whether a cell and so many more after it fit into one chunk with what precedes them."""
        before = self._full_before(placed, row, first, first + more + 1)
        cost = self._gauge.cost(before)
        return cost * 2 <= self._room and cost + self._cost((cells[first][0], cells[first + more][1])) <= self._room

    def _before_cells(self, placed: PlacedBlock, row: int, first: int, stop: int) -> str:
        """What precedes a run of a row's cells: their header and the row's label; what of it takes half the room."""
        choices = [self._full_before(placed, row, first, stop)]
        if row >= placed.block.header_rows:
            choices += [header_of(placed, first, stop), label_of(placed, row) if first else ""]
        return next((choice for choice in choices if self._gauge.cost(choice) * 2 <= self._room), "")

    def _full_before(self, placed: PlacedBlock, row: int, first: int, stop: int) -> str:
        if row < placed.block.header_rows:
            return ""
        label = label_of(placed, row) if first else ""
        return header_of(placed, first, stop, label=bool(label)) + label

    def _open_table_group(self) -> None:
        leading = [piece for piece in self._pieces if piece.group == self._group]
        self._group += 1
        if leading and sum(piece.cost for piece in leading) < self._small:
            del self._pieces[-len(leading) :]
            self._pieces += [replace(piece, group=self._group) for piece in leading]

    def _cost(self, span: Span) -> int:
        return self._gauge.cost(self._text[slice(*span)])

    def _append(self, placed: PlacedBlock, span: Span, repeat: str) -> None:
        self._pieces.append(Piece(placed, *span, self._cost(span), self._group, repeat))


def pack(layout: Layout, gauge: Gauge, path: tuple[str, ...], pieces: Sequence[Piece], small: int) -> list[list[Piece]]:
    """Fill chunks with pieces in order, each within the budget as really measured.

    A last chunk below `small` tokens takes pieces over from the one before it.
    """
    room = gauge.room(path)
    waiting = deque(pieces)
    packed: list[list[Piece]] = []
    while waiting:
        chunk = [waiting.popleft()]
        used = chunk[0].cost + gauge.cost(chunk[0].repeat)
        while waiting and waiting[0].group == chunk[0].group and used + waiting[0].cost <= room:
            used += waiting[0].cost
            chunk.append(waiting.popleft())
        kept = _kept(layout, gauge, path, chunk)
        waiting.extendleft(reversed(chunk[kept:]))
        packed.append(chunk[:kept])
    return [chunk for group in _by_group(packed) for chunk in _level_tail(layout, gauge, path, group, small)]


def text_of(layout: Layout, pieces: Sequence[Piece]) -> str:
    """Return the text of a chunk made of these neighbouring pieces."""
    return pieces[0].repeat + layout.text[pieces[0].start : pieces[-1].end]


def fits(layout: Layout, gauge: Gauge, path: tuple[str, ...], pieces: Sequence[Piece]) -> bool:
    """Tell whether a chunk of these pieces stays within the budget."""
    return gauge.whole(path, text_of(layout, pieces)) <= gauge.max_tokens


def _kept(layout: Layout, gauge: Gauge, path: tuple[str, ...], chunk: Sequence[Piece]) -> int:
    """Return how many of a chunk's pieces stay within the budget, at least one."""
    count = len(chunk)
    if count == 1 or fits(layout, gauge, path, chunk):
        return count
    # What stands between pieces (a line break in a column of numbers) may cost as much as they do.
    return count - 1 - reach(lambda left_out: not fits(layout, gauge, path, chunk[: count - left_out]), count - 2)


def _by_group(packed: list[list[Piece]]) -> list[list[list[Piece]]]:
    groups: list[list[list[Piece]]] = []
    for chunk in packed:
        if groups and groups[-1][-1][0].group == chunk[0].group:
            groups[-1].append(chunk)
        else:
            groups.append([chunk])
    return groups


def _level_tail(
    layout: Layout, gauge: Gauge, path: tuple[str, ...], group: list[list[Piece]], small: int
) -> list[list[Piece]]:
    if len(group) < 2:
        return group
    before, tail = list(group[-2]), list(group[-1])
    while len(before) > 1 and sum(piece.cost for piece in tail) < small:
        tail.insert(0, before.pop())
    if sum(piece.cost for piece in before) < small or not fits(layout, gauge, path, tail):
        return group
    return [*group[:-2], before, tail]
