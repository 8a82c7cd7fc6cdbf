"""CSV and TSV: delimiter, encoding and header decided by content; ragged rows lose nothing."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.errors import NoTextError
from ingest.parsers.grid import text_table
from ingest.parsers.header_rows import SAMPLE_ROWS, count_headers
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.sheets.csv_dialect import DELIMITERS, Records, choose_delimiter
from ingest.parsers.sheets.sheets import CellBudget
from ingest.parsers.text.decoding import decode
from ingest.parsers.text.joining import collapse
from ingest.parsers.text.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_MAX_CELL_CHARACTERS = 16 * 1024 * 1024
_NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar"}


def parse_csv(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse delimited text.

    Raises:
        NoTextError: nothing but white space and delimiters.
        DocumentTooLargeError: more cells than the limits allow.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    if not decoded.text.strip(f"{DELIMITERS}\"' \n\u3000"):
        raise NoTextError(f"{display_name}: the file is empty")
    lines = decoded.text.split("\n")
    delimiter, hints = choose_delimiter([line for line in lines[:2000] if line.strip()])
    former = csv.field_size_limit(_MAX_CELL_CHARACTERS)
    try:
        records = Records(lines[_after_hint(lines, hints) :], delimiter or "\x00")
        tables = list(_tables(records, CellBudget(display_name, limits)))
    finally:
        csv.field_size_limit(former)
    blocks = [block for table in tables for block in _blocks(table)]
    if not blocks:
        raise NoTextError(f"{display_name}: the file is empty")
    notes = [*damage_notes(decoded), f"cells are parted by {_NAMES[delimiter]}" if delimiter else "one column"]
    ragged = sum(_ragged(table) for table in tables)
    if ragged:
        notes.append(f"{ragged} rows have more or fewer cells than the others; every cell was kept")
    if records.stray_quotes:
        notes.append(f"{records.stray_quotes} quotes that never close were read as characters")
    return ParsedDocument(format="csv", blocks=tuple(blocks), encoding=decoded.encoding, notes=tuple(notes))


def _after_hint(lines: Sequence[str], hints: int) -> int:
    """Return the index of the first line after the `sep=` line, if there is one."""
    return next((index + 1 for index, line in enumerate(lines) if line.strip()), 0) if hints else 0


def _tables(records: Records, budget: CellBudget) -> Iterator[list[list[str]]]:
    """Part the records at blank lines, where what follows has a header or a shape of its own."""
    current: list[list[str]] = []
    for part in _parts(records, budget):
        if current and _goes_on(current, part):
            current += part
        else:
            if current:
                yield current
            current = part
    if current:
        yield current


def _parts(records: Records, budget: CellBudget) -> Iterator[list[list[str]]]:
    part: list[list[str]] = []
    for record in records:
        if any(cell and not cell.isspace() for cell in record):
            budget.take(len(record))
            part.append(record)
        elif len(record) <= 1 and part:
            yield part
            part = []
    if part:
        yield part


def _goes_on(above: list[list[str]], below: list[list[str]]) -> bool:
    if _is_label(below) or _is_label(above):
        return False
    return _width(above) == _width(below) and not count_headers(below[:SAMPLE_ROWS])


def _width(rows: list[list[str]]) -> int:
    return Counter(len(row) for row in rows[:SAMPLE_ROWS]).most_common(1)[0][0]


def _is_label(rows: list[list[str]]) -> bool:
    """One or two lines with a single text: what is written above or below a table."""
    return len(rows) < 3 and all(sum(1 for cell in row if cell.strip()) == 1 for row in rows)


def _ragged(rows: list[list[str]]) -> int:
    width = _width(rows)
    return sum(1 for row in rows if len(row) != width)


def _blocks(rows: list[list[str]]) -> Iterator[Block]:
    if _is_label(rows) and len(rows[0]) < 2:
        yield from (Block(kind="paragraph", text=collapse(" ".join(row))) for row in rows)
        return
    table = text_table(rows, _headers(rows))
    if table is not None:
        yield table


def _headers(rows: list[list[str]]) -> int:
    if max(len(row) for row in rows[:SAMPLE_ROWS]) > 1:
        return count_headers(rows[:SAMPLE_ROWS])
    return 1 if len(rows) > 1 else 0
