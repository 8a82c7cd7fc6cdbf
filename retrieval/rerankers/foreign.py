"""Judges passages of the other language than the question's, which share few of its words.

What speaks for one there: how it does in the question's words translated, whether it stands out by its
cosine, and the names and numbers that are written alike in both languages. Weights by `foreign_fit.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.foreign import COSINE_WIDTH, MOST_NAMES, foreign_relevance, other_language, shared_names
from retrieval.lexical import terms, text_terms
from retrieval.rerankers.features import term_weight
from retrieval.translating import Translated, Translator
from retrieval.types import Candidate

FOREIGN_FEATURES: Final = ("dense_lead", "translated_lead", "names", "coverage")
"""Columns of `foreign_features`, in order."""

CAP: Final = 0.95
"""Word by word a translation is never as sure as the words themselves."""


_MOST_LEAD: Final = 6.0
"""A lead of 0.036 in cosine says all that a lead can say, whatever the encoder."""


@dataclass(frozen=True, slots=True)
class ForeignWeights:
    """A weight per foreign feature, in the order of `FOREIGN_FEATURES`, and the bias of the log-odds."""

    features: tuple[float, float, float, float]
    bias: float


# Fitted on the teaching half of this project's cross-language questions and, as questions whose answer is not in the
# other language, of every fourth one of CMRC 2018 trial and TAT-QA dev, all in one index, by
# `attest eval crosslingual --fit`. Both ways over the halves:
# recall@1 0.842 and recall@5 0.928 of 222 questions across languages (0.387 and 0.671 by cosine and names alone); with
# texts of the other language beside theirs CMRC 2018 keeps 0.980 and 0.996, TAT-QA 0.631 and 0.815 (alone 0.980 and
# 0.996, 0.643 and 0.825).
WEIGHTS: Final = ForeignWeights((0.614, 0.99, 3.406, 3.842), -3.997)


class ForeignJudge:
    """Scores candidates of the other language. Pure but for the dictionary's first reading."""

    def __init__(self, translator: Translator, weights: ForeignWeights = WEIGHTS) -> None:
        self._translator, self._weights = translator, weights

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return the estimated probability that each candidate, all of them foreign, answers the question."""
        if not candidates:
            return []
        into = other_language(question, "embedded")
        words = self._translator.translate(question, into) if into is not None else ()
        features = foreign_features(question, words, candidates)
        if not words:  # nothing but names, or words of today: the cosine alone is left
            return [
                foreign_relevance(c.scores["foreign"], row[2]) if "foreign" in c.scores else 0.0
                for c, row in zip(candidates, features, strict=True)
            ]
        logits = features @ np.array(self._weights.features) + self._weights.bias
        return [float(p) for p in CAP / (1 + np.exp(-np.clip(logits, -50, 50)))]


def foreign_features(
    question: str, words: Sequence[Translated], candidates: Sequence[Candidate]
) -> NDArray[np.float64]:
    """Return float64 (len(candidates), len(FOREIGN_FEATURES)); none of them depends on the size of the index.

    Args:
        question: its index text.
        words: its words in the candidates' language.
        candidates: of that language.
    """
    held = [text_terms(candidate.chunk.index_text) for candidate in candidates]
    known = [c.scores["foreign"] for c in candidates if "foreign" in c.scores]
    cosines = [c.scores.get("foreign", min(known, default=0.0)) for c in candidates]
    names = shared_names({term for term in terms(question) if term_weight(term) > 0}, held)
    translated = [log1p(c.scores.get("translated", 0.0)) for c in candidates]
    total = sum(word.weight for word in words)
    covered = [sum(word.weight for word in words if word.said_in(each)) / max(total, 1e-9) for each in held]
    return np.array([
        (
            max(-_MOST_LEAD, min((cosines[row] - _best_other(cosines, row)) / COSINE_WIDTH, _MOST_LEAD)),
            translated[row] - _best_other(translated, row),
            min(names[row], MOST_NAMES),
            covered[row],
        )
        for row in range(len(candidates))
    ])


def _best_other(values: Sequence[float], row: int) -> float:
    return max((value for other, value in enumerate(values) if other != row), default=values[row])
