"""Checks that every figure of a sentence stands in a cited source: same value, same subject, same period.

A figure is *found* (equal, rounded to the digits stated, or a period that contains the
source's), *different* (the source states another value for the same thing), or *missing*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from agent.audit.approximate import Hedge, belies, covers, hedge_of
from agent.audit.computed import is_derived, recompute
from agent.audit.content import blank_out, share, subject_terms
from agent.audit.counting import is_spelled_out, read_counts
from agent.audit.flips import direction
from agent.audit.frames import frame_weight, full_weight, is_copied
from agent.audit.periods import TIME_KINDS, bind_period, clause_of, fit, is_loose, is_paired, source_period
from agent.audit.sources import Source, is_unscaled
from retrieval.language_id import language_of
from retrieval.symbols.compare import Magnitude, compare, parse_normal
from retrieval.types import Symbol

Outcome = Literal[
    "equal",
    "rounded",
    "contains",
    "question",
    "computed",
    "page",
    "different",
    "scale",
    "sign",
    "unit_unknown",
    "subject",
    "period_mismatch",
    "period_above",
    "period_not_asked",
    "missing",
]
FOUND: frozenset[Outcome] = frozenset({"equal", "rounded", "contains", "computed", "page", "question"})
CONTRADICTS: frozenset[Outcome] = frozenset({"different", "scale", "sign", "subject", "period_mismatch"})
_SAME_THING = 0.5
"""Share of the subject's terms a source clause must hold before its other value contradicts."""
_SURELY_SAME_THING = 0.7
_OTHER_THING = 0.2
_COUNTS_LIKE_WORDS = 10
_SCALE_WORD = re.compile(r"[万亿萬億]|(?i:thousand|million|billion|[mb]n\b)")


@dataclass(frozen=True, slots=True)
class FigureFinding:
    """What became of one figure of a sentence."""

    symbol: Symbol
    outcome: Outcome
    source: Source | None = None
    match: Symbol | None = None
    """The source's figure (or period, for a period outcome) it was compared with."""
    other: Symbol | None = None
    """For `subject`: where the stated value does stand. For a period outcome: the period spoken of or asked for."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    source: Source
    symbol: Symbol
    comparison: str
    aligned: float
    """Share of the subject's terms in the source's clause; half weight where only its sentence has them."""


@dataclass(frozen=True, slots=True)
class FigureContext:
    """What a sentence's figures are read against, besides the sources."""

    question: str
    asked: Sequence[Symbol]
    """The question's symbols."""
    period_of: Callable[[Symbol], Symbol | None] = lambda _: None
    """The period that sentences, headings or a table's header above give to a figure whose sentence names none."""
    nearby: Sequence[Symbol] = ()
    """Source figures that neighbouring sentences cite: operands of a computed figure."""


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
    candidates = [_candidates(text, bare, figure, sources, context.question) for figure in figures]
    stated = {
        (id(c.source), c.symbol.start) for group in candidates for c in group if c.comparison in ("equal", "rounded")
    }
    findings = [
        _judge(text, figure, figures, group, stated, sources, context)
        for figure, group in zip(figures, candidates, strict=True)
    ]
    operands = [f.match for f in findings if f.outcome in FOUND and f.match is not None]
    return [
        _retry(text, finding, [*operands, *context.nearby], _operands(group))
        if finding.outcome in ("missing", "different")
        else finding
        for finding, group in zip(findings, candidates, strict=True)
    ]


def _operands(candidates: Sequence[_Candidate]) -> list[Symbol]:
    """The few figures that the source states for the same thing."""
    ranked = sorted((c for c in candidates if c.aligned >= _SAME_THING), key=lambda c: -c.aligned)
    return [c.symbol for c in ranked[:4]]


def _candidates(text: str, bare: str, figure: Symbol, sources: Sequence[Source], question: str) -> list[_Candidate]:
    start, end = clause_of(text, figure.start)
    subject = subject_terms(bare[start:end])
    if len(subject) < 2:
        subject |= subject_terms(bare)
    if len(subject) < 2:
        subject |= subject_terms(question)
    language = language_of(text)
    hedge, directed = hedge_of(text[start:end]), direction(text[start:end]) is not None
    found: list[_Candidate] = []
    for source in sources:
        comparable = "other" in (language, source.language) or language == source.language
        for symbol in (*source.figures, *source.heading_symbols):
            comparison = _compare(figure, symbol, hedge, directed)
            if comparison == "incomparable":
                if not _off_by_scale(figure, symbol):
                    continue
                comparison = "unscaled"
            in_text = symbol in source.figure_set
            found.append(_Candidate(source, symbol, comparison, _align(subject, source, symbol, comparable, in_text)))
    return found


def _compare(stated: Symbol, source: Symbol, hedge: Hedge | None, directed: bool) -> str:
    if (stated.kind in TIME_KINDS) != (source.kind in TIME_KINDS):
        return "incomparable"
    if (stated.kind, stated.normal) == (source.kind, source.normal):
        return "equal"  # "below 5,000" may restate the other side of "above 5,000"
    comparison = compare(stated, source)
    if comparison == "contains" and stated.kind not in TIME_KINDS:
        # A bound holds most figures of a source; it rests on the one that it cuts off.
        return "rounded" if hedge is not None and covers(hedge, stated, source) else "incomparable"
    if comparison == "different" and stated.kind in ("percent", "percent_points") and not directed:
        # "a change of 5.2 %" says nothing of the direction.
        mirrored = source.model_copy(update={"normal": source.normal.lstrip("-")})
        return compare(stated, mirrored) if source.normal.startswith("-") else comparison
    if hedge is None:
        return comparison
    if comparison == "rounded":
        return "different" if belies(hedge, stated, source) else comparison
    return "rounded" if comparison in ("different", "incomparable") and covers(hedge, stated, source) else comparison


def _align(subject: frozenset[str], source: Source, symbol: Symbol, comparable: bool, in_text: bool) -> float:
    clause = source.clause_at(symbol.start) if in_text else None
    if clause is None or not comparable:
        return 0.0
    return max(share(subject, clause.terms), share(subject, clause.sentence_terms) / 2)


def _judge(
    text: str,
    figure: Symbol,
    figures: Sequence[Symbol],
    candidates: Sequence[_Candidate],
    stated: set[tuple[int, int]],
    sources: Sequence[Source],
    context: FigureContext,
) -> FigureFinding:
    if _is_page(text, figure) and any(Decimal(figure.normal) in s.pages for s in sources):
        # Before its value is looked for: a 3 may stand in the source as well, and mean something else there.
        return FigureFinding(figure, "page")
    matches = [c for c in candidates if c.comparison in ("equal", "rounded", "contains")]
    unscaled = [c for c in candidates if c.comparison in ("different", "unscaled") and _lacks_unit(c)]
    others = [c for c in candidates if c.comparison == "different" and (id(c.source), c.symbol.start) not in stated]
    rival = max(others, key=lambda c: c.aligned, default=None)
    if not matches:
        return _judge_absent(figure, others, unscaled, context)
    best = max(matches, key=lambda c: (c.comparison == "equal", c.aligned))
    nearest = max(matches, key=lambda c: c.aligned)
    copied = _copied_from(text, figure, matches, [c for c in candidates if c.comparison == "different"])
    if copied is not None:
        return FigureFinding(figure, "different", copied.source, copied.symbol)
    if figure.kind == "number":
        rival, nearest = _of_one_unit(text, figure, matches, others) or (rival, nearest)
    if (
        rival is not None
        and figure.kind not in ("date", "period")
        and rival.aligned >= _SURELY_SAME_THING
        and nearest.aligned <= _OTHER_THING
    ):
        return FigureFinding(figure, "subject", rival.source, rival.symbol, nearest.symbol)
    if figure.kind in ("date", "period"):
        return FigureFinding(figure, _found(best.comparison), best.source, best.symbol)
    return _judge_period(text, figure, figures, matches, best, context)


def _copied_from(
    text: str, figure: Symbol, matches: Sequence[_Candidate], others: Sequence[_Candidate]
) -> _Candidate | None:
    """The place that the sentence repeats word for word with another value, where its own value stands elsewhere."""
    if text.count("|") >= 2:
        return None
    span = (figure.start, figure.end)

    def weight(candidate: _Candidate) -> float:
        place = (candidate.symbol.start, candidate.symbol.end)
        return frame_weight(text, span, candidate.source.text, place)

    inside = [c for c in others if c.symbol in c.source.figure_set]
    rival = max(inside, key=weight, default=None)
    if rival is None:
        return None
    best = max((weight(c) for c in matches if c.symbol in c.source.figure_set), default=0.0)
    return rival if is_copied(weight(rival), best, full_weight(text, span)) else None


def _of_one_unit(
    text: str, figure: Symbol, matches: Sequence[_Candidate], others: Sequence[_Candidate]
) -> tuple[_Candidate, _Candidate] | None:
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


_PAGE = re.compile(r"(?:第|\bpages?|\bp\.)\s*$", re.IGNORECASE)


def _is_page(text: str, figure: Symbol) -> bool:
    """`第 5 页` and `page 5` name the place a citation leads to."""
    return figure.kind == "number" and figure.normal.isdigit() and _PAGE.search(text, 0, figure.start) is not None


def _judge_absent(
    figure: Symbol,
    others: Sequence[_Candidate],
    unscaled: Sequence[_Candidate],
    context: FigureContext,
) -> FigureFinding:
    rival = max(others, key=lambda c: c.aligned, default=None)
    for other in others:
        if _turned(figure, other.symbol):
            return FigureFinding(figure, "sign", other.source, other.symbol)
    repeated = any(compare(figure, asked) == "equal" for asked in context.asked)
    cell = next((c for c in unscaled if _off_by_scale(figure, c.symbol)), None)
    if cell is not None:
        return FigureFinding(figure, "unit_unknown", cell.source, cell.symbol)
    if rival is not None and rival.aligned >= (0.6 if repeated or figure.kind == "number" else _SAME_THING):
        return FigureFinding(figure, "different", rival.source, rival.symbol)
    if repeated:
        return FigureFinding(figure, "question")
    for other in others:
        if _off_by_scale(figure, other.symbol):
            return FigureFinding(figure, "scale", other.source, other.symbol)
    return FigureFinding(figure, "missing", rival.source if rival else None)


def _judge_period(
    text: str,
    figure: Symbol,
    figures: Sequence[Symbol],
    matches: Sequence[_Candidate],
    best: _Candidate,
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
    if stated is None or not found or any(fit(stated, period) != "differs" for _, period in found):
        return FigureFinding(figure, _found(best.comparison), best.source, best.symbol)
    candidate, period = found[0]
    outcome: Outcome = "period_mismatch" if own else "period_above" if above else "period_not_asked"
    return FigureFinding(figure, outcome, candidate.source, period, stated)


def _found(comparison: str) -> Outcome:
    return "equal" if comparison == "equal" else "rounded" if comparison == "rounded" else "contains"


def _lacks_unit(candidate: _Candidate) -> bool:
    """Tell whether the figure stands in a table whose unit the source does not name."""
    return (
        candidate.source.unit is None
        and is_unscaled(candidate.symbol)
        and (candidate.symbol in candidate.source.figure_set and candidate.source.in_table(candidate.symbol.start))
    )


def _turned(stated: Symbol, source: Symbol) -> bool:
    """Tell whether two percentages differ in nothing but their sign: a fall told as a rise."""
    if stated.kind != source.kind or stated.kind not in ("percent", "percent_points"):
        return False
    return stated.normal.lstrip("-") == source.normal.lstrip("-")


def _off_by_scale(stated: Symbol, source: Symbol) -> bool:
    """Tell whether two figures have the same digits but another power of ten (亿 for billion)."""
    if stated.kind not in ("amount", "quantity") or source.kind not in ("amount", "quantity", "number"):
        return False
    left, right = parse_normal(stated.kind, stated.normal), parse_normal(source.kind, source.normal)
    if not isinstance(left, Magnitude) or not isinstance(right, Magnitude) or not left.value or not right.value:
        return False
    if stated.kind == "quantity" and left.unit and (left.unit != right.unit or not _SCALE_WORD.search(stated.surface)):
        return False  # 36 branches beside 360 of something: two counts, not one slip
    ratio = abs(left.value / right.value)
    return ratio != 1 and ratio == Decimal(1).scaleb(ratio.adjusted())


def _retry(text: str, finding: FigureFinding, operands: Sequence[Symbol], rivals: Sequence[Symbol]) -> FigureFinding:
    """A figure that does not stand in the source may follow from figures that do."""
    start, end = clause_of(text, finding.symbol.start)
    derived = is_derived(text[:end])
    origin = recompute(finding.symbol, operands, text[start:end])
    if origin is None and derived:
        origin = recompute(finding.symbol, rivals, text[:end])
    if origin is not None:
        return FigureFinding(finding.symbol, "computed", finding.source, origin)
    if derived and finding.outcome == "different":
        return FigureFinding(finding.symbol, "missing", finding.source)
    return finding


def is_minor(finding: FigureFinding) -> bool:
    """Tell whether a missing figure is a small count that a writer makes (`以下 3 项`), not a fact of the source."""
    symbol = finding.symbol
    if finding.outcome != "missing" or symbol.kind not in ("number", "quantity"):
        return False
    number = symbol.normal.partition(" ")[0]  # of `3 firm`
    return is_spelled_out(symbol) or (number.isdigit() and int(number) <= _COUNTS_LIKE_WORDS)
