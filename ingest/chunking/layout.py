"""Lays a parsed document out as one text and remembers where every block stands in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.types import Block, ParsedDocument


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block and its half-open span in the document's text."""

    block: Block
    start: int
    end: int
    repeat: str = ""
    """What a chunk repeats when it opens in the middle of this block: the table's header rows
    (with their rule and line break), the speaker's name."""
    turn: int = 0
    """1-based ordinal of the speaker's turn in the document; 0 for other blocks."""
    row_spans: tuple[tuple[int, int], ...] = ()
    """Tables: span of each row, in the order of `block.rows`; the last header row's includes the rule under it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The document's text with its blocks in order."""

    text: str
    blocks: tuple[PlacedBlock, ...]


def lay_out(parsed: ParsedDocument) -> Layout:
    """Join the blocks by blank lines; blocks without text are left out.

    Tables take Markdown pipe form. A speaker's name stands before the first block of the
    turn alone, and the further blocks of the same turn (subtitle cues) follow after a space.
    """
    parts: list[str] = []
    placed: list[PlacedBlock] = []
    position = turn = 0
    last: Block | None = None
    for block in parsed.blocks:
        rendered = _render(block, continues=_same_turn(last, block))
        if rendered is None:
            continue
        separator = "" if last is None else " " if _same_turn(last, block) else "\n\n"
        start = position + len(separator)
        rows = tuple((start + a, start + b) for a, b in rendered.rows)
        turn += block.kind == "turn" and not _same_turn(last, block)
        ordinal = turn if block.kind == "turn" else 0
        placed.append(PlacedBlock(block, start, start + len(rendered.text), rendered.repeat, ordinal, rows))
        parts += [separator, rendered.text]
        position = start + len(rendered.text)
        last = block
    return Layout("".join(parts), tuple(placed))


def cell_spans(placed: PlacedBlock, row: int) -> list[tuple[int, int]]:
    """Return the span of each cell of a row, its leading pipe included; together they are the row."""
    at, row_end = placed.row_spans[row]
    spans: list[tuple[int, int]] = []
    for cell in placed.block.rows[row]:
        width = len(_cell(cell)) + 3
        spans.append((at, at + width))
        at += width
    if spans:
        spans[-1] = (spans[-1][0], row_end)
    return spans


def header_of(placed: PlacedBlock, first: int, stop: int, *, label: bool = False) -> str:
    """Return the header rows of some columns, as text that may precede cells of them.

    With `label` the first column's header comes before theirs.
    """
    block = placed.block
    lines = [render_row([*row[: int(label)], *row[first:stop]]) for row in block.rows[: block.header_rows]]
    return "\n".join([*lines, _rule(stop - first + label)]) + "\n" if lines else ""


def label_of(placed: PlacedBlock, row: int) -> str:
    """Return a row's first cell, as text that may precede further cells of the row; empty where it has none."""
    cells = placed.block.rows[row]
    return f"| {_cell(cells[0])} " if cells and cells[0].strip() else ""


def render_row(cells: Sequence[str]) -> str:
    """Return a table row in Markdown pipe form."""
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


@dataclass(frozen=True, slots=True)
class _Rendered:
    text: str
    repeat: str = ""
    rows: tuple[tuple[int, int], ...] = ()


def _same_turn(last: Block | None, block: Block) -> bool:
    return last is not None and last.kind == block.kind == "turn" and last.speaker == block.speaker


def _render(block: Block, *, continues: bool) -> _Rendered | None:
    if block.rows:
        return _render_table(block) if any(cell.strip() for row in block.rows for cell in row) else None
    text = block.text.strip()
    if not text:
        return None
    if block.kind != "turn" or not block.speaker:
        return _Rendered(text)
    wide = any(char >= "\u2e80" for char in block.speaker + text[:50])
    name = f"{block.speaker}{'：' if wide else ': '}"
    return _Rendered(text if continues else name + text, name)


def _render_table(block: Block) -> _Rendered:
    lines: list[str] = []
    spans: list[tuple[int, int]] = []
    position = 0
    repeat = ""
    for number, row in enumerate(block.rows, start=1):
        line = render_row(row)
        spans.append((position, position + len(line)))
        lines.append(line)
        position += len(line) + 1
        if number == block.header_rows < len(block.rows):
            lines.append(_rule(len(row)))
            position += len(lines[-1]) + 1
            spans[-1] = (spans[-1][0], position - 1)
            repeat = "\n".join(lines) + "\n"
    return _Rendered("\n".join(lines), repeat, tuple(spans))


def _rule(columns: int) -> str:
    return "|" + " --- |" * columns


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
