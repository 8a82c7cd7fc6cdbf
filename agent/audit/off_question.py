"""Tells a true sentence that answers another question: the features a fitted rule weighs.

A sentence copied from the right passage is supported whatever was asked. Whether it answers
shows in where it stands (near the question's words or not) and in its form (a date for
`何时`). Chinese questions only; other languages have no features and are never flagged.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.audit.answering_place import AskedWords
from agent.audit.calibration import LinearRule
from agent.audit.content import content_terms, share, union
from agent.audit.periods import TIME_KINDS
from agent.audit.question_kinds import WH, asks_count, asks_when, form_features
from agent.audit.sources import Source, SymbolReader
from retrieval.language_id import language_of

_SHORTEST_CLAUSE = 12


@dataclass(frozen=True, slots=True)
class Placed:
    """A supported sentence and the place of a source where its words stand."""

    index: int
    """Of the sentence."""
    text: str
    source: Source
    span: tuple[int, int]


def features_of(
    question: str, placed: Sequence[Placed], reader: SymbolReader, tenant: str
) -> list[Mapping[str, float]]:
    """Describe every placed sentence; empty where whether they answer cannot be told from rules."""
    if WH.search(question) is None:
        return []
    found = [off_question_features(question, p.text, p.source, p.span, reader, tenant) for p in placed]
    return [features for features in found if features is not None] if None not in found else []


def are_off(question: str, placed: Sequence[Placed], rule: LinearRule, reader: SymbolReader, tenant: str) -> bool:
    """Tell whether none of an answer's supported sentences answers the question."""
    rows = features_of(question, placed, reader, tenant)
    return bool(rows) and all(rule.holds(row) for row in rows)


def off_question_features(
    question: str, answer: str, source: Source, span: tuple[int, int], reader: SymbolReader, tenant: str
) -> dict[str, float] | None:
    """Describe how `answer`, taken from `source.text[span]`, stands to `question`; None where it cannot be told."""
    if language_of(question) != "zh" or source.language != "zh" or not answer:
        return None
    start, end = span
    offsets = source.folded.offsets
    first, last = bisect_left(offsets, start), max(bisect_left(offsets, end), bisect_left(offsets, start) + 1)
    asked = AskedWords(question, source.folded.text)
    wants_time, wants_count = asks_when(question), asks_count(question)
    rivals = [
        bisect_left(offsets, symbol.start)
        for symbol in source.figures
        if (wants_time or wants_count) and (symbol.kind in TIME_KINDS) == wants_time
    ]
    found = form_features(question, answer, source.text[max(0, start - 12) : start], reader.read(answer, tenant=tenant))
    found |= asked.features(first, last, rivals)
    found |= _overlaps(question, source, start, end)
    found["repeats"] = share(content_terms(question), content_terms(answer))
    found["log_length"] = math.log(len(answer))
    found["asked_kind_absent"] = float(bool(rivals) and not any(first <= at < last for at in rivals))
    return found


def _overlaps(question: str, source: Source, start: int, end: int) -> dict[str, float]:
    """Which share of the question's terms stands in the answer's clauses, and in the best others."""
    clauses = _merged(source)
    own = [i for i, (first, last, _) in enumerate(clauses) if first < end and last > start] or [0]
    wanted = content_terms(question)
    weights = {term: 1 / (1 + sum(term in terms for _, _, terms in clauses)) for term in wanted}
    total = sum(weights.values()) or 1.0

    def overlap(first: int, last: int) -> float:
        there = union(terms for _, _, terms in clauses[max(0, first) : last])
        return sum(weight for term, weight in weights.items() if term in there) / total

    others = [i for i in range(len(clauses)) if i not in own]
    mine, near = overlap(own[0], own[-1] + 1), overlap(own[0] - 1, own[-1] + 1)
    best, best_near = (max((overlap(i - back, i + 1) for i in others), default=0.0) for back in (0, 1))
    return {
        "clause": mine,
        "clause_near": near,
        "clause_elsewhere": best,
        "clause_gap": mine - best,
        "clause_near_gap": near - best_near,
    }


def _merged(source: Source) -> list[tuple[int, int, frozenset[str]]]:
    """Clauses, the short ones joined to the one that follows."""
    found: list[tuple[int, int, frozenset[str]]] = []
    for clause in source.clauses:
        if found and found[-1][1] - found[-1][0] < _SHORTEST_CLAUSE:
            first, _, terms = found[-1]
            found[-1] = (first, clause.end, terms | clause.own_terms)
        else:
            found.append((clause.start, clause.end, clause.own_terms))
    return found
