"""Which period a figure belongs to: in an answer's sentence and in a source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from agent.audit.content import clause_spans
from agent.audit.sources import Source
from retrieval.symbols.compare import compare, parse_normal
from retrieval.symbols.values.calendar import Span
from retrieval.types import Symbol

TIME_KINDS = frozenset({"period", "date"})
_LINK_AFTER = re.compile(
    r"\s*(?:[(（]\s*|,?\s*(?:in|for|during|at|as\s+of|as\s+at|at\s+the\s+end\s+of|by|on)\s+(?:the\s+)?)\Z",
    re.IGNORECASE,
)

_PAIRED = re.compile(r"分别|依次|\brespectively\b", re.IGNORECASE)

_YEAR_DAYS = 357

Fit = Literal["fits", "differs", "unknown"]


def times(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Return the dates and periods among `symbols`."""
    return [symbol for symbol in symbols if symbol.kind in TIME_KINDS]


def bind_period(figure: Symbol, symbols: Sequence[Symbol], text: str, start: int, end: int) -> Symbol | None:
    """Return the date or period that the figure in `text[start:end]` (one sentence) belongs to.

    In order: one that follows at once (`238 million in Q3 2024`, `2.38 亿元（2024 年）`), the
    nearest before it, the next in its clause, the next in the sentence.
    """
    near = [s for s in times(symbols) if start <= s.start and s.end <= end]
    if is_paired(text[start:end]):
        return _paired(figure, symbols, near, start, end)
    after = next((s for s in near if s.start >= figure.end), None)
    before = next((s for s in reversed(near) if s.end <= figure.start), None)
    if after is not None and _LINK_AFTER.match(text[figure.end : after.start]):
        return after
    return before or after


def is_loose(figure: Symbol, period: Symbol, symbols: Sequence[Symbol]) -> bool:
    """Tell whether a figure may belong to another period than the one before it.

    Of several periods in a sentence the last one's own figure stands between it and this one
    (`2024: 2.38, 2023: 2.51, change: -5.2%`).
    """
    several = len({s.normal for s in times(symbols)}) > 1
    between = any(
        period.end <= s.start and s.end <= figure.start and s.kind not in TIME_KINDS for s in symbols if s is not figure
    )
    return several and between


def is_paired(sentence: str) -> bool:
    """Tell whether a sentence lists figures and periods in the same order (`分别`, `respectively`)."""
    return _PAIRED.search(sentence) is not None


def _paired(figure: Symbol, symbols: Sequence[Symbol], near: Sequence[Symbol], start: int, end: int) -> Symbol | None:
    """The n-th figure of its kind belongs to the n-th period; with other numbers of them nobody can tell."""
    figures = [s.start for s in symbols if s.kind == figure.kind and start <= s.start and s.end <= end]
    if len(figures) != len(near) or figure.start not in figures:
        return None
    return near[figures.index(figure.start)]


def source_period(figure: Symbol, source: Source) -> Symbol | None:
    """Return the period of a source's figure: from its sentence, column or paragraph, else the headings."""
    start, end = source.sentence_at(figure.start)
    own = bind_period(figure, source.figures, source.text, start, end)
    if own is not None or is_paired(source.text[start:end]):
        return own
    cell = source.cell_at(figure.start)
    for start, end in cell.header_spans if cell else ():
        column = [s for s in times(source.figures) if start <= s.start and s.end <= end]
        if column:
            return column[0]
    paragraph = source.text.rfind("\n", 0, figure.start) + 1
    earlier = [s for s in times(source.symbols) if paragraph <= s.start and s.end <= figure.start]
    if earlier:
        return earlier[-1]
    headings = times(source.heading_symbols)
    return headings[-1] if headings else None


def fit(stated: Symbol | None, found: Symbol | None) -> Fit:
    """Compare the period a sentence speaks of with the one its source's figure belongs to."""
    if stated is None or found is None:
        return "unknown"
    match compare(stated, found):
        case "equal" | "rounded" | "contains":
            return "fits"
        case "different":
            return "fits" if _is_year_ending_in(stated, found) else "differs"
        case "incomparable":
            return "unknown"


def _is_year_ending_in(stated: Symbol, found: Symbol) -> bool:
    """A business year is named after the year it ends in: `52 weeks ended 30 March 2019` is 2019."""
    year, span = parse_normal(stated.kind, stated.normal), parse_normal(found.kind, found.normal)
    if not isinstance(year, Span) or not isinstance(span, Span):
        return False
    return min(year.length_days, span.length_days) >= _YEAR_DAYS and year.first <= span.last <= year.last


def clause_of(text: str, position: int) -> tuple[int, int]:
    """Return the span of the clause around `position`."""
    for start, end in clause_spans(text):
        if position < end:
            return min(start, position), end
    return 0, len(text)
