"""The tables of a source as grids: every cell with the heads of its row and its column.

Reports put heads over several rows (a caption over all columns, the years below it, a unit
below those) and open groups of rows with a line that has nothing but a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.audit.content import subject_terms

_RULE = re.compile(r"[\s|:-]+")
_VALUE = re.compile(r"[-+(]?\s*(?:RMB|USD|US\$|HK\$|[$€£¥])?\s*[-+(]?\d[\d,]*(?:\.\d+)?\s*%?\)?\s*%?")
_YEAR = re.compile(r"(?:19|20)\d\d(?:\s*年.{0,6})?")
_YEAR_WITHIN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBERED = re.compile(r"\s*[(（]\d[)）]")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell with a value."""

    start: int
    """Half-open span in the source's text, blanks included."""
    end: int
    row: int
    """Number of the row in the source; cells of one row share it."""
    row_head: str
    column_head: str
    header_spans: tuple[tuple[int, int], ...]
    """Spans of the header cells above, nearest first."""
    row_terms: frozenset[str]
    terms: frozenset[str]
    """Terms of its heads; of the row's alone where columns differ by their years."""
    group_terms: frozenset[str]
    """Of the line that opens the cell's group of rows."""


@dataclass(frozen=True, slots=True)
class _Part:
    start: int
    end: int
    text: str


def read_cells(text: str, lines: Sequence[tuple[int, int]]) -> list[Cell]:
    """Return the value cells of all tables in `text`, in order.

    `lines` are the spans of its table rows, ruled ones too.
    """
    cells: list[Cell] = []
    table: list[tuple[int, int]] = []
    for span in lines:
        if table and text[table[-1][1] : span[0]].strip():
            cells += _read_table(text, table, len(cells))
            table = []
        table.append(span)
    return cells + (_read_table(text, table, len(cells)) if table else [])


def _read_table(text: str, lines: Sequence[tuple[int, int]], offset: int) -> list[Cell]:
    rows = [_parts(text, *span) for span in lines if not _RULE.fullmatch(text, *span)]
    first = next((n for n, row in enumerate(rows) if _is_body(row)), len(rows))
    while first > 1 and rows[first - 1] and not any(part.text for part in rows[first - 1][1:]):
        first -= 1  # a name alone above the first values opens a group
    header = rows[: max(first, 1)]
    by_year = sum(_YEAR_WITHIN.search(part.text) is not None for row in header for part in row[1:]) >= 2
    group = frozenset[str]()
    cells: list[Cell] = []
    for number, row in enumerate(rows[max(first, 1) :], start=1):
        if row and row[0].text and not any(part.text for part in row[1:]):
            group = subject_terms(row[0].text)
            continue
        head = _NUMBERED.sub("", row[0].text) if row else ""
        row_terms = subject_terms(head)
        for column, part in enumerate(row):
            if not part.text or (column == 0 and not _VALUE.fullmatch(part.text)):
                continue
            above = _above(header, column)
            column_head = " ".join(text[start:end].strip() for start, end in above)
            terms = row_terms if by_year else row_terms | subject_terms(column_head)
            cells.append(Cell(part.start, part.end, offset + number, head, column_head, above, row_terms, terms, group))
    return cells


def _parts(text: str, start: int, end: int) -> list[_Part]:
    """Cells of a line; the bars at its ends open no cell of their own."""
    first = start + len(text[start:end]) - len(text[start:end].lstrip())
    at = first + (text[first : first + 1] == "|")
    parts: list[_Part] = []
    while at < end:
        bar = text.find("|", at, end)
        stop = bar if bar >= 0 else end
        if bar >= 0 or text[at:stop].strip():
            parts.append(_Part(at, stop, text[at:stop].strip()))
        at = stop + 1
    return parts


def _is_body(row: Sequence[_Part]) -> bool:
    """Tell whether a row has values: numbers that are no years below a head."""
    values = [part.text for part in row[1:] if _VALUE.fullmatch(part.text)]
    return any(not _YEAR.fullmatch(value) for value in values)


def _above(header: Sequence[Sequence[_Part]], column: int) -> tuple[tuple[int, int], ...]:
    """The header cells over a column: its own, or the only one of a row that spans all."""
    found: list[tuple[int, int]] = []
    for row in reversed(header):
        filled = [part for part in row[1:] if part.text]
        own = row[column] if column < len(row) and row[column].text else None
        if own is None and len(filled) == 1 and column > 0:
            own = filled[0]
        if own is not None:
            found.append((own.start, own.end))
    return tuple(found)
