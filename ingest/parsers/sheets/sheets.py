"""From the cells of a sheet to blocks: its name as a heading, its tables, the labels around them.

Shared by every format with sheets. Parsers give the texts as the sheet shows them; where the
tables are and what their headers are is decided here alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from ingest.errors import DocumentTooLargeError
from ingest.parsers.grid import Cell, table_block, text_table
from ingest.parsers.header_rows import SAMPLE_ROWS, count_headers, is_figure
from ingest.parsers.sheets.sheet_regions import Region, Rows, find_regions
from ingest.parsers.text.joining import collapse
from ingest.settings import ParserSettings
from ingest.types import Block

CELLS_PER_MEGABYTE = 1000
"""A cell takes about 500 bytes from parsing to result: filled cells may use half of the parser's memory."""
_MAX_TITLE = 120
_MAX_ENTRY = 80
"""Longest text of a one-column table's cells; longer ones are paragraphs."""
_TITLE_GAP = 2


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, 0-based, both ends included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class Sheet:
    """One sheet as a parser read it."""

    name: str
    rows: Rows = field(default_factory=dict[int, dict[int, str]])
    merged: list[Area] = field(default_factory=list[Area])
    declared: list[tuple[Area, int]] = field(default_factory=list[tuple[Area, int]])
    """Tables that the file itself marks, with their number of header rows."""
    remarks: list[Block] = field(default_factory=list[Block])
    """What is on the sheet but in no cell: comments, chart titles, text boxes."""


class CellBudget:
    """Counts the cells of one document and refuses it above the limit."""

    def __init__(self, display_name: str, limits: ParserSettings) -> None:
        self._name = display_name
        self.limit = limits.memory_mb * CELLS_PER_MEGABYTE
        self._left = self.limit

    def take(self, count: int) -> None:
        """Count cells.

        Raises:
            DocumentTooLargeError: more than the limit.
        """
        self._left -= count
        if self._left < 0:
            raise DocumentTooLargeError(
                f"{self._name}: more than {self.limit:,} filled cells; divide the table, or import it as a database"
            )


def sheet_blocks(sheet: Sheet, budget: CellBudget, level: int = 1) -> list[Block]:
    """Turn a sheet into blocks in reading order; none when nothing is on it."""
    origins = _cover(sheet, budget)
    body = _Body(sheet, origins, budget, level)
    blocks = [*body.build(), *sheet.remarks]
    if not blocks:
        return []
    name = collapse(sheet.name)
    return [Block(kind="heading", text=name, level=level), *blocks] if name else blocks


def _cover(sheet: Sheet, budget: CellBudget) -> dict[tuple[int, int], Area]:
    """Mark the cells that merged ones cover, no further than the sheet has text; return the merged cells by origin."""
    filled = [row for row, cells in sheet.rows.items() if cells]
    if not filled or not sheet.merged:
        return {}
    last_row, last_column = max(filled), max(max(sheet.rows[row]) for row in filled)
    origins: dict[tuple[int, int], Area] = {}
    for area in sheet.merged:
        text = sheet.rows.get(area.top, {}).get(area.left)
        if not text:
            continue
        clipped = Area(area.top, area.left, min(area.bottom, last_row), min(area.right, last_column))
        budget.take((clipped.bottom - clipped.top + 1) * (clipped.right - clipped.left + 1))
        for row in range(clipped.top, clipped.bottom + 1):
            cells = sheet.rows.setdefault(row, {})
            for column in range(clipped.left, clipped.right + 1):
                cells.setdefault(column, "")
        origins[clipped.top, clipped.left] = clipped
    return origins


class _Body:
    """Builds the blocks of a sheet's cells."""

    def __init__(self, sheet: Sheet, origins: dict[tuple[int, int], Area], budget: CellBudget, level: int) -> None:
        self._rows, self._origins, self._budget, self._level = sheet.rows, origins, budget, level
        self._declared = sheet.declared
        self._covered_by = {
            (row, column): area
            for area in origins.values()
            for row in range(area.top, area.bottom + 1)
            for column in range(area.left, area.right + 1)
        }

    def build(self) -> list[Block]:
        regions = self._regions()
        titles = self._titles(regions)
        tables = sum(1 for region, _ in regions if not self._is_lone(region))
        blocks: list[Block] = []
        for index, (region, headers) in enumerate(regions):
            if index in titles:
                # A heading reaches down to the next one: only where no table is left without its own.
                kind, level = ("heading", self._level + 1) if len(titles) == tables else ("caption", 0)
                blocks.append(Block(kind=kind, text=self._lone_text(region), level=level))
            else:
                blocks += self._region(region, headers)
        return blocks

    def _titles(self, regions: list[tuple[Region, int | None]]) -> frozenset[int]:
        """Find the regions that are one short text right above a table."""
        found: set[int] = set()
        for index, ((region, _), (below, _)) in enumerate(pairwise(regions)):
            near = 0 < below.top - region.bottom <= _TITLE_GAP and below.left <= region.left <= below.right
            if near and self._is_lone(region) and not self._is_lone(below) and below.width > 1:
                text = self._lone_text(region)
                if len(text) <= _MAX_TITLE and not is_figure(text):
                    found.add(index)
        return frozenset(found)

    def _is_lone(self, region: Region) -> bool:
        return len(list(islice(self._texts(region), 2))) < 2

    def _lone_text(self, region: Region) -> str:
        return collapse(" ".join(self._texts(region)))

    def _texts(self, region: Region) -> Iterator[str]:
        for row in region.rows:
            for column in range(region.left, region.right + 1):
                text = self._rows[row].get(column)
                if text:
                    yield text

    def _regions(self) -> list[tuple[Region, int | None]]:
        """Return the regions in reading order, with the number of header rows where the file tells it."""
        declared = [found for area, headers in self._declared if (found := self._declared_region(area, headers))]
        rest = {row: cells for row, cells in self._rows.items() if cells}
        for region, _ in declared:
            for row in region.rows:
                rest[row] = {
                    column: text for column, text in rest[row].items() if not region.left <= column <= region.right
                }
        regions: list[tuple[Region, int | None]] = [(region, None) for region in find_regions(rest)]
        regions += declared
        return sorted(regions, key=lambda found: (found[0].top, found[0].left)) if declared else regions

    def _declared_region(self, area: Area, headers: int) -> tuple[Region, int | None] | None:
        rows = [
            row
            for row in sorted(self._rows)
            if area.top <= row <= area.bottom and any(area.left <= column <= area.right for column in self._rows[row])
        ]
        return (Region(rows, area.left, area.right), headers) if rows else None

    def _region(self, region: Region, headers: int | None) -> Iterable[Block]:
        if headers is None and self._is_lone(region):
            return [Block(kind="paragraph", text=self._lone_text(region))]
        if headers is None and region.width == 1:
            return self._column(region)
        title, region = self._spanning_title(region) if headers is None else ("", region)
        blocks = [Block(kind="caption", text=title)] if title else []
        if len(region.rows) * region.width > 2 * self._budget.limit:
            return [*blocks, *self._sparse(region)]
        table = self._table(region, headers)
        return [*blocks, table] if table else blocks

    def _table(self, region: Region, headers: int | None) -> Block | None:
        if headers is None:
            headers = count_headers([self._header_row(region, row) for row in region.rows[:SAMPLE_ROWS]])
        columns = range(region.left, region.right + 1)
        if not self._origins:
            return text_table(([self._rows[row].get(c, "") for c in columns] for row in region.rows), headers)
        return table_block([list(self._cells(region, row)) for row in region.rows], headers)

    def _cells(self, region: Region, row: int) -> Iterable[Cell]:
        """Yield the cells that begin in a row; what a merged cell of this region covers is left out."""
        for column in range(region.left, region.right + 1):
            area = self._covered_by.get((row, column))
            text = self._rows[row].get(column, "")
            if area is None:
                yield Cell(text)
            elif (row, column) == (area.top, area.left):
                yield Cell(text, min(area.right, region.right) - column + 1, area.bottom - row + 1)

    def _header_row(self, region: Region, row: int) -> list[str | None]:
        """Return a row as its reader sees it: a cell merged downwards counts in every row."""
        texts: list[str | None] = []
        for column in range(region.left, region.right + 1):
            area = self._covered_by.get((row, column))
            if area is None:
                texts.append(self._rows[row].get(column, ""))
            elif column == area.left:
                texts.append(self._rows[area.top].get(column, ""))
            else:
                texts.append(None)
        return texts

    def _spanning_title(self, region: Region) -> tuple[str, Region]:
        """Take a first row that is one merged cell over the whole width for the table's caption."""
        area = self._origins.get((region.top, region.left))
        whole = area is not None and area.right >= region.right and area.left < area.right
        if not whole or area is None or len(region.rows) < 3 or area.bottom > region.rows[-2]:
            return "", region
        rest = [row for row in region.rows if row > area.bottom]
        return collapse(self._rows[region.top][region.left]), Region(rest, region.left, region.right)

    def _column(self, region: Region) -> Iterable[Block]:
        texts = [collapse(text) for row in region.rows if (text := self._rows[row].get(region.left, ""))]
        texts = [text for text in texts if text]
        if len(texts) >= 3 and all(len(text) <= _MAX_ENTRY for text in texts):
            table = text_table([[text] for text in texts], 0)
            return [table] if table else []
        return [Block(kind="paragraph", text=text) for text in texts]

    def _sparse(self, region: Region) -> Iterable[Block]:
        """A few cells scattered over a huge rectangle: laid out as a table they would be almost all blank."""
        for row in region.rows:
            cells = sorted((c, text) for c, text in self._rows[row].items() if region.left <= c <= region.right)
            line = " | ".join(collapse(text) for _, text in cells if text.strip())
            if line:
                yield Block(kind="paragraph", text=line)
