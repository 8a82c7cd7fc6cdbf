"""Tells that a value stands in the source for something else: another row, a copied sentence, another unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.audit.binding import fit_heads, speaks_of_another
from agent.audit.content import blank_out, subject_terms
from agent.audit.figure_candidates import Candidate
from agent.audit.figure_finding import FigureFinding
from agent.audit.frames import frame_weight, full_weight, is_copied
from agent.audit.periods import TIME_KINDS, clause_of
from retrieval.types import Symbol


def of_another_cell(
    text: str, figure: Symbol, figures: Sequence[Symbol], matches: Sequence[Candidate]
) -> FigureFinding | None:
    """The value stands in a table only where another thing is named than the sentence names, or another period."""
    if figure.kind in TIME_KINDS or text.count("|") >= 2:
        return None
    placed = [(c, c.source.cell_at(c.symbol.start) if c.symbol in c.source.figure_set else None) for c in matches]
    if any(cell is None for _, cell in placed):
        return None
    bare = blank_out(text, figures)
    clause, whole = subject_terms(bare[slice(*clause_of(text, figure.start))]), subject_terms(bare)
    nearest: FigureFinding | None = None
    for source in {id(c.source): c.source for c in matches}.values():
        fits = fit_heads(clause, source)
        if not any(fit.score for fit in fits):
            fits = fit_heads(whole, source)
        cells = [cell for c, cell in placed if c.source is source and cell is not None]
        better = speaks_of_another(fits, cells)
        if better is None:
            return None
        rival = next((s for s in source.figures if better.start <= s.start < better.end), None)
        nearest = FigureFinding(figure, "subject", source, rival, matches[0].symbol)
    return nearest


def copied_from(
    text: str, figure: Symbol, matches: Sequence[Candidate], others: Sequence[Candidate]
) -> Candidate | None:
    """The place that the sentence repeats word for word with another value, where its own value stands elsewhere."""
    if text.count("|") >= 2:
        return None
    span = (figure.start, figure.end)

    def weight(candidate: Candidate) -> float:
        place = (candidate.symbol.start, candidate.symbol.end)
        return frame_weight(text, span, candidate.source.text, place)

    inside = [c for c in others if c.symbol in c.source.figure_set]
    rival = max(inside, key=weight, default=None)
    if rival is None:
        return None
    best = max((weight(c) for c in matches if c.symbol in c.source.figure_set), default=0.0)
    return rival if is_copied(weight(rival), best, full_weight(text, span)) else None


def of_one_unit(
    text: str, figure: Symbol, matches: Sequence[Candidate], others: Sequence[Candidate]
) -> tuple[Candidate, Candidate] | None:
    """A bare number stands in many places; its unit (8 裂, 8 days) tells which of them speak of the same.

    Returns:
        The best rival with the figure's unit, and the best match as if it spoke of something else;
        None where a match has the unit, or no rival has.
    """
    unit = _unit_after(text, figure.end)
    if not unit or any(_unit_after(c.source.text, c.symbol.end) == unit for c in matches):
        return None
    same = [c for c in others if _unit_after(c.source.text, c.symbol.end) == unit]
    if not same:
        return None
    nearest = max(matches, key=lambda c: c.aligned)
    return max(same, key=lambda c: c.aligned), replace(nearest, aligned=0.0)


_UNIT_WORD = re.compile(r"[\s-]*([A-Za-z]+|[\u4e00-\u9fff])")


def _unit_after(text: str, end: int) -> str:
    match = _UNIT_WORD.match(text, end)
    return match.group(1).casefold().rstrip("s") if match else ""
