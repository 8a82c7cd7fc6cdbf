"""What a first stage tells about a question in the documents of the other language: one log-odds for the trigger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Final

from retrieval.foreign import is_foreign
from retrieval.rerankers.foreign import ForeignJudge
from retrieval.types import Candidate

_LOOKED_AT = 6
_COMPARED = 15
"""Translated hits beside the best that say how common the question's words are in the other language."""

_BIAS: Final = -6.9
_RELEVANCE: Final = 0.49
_LEAD: Final = 1.75
_TERMS: Final = 3.13
"""Fitted on 222 questions across languages against 240 questions beside the documents, half of them each way. The few
words of a short question stand in some text of any language, so that length counts."""


@dataclass(frozen=True, slots=True)
class ForeignSignal:
    """How the documents of the other language answer to a question."""

    relevance: float
    """The best passage's, 0 to 0.95."""
    log_odds: float
    """That some passage is about the question."""


def foreign_signal(
    judge: ForeignJudge, question: str, candidates: Sequence[Candidate], asked: int
) -> ForeignSignal | None:
    """Return the signal, None when nothing of the other language was found.

    Args:
        judge: of passages of the other language.
        question: its index text.
        candidates: of the first stage, best first.
        asked: how many content terms the question has.
    """
    abroad = [candidate for candidate in candidates if is_foreign(candidate)][:_LOOKED_AT]
    if not abroad:
        return None
    relevance = max(judge.score(question, abroad))
    told = min(max(relevance, 1e-6), 1 - 1e-6)
    odds = _BIAS + _RELEVANCE * log(told / (1 - told)) + _LEAD * _lead(candidates) + _TERMS * log1p(asked)
    return ForeignSignal(relevance, odds)


def _lead(candidates: Sequence[Candidate]) -> float:
    """Return how far the best translated hit is before the next ones, in the logarithm of their scores."""
    scores = sorted((c.scores["translated"] for c in candidates if "translated" in c.scores), reverse=True)
    if not scores:
        return 0.0
    others = scores[1:_COMPARED]  # none: in a small index the best can be the only one that holds any of the words
    return log1p(scores[0]) - log1p(sum(others) / len(others) if others else 0.0)
