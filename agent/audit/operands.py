"""Which figures of the cited sources a computed figure may have been worked out from."""

from __future__ import annotations

from collections.abc import Sequence

from agent.audit.binding import best_cells, fit_heads, named_cells
from agent.audit.computed import Operand
from agent.audit.content import share
from agent.audit.grid import Cell
from agent.audit.periods import TIME_KINDS, fit, source_period, times
from agent.audit.sources import Source
from retrieval.types import Symbol

_SAME_THING = 0.4
"""Share of what a sentence is about that a sentence of the source must hold."""
_MOST = 12


def find_operands(subject: frozenset[str], figures: Sequence[Symbol], sources: Sequence[Source]) -> list[Operand]:
    """Return figures of the things and periods that a sentence names, those of tables first.

    Args:
        subject: The terms of what the sentence is about.
        figures: The sentence's figures; where it names two periods or more, only theirs count.
        sources: What it cites.
    """
    stated = times(figures)
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
        Operand(symbol, source_period(symbol, source), (id(source), cell.row))
        for cell in cells[:_MOST]
        for symbol in source.figures
        if cell.start <= symbol.start and symbol.end <= cell.end and symbol.kind not in TIME_KINDS
    ]


def _in_periods(cells: Sequence[Cell], source: Source, stated: Sequence[Symbol]) -> list[Cell]:
    """The cells of the periods that the sentence names; all of them where it names one only, or none is found."""
    if len(stated) < 2:
        return list(cells)
    kept: list[Cell] = []
    for cell in cells:
        symbol = next((s for s in source.figures if cell.start <= s.start < cell.end), None)
        period = source_period(symbol, source) if symbol is not None else None
        if period is None or any(fit(each, period) == "fits" for each in stated):
            kept.append(cell)
    return kept


def _of_prose(subject: frozenset[str], source: Source, stated: Sequence[Symbol]) -> list[Operand]:
    found: list[tuple[float, Operand]] = []
    for symbol in source.figures:
        clause = source.clause_at(symbol.start)
        if symbol.kind in TIME_KINDS or clause is None or source.in_table(symbol.start):
            continue
        score = share(subject, clause.sentence_terms)
        if score < _SAME_THING:
            continue
        period = source_period(symbol, source)
        if len(stated) < 2 or period is None or any(fit(each, period) == "fits" for each in stated):
            found.append((score, Operand(symbol, period, (id(source), clause.sentence))))
    found.sort(key=lambda scored: -scored[0])
    return [operand for _, operand in found[:_MOST]]
