"""Do tables come back cell by cell? Real tables are written in several formats, parsed, and compared.

The measure is the F1 over cells, a cell being its row, its column and its text with white space collapsed.
Rows and columns without any text are dropped on both sides, because a parser may drop them.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ingest.errors import IngestError
from ingest.evaluation_rendering import RENDERERS
from ingest.types import ParsedDocument
from ingest.work import Parsers
from retrieval.types import Value

Rows = Sequence[Sequence[str]]
Cells = Counter[tuple[int, int, str]]


class TableFault(Value):
    """A table that did not come back whole."""

    table: int
    """Its row in the data, from 0."""
    f1: float
    error: str | None = None


class _Outcome(NamedTuple):
    common: int
    returned: int
    wanted: int
    error: str | None = None

    @property
    def f1(self) -> float:
        total = self.returned + self.wanted
        return 2 * self.common / total if total else 1.0


class FormatResult(Value):
    """How the tables came back from one format."""

    format: str
    tables: int
    whole: int
    """Tables that came back without any difference."""
    precision: float
    recall: float
    f1: float
    """Over all cells of all tables together."""
    worst: tuple[TableFault, ...]


class TablesReport(Value):
    """The whole evaluation."""

    formats: tuple[FormatResult, ...]

    @property
    def metrics(self) -> dict[str, float]:
        """Cell F1 by format."""
        return {f"cell_f1.{result.format}": result.f1 for result in self.formats}


def read_tables(file: Path) -> list[list[list[str]]]:
    """Read the `table` of each line of a JSON lines file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    return [record["table"] for record in records]


async def evaluate_tables(
    tables: Sequence[Rows],
    parsers: Parsers,
    *,
    formats: Sequence[str] = tuple(RENDERERS),
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> TablesReport:
    """Write, parse and compare every table in every format."""
    results: list[FormatResult] = []
    total = len(tables) * len(formats)
    with tempfile.TemporaryDirectory() as folder:
        for name in formats:
            outcomes: list[_Outcome] = []
            for number, rows in enumerate(tables):
                path = Path(folder) / f"table-{number}.{name.split('-')[0]}"
                await asyncio.to_thread(RENDERERS[name], rows, path)
                outcomes.append(await _compare(parsers, path, rows))
                path.unlink()
                progress(len(results) * len(tables) + number + 1, total)
            results.append(_sum(name, outcomes))
    return TablesReport(formats=tuple(results))


async def _compare(parsers: Parsers, path: Path, rows: Rows) -> _Outcome:
    wanted = cells_of(rows)
    try:
        parsed = await parsers.parse(path, path.name)
    except IngestError as error:
        return _Outcome(0, 0, wanted.total(), f"{error.code}: {error}")
    common, returned = best_match(parsed, wanted)
    return _Outcome(common, returned, wanted.total())


def best_match(parsed: ParsedDocument, wanted: Cells) -> tuple[int, int]:
    """Return the cells in common with the table that fits best, and the cells of all tables of the document."""
    found = [cells_of(block.rows) for block in parsed.blocks if block.kind == "table"]
    common = max(((cells & wanted).total() for cells in found), default=0)
    return common, sum(cells.total() for cells in found)


def cells_of(rows: Rows) -> Cells:
    """Return the cells with text, counted by row, column and text, empty rows and columns left out."""
    kept = [row for row in ([" ".join(cell.split()) for cell in row] for row in rows) if any(row)]
    width = max((len(row) for row in kept), default=0)
    columns = [column for column in range(width) if any(column < len(row) and row[column] for row in kept)]
    return Counter(
        (number, place, row[column])
        for number, row in enumerate(kept)
        for place, column in enumerate(columns)
        if column < len(row) and row[column]
    )


def _sum(name: str, outcomes: Sequence[_Outcome]) -> FormatResult:
    everything = _Outcome(
        sum(each.common for each in outcomes),
        sum(each.returned for each in outcomes),
        sum(each.wanted for each in outcomes),
    )
    faults = [
        TableFault(table=number, f1=each.f1, error=each.error)
        for number, each in enumerate(outcomes)
        if not each.common == each.returned == each.wanted
    ]
    return FormatResult(
        format=name,
        tables=len(outcomes),
        whole=len(outcomes) - len(faults),
        precision=everything.common / max(everything.returned, 1),
        recall=everything.common / max(everything.wanted, 1),
        f1=everything.f1,
        worst=tuple(sorted(faults, key=lambda fault: fault.f1)[:10]),
    )
