"""Tells that a value stands in the source for something else: another row, a copied sentence, another unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.audit.binding import HeadFit, any_named, clearest, fit_heads, speaks_of_another
from agent.audit.content import blank_out, share, subject_terms
from agent.audit.figure_candidates import Candidate
from agent.audit.figure_finding import FigureFinding
from agent.audit.frames import frame_weight, full_weight, is_copied
from agent.audit.grid import Cell
from agent.audit.periods import TIME_KINDS, clause_of
from agent.audit.sources import Source
from retrieval.types import Symbol

_COMPARED = frozenset({"amount", "percent", "percent_points", "quantity", "ratio"})
_FEW = 2
_NAMES = 0.8
"""Share of a clause's subject that the sentence of a source must hold to be about it."""
_CLEARLY = 0.25
_ELSEWHERE = 0.2
"""Up to so much of the subject, a place outside tables speaks of something else."""


def of_another_cell(
    text: str, figure: Symbol, figures: Sequence[Symbol], matches: Sequence[Candidate]
) -> FigureFinding | None:
    """The value stands in a table only where another thing is named than the sentence names."""
    if figure.kind in TIME_KINDS or text.count("|") >= 2:
        return None
    placed = [(c, _cell_of(c)) for c in matches if _cell_of(c) is not None or c.aligned > _ELSEWHERE]
    if not placed or any(cell is None for _, cell in placed):
        return None
    nearest: FigureFinding | None = None
    for source in {id(c.source): c.source for c, _ in placed}.values():
        fits = _fits(text, figure, figures, source)
        cells = [cell for c, cell in placed if c.source is source and cell is not None]
        better = speaks_of_another(fits, cells)
        if better is None:
            return None
        rival = next((s for s in source.figures if better.start <= s.start < better.end), None)
        nearest = FigureFinding(figure, "subject", source, rival, matches[0].symbol)
    return nearest


def named_places(text: str, figure: Symbol, figures: Sequence[Symbol], matches: Sequence[Candidate]) -> list[Candidate]:
    """Return the matches without table cells of another thing than the sentence names."""
    kept: list[Candidate] = []
    for source in {id(c.source): c.source for c in matches}.values():
        placed = [(c, _cell_of(c)) for c in matches if c.source is source]
        cells = [cell for _, cell in placed if cell is not None]
        named = clearest(_fits(text, figure, figures, source), cells) if len(cells) > 1 else cells
        kept += [c for c, cell in placed if cell is None or any(cell is each for each in named)]
    return kept


def _cell_of(candidate: Candidate) -> Cell | None:
    source, symbol = candidate.source, candidate.symbol
    return source.cell_at(symbol.start) if symbol in source.figure_set else None


def _fits(text: str, figure: Symbol, figures: Sequence[Symbol], source: Source) -> list[HeadFit]:
    """How the heads of a table fit the figure's clause; all up to its neighbours where that names none."""
    bare = blank_out(text, figures)
    others = [other for other in figures if other is not figure and other.kind not in TIME_KINDS]
    fits = fit_heads(subject_terms(bare[slice(*clause_of(text, figure.start))]), source) if others else []
    if any_named(fits):
        return fits
    first = max((other.end for other in others if other.end <= figure.start), default=0)
    last = min((other.start for other in others if other.start >= figure.end), default=len(bare))
    return fit_heads(subject_terms(bare[first:last]), source)


def of_another_sentence(
    text: str,
    figure: Symbol,
    figures: Sequence[Symbol],
    matches: Sequence[Candidate],
    others: Sequence[Candidate],
) -> FigureFinding | None:
    """The value stands in a sentence of another thing, and the thing that is named has a value of its own elsewhere."""
    if figure.kind in TIME_KINDS or figure.kind not in _COMPARED or text.count("|") >= 2:
        return None
    bare = blank_out(text, figures)
    subject = subject_terms(bare[slice(*clause_of(text, figure.start))])
    if len(subject) < _FEW:
        subject = subject_terms(bare)
    if len(subject) < _FEW or any(_about(c) is None for c in matches):
        return None
    told = subject_terms(bare)
    mine = [_about(c) or frozenset() for c in matches]
    if any(about <= told for about in mine):
        return None
    best = max(share(subject, about) for about in mine)
    places = {(id(c.source), _sentence_of(c)) for c in matches}
    for rival in others:
        about = _about(rival)
        if about is None or (id(rival.source), _sentence_of(rival)) in places:
            continue
        named = share(subject, about)
        if named >= _NAMES and best <= named - _CLEARLY:
            return FigureFinding(figure, "subject", rival.source, rival.symbol, matches[0].symbol)
    return None


def _sentence_of(candidate: Candidate) -> int:
    clause = candidate.source.clause_at(candidate.symbol.start)
    return clause.sentence if clause is not None else -1


def _about(candidate: Candidate) -> frozenset[str] | None:
    """What the clause round a source's figure is about, else its sentence; None in tables and headings."""
    source, symbol = candidate.source, candidate.symbol
    if symbol not in source.figure_set or source.in_table(symbol.start):
        return None
    clause = source.clause_at(symbol.start)
    if clause is None:
        return None
    return clause.own_terms if len(clause.own_terms) >= _FEW else clause.sentence_terms


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
