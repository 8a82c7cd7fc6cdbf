"""Tables that go on over a page break become one table, its repeated header dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.parsers.grid import render
from ingest.parsers.header_rows import is_figure
from ingest.parsers.pdf.paragraphs import Paragraph
from ingest.parsers.pdf.tables import FoundTable
from ingest.parsers.text.joining import squeeze
from ingest.types import Block

_CONTINUED = re.compile(r"\bcont(?:inued|['’.]?d|\.)|续表|（续）|\(续\)|續", re.I)
_MAX_MARK = 80
_SHIFT = 6.0
"""Points by which the columns of the two parts of a ruled table may differ."""


def join_continued(paragraphs: Sequence[Paragraph], tables: Mapping[int, FoundTable]) -> list[Paragraph]:
    """Join tables on neighbouring pages with the same columns and nothing but a mark of continuation in between.

    Args:
        paragraphs: of the document in reading order, running headers and footers left out.
        tables: the found table by `id` of its block.
    """
    result: list[Paragraph] = []
    last: FoundTable | None = None
    for paragraph in paragraphs:
        block = paragraph.first.table
        if block is None:
            result.append(paragraph)
            continue
        found = tables[id(block)]
        place = _place_before(result)
        before = result[place].first.table if place is not None else None
        if last is not None and place is not None and before is not None and _goes_on(before, last, found):
            del result[place + 1 :]
            result[place] = Paragraph([replace(result[place].first, table=_joined(before, block))], paragraph.column_x1)
        else:
            result.append(paragraph)
        last = found
    return result


def _place_before(paragraphs: Sequence[Paragraph]) -> int | None:
    """Return the index of the table that stands directly before, a mark of continuation aside."""
    for back in (1, 2):
        if back > len(paragraphs):
            return None
        paragraph = paragraphs[-back]
        if paragraph.first.table is not None:
            return len(paragraphs) - back
        text = " ".join(line.text for line in paragraph.lines)
        if len(text) > _MAX_MARK or _CONTINUED.search(text) is None:
            return None
    return None


def _goes_on(before: Block, last: FoundTable, found: FoundTable) -> bool:
    after = found.block
    if before.page_end is None or after.page_number != before.page_end + 1 or not before.rows or not after.rows:
        return False
    if len(before.rows[0]) != len(after.rows[0]) or len(last.columns) != len(found.columns):
        return False
    if _repeats_header(before, after):
        return True
    if after.header_rows and before.header_rows and _has_figures(before.rows[before.header_rows :]):
        # Rows of figures follow a row of words: a header of its own.
        return False
    if last.is_ruled and found.is_ruled:
        return all(abs(left - right) <= _SHIFT for left, right in zip(last.columns, found.columns, strict=True))
    return not after.header_rows and _overlap(last.columns, found.columns)


def _has_figures(rows: Sequence[Sequence[str]]) -> bool:
    return any(is_figure(cell) for row in rows for cell in row if cell)


def _overlap(left: Sequence[float], right: Sequence[float]) -> bool:
    """Tell whether each column, given by where it begins and ends, lies over its counterpart."""
    return all(
        min(left[at + 1], right[at + 1]) - max(left[at], right[at])
        >= 0.5 * min(left[at + 1] - left[at], right[at + 1] - right[at])
        for at in range(0, len(left), 2)
    )


def _repeats_header(before: Block, after: Block) -> bool:
    count = before.header_rows
    return 0 < count < len(after.rows) and _forms(before.rows[:count]) == _forms(after.rows[:count])


def _forms(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[squeeze(cell) for cell in row] for row in rows]


def _joined(before: Block, after: Block) -> Block:
    skipped = before.header_rows if _repeats_header(before, after) else 0
    rows = before.rows + after.rows[skipped:]
    return before.model_copy(
        update={
            "rows": rows,
            "text": render(rows),
            "page_end": after.page_end,
            "boxes": before.boxes + after.boxes,
        }
    )
