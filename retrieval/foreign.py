"""Passages in the other language than the question: their cosines lie lower and are read on a scale of their own.

The embedded encoder puts a Chinese question nearer to any Chinese text than to the English text that
answers it. So passages of the other language are searched in a channel of their own, and judged by how
their cosine compares with what questions beside the documents reach there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import exp, log

from retrieval.language_id import language_of
from retrieval.types import Candidate, Language

_CENTRE = 0.797
COSINE_WIDTH = 0.006
"""Fitted on 82 questions over the sample documents: of 50 questions beside them 95 in 100 stay below 0.79
in the other language; of 32 that only a document in the other language answers, 90 in 100 reach 0.79."""

_CAP = 0.9
"""A cosine alone, without a shared word, is never as sure as one with words."""

_PER_NAME = 1.0
MOST_NAMES = 3.0
"""A name or figure in both texts says as much as 0.006 of cosine, up to three of them. Set by hand: enough to tell
two texts of one subject apart, never enough to lift one beside the subject."""

_ENCODERS = frozenset({"embedded", "lexical"})
"""Encoders that see no likeness across languages, or see it on another scale. BGE-M3 was trained to be even."""


def other_language(question: str, encoder: str) -> Language | None:
    """Return the language to search in a channel of its own, None when one channel serves."""
    if encoder not in _ENCODERS:
        return None
    match language_of(question):
        case "zh":
            return "en"
        case "en":
            return "zh"
        case _:
            return None


def has_own_cosines(encoder: str) -> bool:
    """Tell whether an encoder's cosines across languages lie on a scale of their own."""
    return encoder == "embedded"


def is_foreign(candidate: Candidate) -> bool:
    """Tell whether a candidate is of the other language than the question's."""
    return "foreign" in candidate.scores or "translated" in candidate.scores


def foreign_logit(cosine: float) -> float:
    """Return the log-odds that a passage of the other language at this cosine is about the question."""
    return (cosine - _CENTRE) / COSINE_WIDTH


def foreign_relevance(cosine: float, shared: float = 0.0) -> float:
    """Return the relevance of a passage of the other language, 0 to 0.9, on the rerankers' scale.

    Args:
        cosine: of question and passage.
        shared: what the two share across languages (`shared_names`).
    """
    logit = foreign_logit(cosine) + _PER_NAME * min(shared, MOST_NAMES)
    return _CAP / (1.0 + exp(-max(min(logit, 50.0), -50.0)))


def shared_names(asked: Collection[str], held: Sequence[Collection[str]]) -> list[float]:
    """Count for each text the terms of a question that are written alike in both languages, by rarity.

    Those are numbers, symbols and Latin words: in a Chinese text or question a Latin word is a name. One that
    no other of the texts holds counts 1, one that all of them hold nearly nothing.

    Args:
        asked: the question's terms; those in other scripts are not looked at.
        held: the terms of each text.
    """
    names = [term for term in asked if term.isascii()]
    counts = {name: sum(name in terms for terms in held) for name in names}
    n = len(held)
    highest = _rarity(n, 1)
    return [sum(_rarity(n, counts[name]) / highest for name in names if name in terms) for terms in held]


def _rarity(n: int, count: int) -> float:
    return log(1 + (n - count + 0.5) / (count + 0.5))
