"""The feature reranker of the embedded profile: a logistic function of what `features.py` measures.

No model beside its weights, no corpus statistics of its own; microseconds per term. The weights were
fitted by `fit.py` (see `weights.py` for on what and when).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.foreign import foreign_relevance, shared_names
from retrieval.lexical import terms
from retrieval.rerankers.features import feature_matrix, term_weight
from retrieval.rerankers.weights import DENSE_WEIGHTS, REVISION, SPARSE_WEIGHTS, WORD_WEIGHTS, Weights
from retrieval.types import Candidate, Symbol


class FeatureReranker:
    """Scores candidates by weighted features. Pure: safe to share between threads."""

    def __init__(self, weights: Weights, name: str) -> None:
        self._weights = weights
        self._name = name

    @classmethod
    def beside(cls, encoder_name: str) -> FeatureReranker:
        """Return the reranker that fits an encoder's scores.

        Cosines and sparse weights of different models lie in different ranges: weights fitted on one
        encoder's scores serve beside that encoder alone, others get weights that read words only.
        """
        match encoder_name:
            case "embedded":
                return cls(DENSE_WEIGHTS, f"features-dense@{REVISION}")
            case "lexical":
                return cls(SPARSE_WEIGHTS, f"features-sparse@{REVISION}")
            case _:
                return cls(WORD_WEIGHTS, f"features-words@{REVISION}")

    @property
    def name(self) -> str:
        """Which weights, and their revision."""
        return self._name

    def score(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
        """Return the estimated probability that each candidate answers the question."""
        if not candidates:
            return []
        features = feature_matrix(question, symbols, candidates)
        scores = _probability(features, self._weights)
        # BM25 scores grow with the index, and the weights were fitted on hundreds of texts: in a small one
        # they underrate even a perfect match. Words alone do not depend on the size; they lift all scores
        # of a question alike, so that the order stays the weights' own.
        best = int(np.argmax(scores))
        lift = max(1.0, _probability(features[best : best + 1], WORD_WEIGHTS)[0] / max(scores[best], 1e-9))
        scores = np.minimum(scores * lift, 1.0)
        return _with_foreign(question, candidates, scores)


def _with_foreign(question: str, candidates: Sequence[Candidate], scores: NDArray[np.float64]) -> list[float]:
    """Lift candidates of the other language: the features compare words; there the cosine and shared names speak."""
    if not any("foreign" in candidate.scores for candidate in candidates):
        return [float(score) for score in scores]
    asked = {term for term in terms(question) if term_weight(term) > 0}
    shared = shared_names(asked, [frozenset(terms(candidate.chunk.index_text)) for candidate in candidates])
    return [
        max(float(score), foreign_relevance(c.scores["foreign"], names)) if "foreign" in c.scores else float(score)
        for score, c, names in zip(scores, candidates, shared, strict=True)
    ]


def _probability(features: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    logits = features @ weights.vector() + weights.bias
    return 1 / (1 + np.exp(-np.clip(logits, -500, 500)))
