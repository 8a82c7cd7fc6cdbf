"""Checks that every figure of a sentence stands in a cited source: same value, same subject, same period.

A figure is *found* (equal, rounded to the digits stated, or a period that contains the
source's), *different* (the source states another value for the same thing), or *missing*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from agent.audit.computed import Operand, is_derived, is_over_time, recompute
from agent.audit.content import blank_out, subject_terms
from agent.audit.counting import read_counts
from agent.audit.figure_candidates import Candidate, candidates_for, lacks_unit, off_by_scale, turned
from agent.audit.figure_finding import FOUND, FigureContext, FigureFinding, Outcome
from agent.audit.figure_places import copied_from, named_places, of_another_cell, of_another_sentence, of_one_unit
from agent.audit.flips import direction
from agent.audit.operands import find_operands
from agent.audit.periods import bind_period, clause_of, fit, is_loose, is_paired, source_period, times
from agent.audit.sources import Source
from retrieval.symbols.compare import compare
from retrieval.types import Symbol

_SAME_THING = 0.5
"""Share of the subject's terms a source clause must hold before its other value contradicts."""
_SURELY_SAME_THING = 0.7
_MAY_FOLLOW: frozenset[Outcome] = frozenset({"missing", "different", "subject"})
"""Outcomes of a figure that may yet follow from others."""
_OTHER_THING = 0.2
_PAGE = re.compile(r"(?:第|\bpages?|\bp\.)\s*$", re.IGNORECASE)


def figures_of(text: str, symbols: Sequence[Symbol]) -> list[Symbol]:
    """Return every comparable symbol of a text, small counts included, ordered by start."""
    return sorted([*symbols, *read_counts(text, symbols)], key=lambda symbol: symbol.start)


def check_figures(
    text: str, figures: Sequence[Symbol], sources: Sequence[Source], context: FigureContext
) -> list[FigureFinding]:
    """Check every figure of the sentence `text`; empty when it has none."""
    if not figures or not sources:
        return []
    bare = blank_out(text, figures)
    candidates = [candidates_for(text, bare, figure, sources, context.question) for figure in figures]
    stated = {
        (id(c.source), c.symbol.start) for group in candidates for c in group if c.comparison in ("equal", "rounded")
    }
    findings = [
        _judge(text, figure, figures, group, stated, sources, context)
        for figure, group in zip(figures, candidates, strict=True)
    ]
    operands = [Operand(f.match) for f in findings if f.outcome in FOUND and f.match is not None]
    operands += [Operand(symbol) for symbol in context.nearby]
    return [
        _retry(text, finding, figures, operands, sources) if finding.outcome in _MAY_FOLLOW else finding
        for finding in findings
    ]


def _judge(
    text: str,
    figure: Symbol,
    figures: Sequence[Symbol],
    candidates: Sequence[Candidate],
    stated: set[tuple[int, int]],
    sources: Sequence[Source],
    context: FigureContext,
) -> FigureFinding:
    if _is_page(text, figure) and any(Decimal(figure.normal) in s.pages for s in sources):
        # Before its value is looked for: a 3 may stand in the source as well, and mean something else there.
        return FigureFinding(figure, "page")
    matches = [c for c in candidates if c.comparison in ("equal", "rounded", "contains")]
    unscaled = [c for c in candidates if c.comparison in ("different", "unscaled") and lacks_unit(c)]
    others = [c for c in candidates if c.comparison == "different" and (id(c.source), c.symbol.start) not in stated]
    rival = max(others, key=lambda c: c.aligned, default=None)
    copied = copied_from(text, figure, matches, [c for c in candidates if c.comparison == "different"])
    if copied is not None:
        return FigureFinding(figure, "different", copied.source, copied.symbol)
    if not matches:
        return _judge_absent(figure, others, unscaled, context)
    best = max(matches, key=lambda c: (c.comparison == "equal", c.aligned))
    nearest = max(matches, key=lambda c: c.aligned)
    if figure.kind == "number":
        rival, nearest = of_one_unit(text, figure, matches, others) or (rival, nearest)
    if (
        rival is not None
        and figure.kind not in ("date", "period")
        and rival.aligned >= _SURELY_SAME_THING
        and nearest.aligned <= _OTHER_THING
    ):
        return FigureFinding(figure, "subject", rival.source, rival.symbol, nearest.symbol)
    other = of_another_cell(text, figure, figures, matches) or of_another_sentence(
        text, figure, figures, matches, others
    )
    if other is not None:
        return other
    if figure.kind in ("date", "period"):
        return FigureFinding(figure, _found(best.comparison), best.source, best.symbol)
    return _judge_period(text, figure, figures, named_places(text, figure, figures, matches), best, context)


def _is_page(text: str, figure: Symbol) -> bool:
    """`第 5 页` and `page 5` name the place a citation leads to."""
    return figure.kind == "number" and figure.normal.isdigit() and _PAGE.search(text, 0, figure.start) is not None


def _judge_absent(
    figure: Symbol,
    others: Sequence[Candidate],
    unscaled: Sequence[Candidate],
    context: FigureContext,
) -> FigureFinding:
    rival = max(others, key=lambda c: c.aligned, default=None)
    for other in others:
        if turned(figure, other.symbol):
            return FigureFinding(figure, "sign", other.source, other.symbol)
    repeated = any(compare(figure, asked) == "equal" for asked in context.asked)
    cell = next((c for c in unscaled if off_by_scale(figure, c.symbol)), None)
    if cell is not None:
        return FigureFinding(figure, "unit_unknown", cell.source, cell.symbol)
    if rival is not None and rival.aligned >= (0.6 if repeated or figure.kind == "number" else _SAME_THING):
        return FigureFinding(figure, "different", rival.source, rival.symbol)
    if repeated:
        return FigureFinding(figure, "question")
    for other in others:
        if off_by_scale(figure, other.symbol):
            return FigureFinding(figure, "scale", other.source, other.symbol)
    return FigureFinding(figure, "missing", rival.source if rival else None)


def _judge_period(
    text: str,
    figure: Symbol,
    figures: Sequence[Symbol],
    matches: Sequence[Candidate],
    best: Candidate,
    context: FigureContext,
) -> FigureFinding:
    """The value stands in the source; does it stand there for the period the sentence speaks of?"""
    own = bind_period(figure, figures, text, 0, len(text))
    if own is not None and not is_paired(text) and is_loose(figure, own, figures):
        return FigureFinding(figure, _found(best.comparison), best.source, best.symbol)
    asked = [s for s in context.asked if s.kind == "period"]
    above = context.period_of(figure)
    stated = own or above or (asked[0] if len(asked) == 1 else None)
    found = [(c, source_period(c.symbol, c.source)) for c in matches if c.symbol in c.source.figure_set]
    if is_over_time(text) and any(fit(each, period) == "fits" for each in times(figures) for _, period in found):
        return FigureFinding(figure, _found(best.comparison), best.source, best.symbol)
    if stated is None or not found or any(fit(stated, period) != "differs" for _, period in found):
        return FigureFinding(figure, _found(best.comparison), best.source, best.symbol)
    candidate, period = found[0]
    outcome: Outcome = "period_mismatch" if own else "period_above" if above else "period_not_asked"
    return FigureFinding(figure, outcome, candidate.source, period, stated)


def _found(comparison: str) -> Outcome:
    return "equal" if comparison == "equal" else "rounded" if comparison == "rounded" else "contains"


def _retry(
    text: str, finding: FigureFinding, figures: Sequence[Symbol], cited: Sequence[Operand], sources: Sequence[Source]
) -> FigureFinding:
    """A figure that does not stand in the source may follow from figures that do."""
    start, end = clause_of(text, finding.symbol.start)
    derived = is_derived(text[:end]) or is_derived(text)
    way = direction(text[start:end])
    working = recompute(finding.symbol, cited, text[start:end], way)
    if working is None and derived:
        subject = subject_terms(blank_out(text, figures))
        working = recompute(finding.symbol, find_operands(subject, figures, sources, text), text, direction(text))
    if working is not None:
        return FigureFinding(finding.symbol, "computed", finding.source, working.first, formula=working.formula)
    if derived and finding.outcome == "different":
        return FigureFinding(finding.symbol, "missing", finding.source)
    return finding
