"""Which figures of the cited sources a computed figure may have been worked out from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from agent.audit.binding import best_cells, fit_heads, named_cells
from agent.audit.computed import Operand, is_average, is_over_time
from agent.audit.content import share
from agent.audit.grid import Cell
from agent.audit.periods import TIME_KINDS, fit, source_period, times
from agent.audit.sources import Source
from retrieval.types import Symbol

_SAME_THING = 0.4
"""Share of what a sentence is about that a sentence of the source must hold."""
_NAMED = 0.45
"""Share of what a sentence of the source is about, rare terms weighing more, that the sentence must name."""
_MOST = 12


def find_operands(
    subject: frozenset[str], figures: Sequence[Symbol], sources: Sequence[Source], clause: str
) -> list[Operand]:
    """Return figures of the things and periods that a sentence names, those of tables first.

    Args:
        subject: The terms of what the sentence is about.
        figures: The sentence's figures; where it names periods, only theirs count.
        sources: What it cites.
        clause: Its words: where they speak of a change, the one period named is compared with one that is not.
    """
    stated = times(figures)
    if is_average(clause) or (is_over_time(clause) and len(stated) < 2):
        stated = []
    found: list[Operand] = []
    for source in sources:
        found += _of_tables(subject, source, stated)
    for source in sources:
        found += _of_prose(subject, source, stated)
    return found[: 2 * _MOST]


def _of_tables(subject: frozenset[str], source: Source, stated: Sequence[Symbol]) -> list[Operand]:
    if not source.cells:
        return []
    fits = fit_heads(subject, source)
    cells = _in_periods(named_cells(fits), source, stated) or _in_periods(best_cells(fits), source, stated)
    return [
        Operand(symbol, source_period(symbol, source), (id(source), _line_of(cell)))
        for cell in cells[:_MOST]
        for symbol in source.figures
        if cell.start <= symbol.start and symbol.end <= cell.end and symbol.kind not in TIME_KINDS
    ]


def _line_of(cell: Cell) -> Hashable:
    """What tells one thing at several times: the row, or the column of a table whose rows are years."""
    return cell.row if cell.row_terms else cell.header_spans


def _in_periods(cells: Sequence[Cell], source: Source, stated: Sequence[Symbol]) -> list[Cell]:
    """The cells of the periods that the sentence names; all of them where it names none."""
    if not stated:
        return list(cells)
    kept: list[Cell] = []
    for cell in cells:
        symbol = next((s for s in source.figures if cell.start <= s.start < cell.end), None)
        period = source_period(symbol, source) if symbol is not None else None
        if period is None or any(fit(each, period) != "differs" for each in stated):
            kept.append(cell)
    return kept


def _of_prose(subject: frozenset[str], source: Source, stated: Sequence[Symbol]) -> list[Operand]:
    found: list[tuple[float, Operand]] = []
    for symbol in source.figures:
        clause = source.clause_at(symbol.start)
        if symbol.kind in TIME_KINDS or clause is None or source.in_table(symbol.start):
            continue
        covered, named = share(subject, clause.sentence_terms), source.named_share(clause, subject)
        if covered < _SAME_THING and named < _NAMED:
            continue
        score = max(covered, named)
        period = source_period(symbol, source)
        if not stated or period is None or any(fit(each, period) != "differs" for each in stated):
            found.append((score, Operand(symbol, period, (id(source), clause.sentence))))
    found.sort(key=lambda scored: -scored[0])
    return [operand for _, operand in found[:_MOST]]
