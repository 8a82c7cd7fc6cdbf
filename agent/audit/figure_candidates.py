"""Every figure of the sources beside a figure of a sentence: how they compare, and how near their subjects are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from agent.audit.approximate import Hedge, belies, covers, hedge_of
from agent.audit.content import share, subject_terms
from agent.audit.flips import direction
from agent.audit.periods import TIME_KINDS, clause_of
from agent.audit.sources import Source, is_unscaled
from retrieval.language_id import language_of
from retrieval.symbols.compare import Magnitude, compare, parse_normal
from retrieval.types import Symbol

_SCALE_WORD = re.compile(r"[万亿萬億]|(?i:thousand|million|billion|[mb]n\b)")
_PERCENT_HEAD = re.compile(r"[%％率比]|\b(?:percent\w*|ratio|rate|margin|growth|change|yield|return)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A figure of a source beside one of a sentence."""

    source: Source
    symbol: Symbol
    comparison: str
    aligned: float
    """Share of the subject's terms in the source's clause; half weight where only its sentence has them."""


def candidates_for(text: str, bare: str, figure: Symbol, sources: Sequence[Source], question: str) -> list[Candidate]:
    """Return the figures of `sources` that `figure` can be compared with.

    Args:
        text: The sentence.
        bare: The sentence with its figures blanked.
        figure: One of its figures.
        sources: What it cites.
        question: Says what a sentence of hardly any words is about.
    """
    start, end = clause_of(text, figure.start)
    subject = subject_terms(bare[start:end])
    if len(subject) < 2:
        subject |= subject_terms(bare)
    if len(subject) < 2:
        subject |= subject_terms(question)
    language = language_of(text)
    hedge, directed = hedge_of(text[start:end]), direction(text[start:end]) is not None
    found: list[Candidate] = []
    for source in sources:
        comparable = "other" in (language, source.language) or language == source.language
        for symbol in (*source.figures, *source.heading_symbols):
            comparison = _compare(figure, symbol, hedge, directed)
            if comparison != "incomparable" and _lacks_percent(figure, symbol, source):
                continue
            if comparison == "incomparable":
                if not off_by_scale(figure, symbol):
                    continue
                comparison = "unscaled"
            in_text = symbol in source.figure_set
            found.append(Candidate(source, symbol, comparison, _align(subject, source, symbol, comparable, in_text)))
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


def _lacks_percent(stated: Symbol, symbol: Symbol, source: Source) -> bool:
    """Tell whether a percentage is set beside a table's bare number whose heads name no rate."""
    if stated.kind not in ("percent", "percent_points") or symbol.kind != "number":
        return False
    cell = source.cell_at(symbol.start)
    return cell is not None and _PERCENT_HEAD.search(f"{cell.row_head} {cell.column_head}") is None


def _align(subject: frozenset[str], source: Source, symbol: Symbol, comparable: bool, in_text: bool) -> float:
    clause = source.clause_at(symbol.start) if in_text else None
    if clause is None or not comparable:
        return 0.0
    return max(share(subject, clause.terms), share(subject, clause.sentence_terms) / 2)


def lacks_unit(candidate: Candidate) -> bool:
    """Tell whether the figure stands in a table whose unit the source does not name."""
    return (
        candidate.source.unit is None
        and is_unscaled(candidate.symbol)
        and (candidate.symbol in candidate.source.figure_set and candidate.source.in_table(candidate.symbol.start))
    )


def turned(stated: Symbol, source: Symbol) -> bool:
    """Tell whether two percentages differ in nothing but their sign: a fall told as a rise."""
    if stated.kind != source.kind or stated.kind not in ("percent", "percent_points"):
        return False
    return stated.normal.lstrip("-") == source.normal.lstrip("-")


def off_by_scale(stated: Symbol, source: Symbol) -> bool:
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
