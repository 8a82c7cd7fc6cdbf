"""Which periods a chunk states, as a filter by period sees them. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrieval.symbols.values.calendar import Span, half, months, normal_of, parse_span, quarter, whole_year
from retrieval.types import Chunk

_TOKEN = re.compile(r"\[(?:PERIOD|DATE)_([0-9QH/-]+)\]")


def stated_spans(chunk: Chunk) -> list[Span]:
    """Return the distinct days and periods of a chunk, sorted.

    Those of its text, and those of its title and headings, which stand as tokens before the text in what
    is encoded: the rows of a table seldom repeat the quarter that its heading names.
    """
    stated = {symbol.normal for symbol in chunk.symbols if symbol.kind in ("period", "date")}
    stated.update(_TOKEN.findall(chunk.index_text))
    return sorted(_spans(stated))


def cells(span: Span) -> list[str]:
    """Return the normal forms of the days, months, quarters, halves and years of the calendar that hold a span."""
    year, month = span.first.year, span.first.month
    around = (
        span if span.is_day else None,
        months(year, month, month),
        quarter(year, (month + 2) // 3),
        half(year, (month + 5) // 6),
        whole_year(year),
    )
    return [normal_of(cell) for cell in around if cell is not None and cell.contains(span)]


def is_cell(normal: str) -> bool:
    """Tell whether a normal form is that of one day, month, quarter, half or year: what `cells` gives."""
    return "/" not in normal


def _spans(normals: Iterable[str]) -> set[Span]:
    spans: set[Span] = set()
    for normal in normals:
        try:
            spans.add(parse_span(normal))
        except ValueError:  # written by a later version of the symbol language, or no token of it
            continue
    return spans
