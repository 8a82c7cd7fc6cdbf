"""The feature reranker of the embedded profile: a logistic function of what `features.py` measures.

No model beside its weights, no corpus statistics of its own; microseconds per term. The weights were
fitted by `fit.py` (see `weights.py` for on what and when).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.dictionary import cc_cedict
from retrieval.foreign import is_foreign
from retrieval.rerankers.features import feature_matrix
from retrieval.rerankers.foreign import ForeignJudge
from retrieval.rerankers.weights import DENSE_WEIGHTS, REVISION, SPARSE_WEIGHTS, WORD_WEIGHTS, Weights
from retrieval.translating import Translator
from retrieval.types import Candidate, Symbol


class FeatureReranker:
    """Scores candidates by weighted features. Pure: safe to share between threads."""

    def __init__(self, weights: Weights, name: str, foreign: ForeignJudge | None = None) -> None:
        self._weights = weights
        self._name = name
        self._foreign = foreign or ForeignJudge(Translator(cc_cedict()))

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
        """Return the estimated probability that each candidate answers the question.

        Those of the other language than the question's are judged apart: the features compare words.
        """
        home = [candidate for candidate in candidates if not is_foreign(candidate)]
        abroad = [candidate for candidate in candidates if is_foreign(candidate)]
        scores = iter(self._home(question, symbols, home)), iter(self._foreign.score(question, abroad))
        return [next(scores[is_foreign(candidate)]) for candidate in candidates]

    def _home(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        features = feature_matrix(question, symbols, candidates)
        scores = _probability(features, self._weights)
        # BM25 scores grow with the index, and the weights were fitted on hundreds of texts: in a small one
        # they underrate even a perfect match. Words alone do not depend on the size; they lift all scores
        # of a question alike, so that the order stays the weights' own.
        best = int(np.argmax(scores))
        lift = max(1.0, _probability(features[best : best + 1], WORD_WEIGHTS)[0] / max(scores[best], 1e-9))
        return [float(score) for score in np.minimum(scores * lift, 1.0)]


def _probability(features: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    logits = features @ weights.vector() + weights.bias
    return 1 / (1 + np.exp(-np.clip(logits, -500, 500)))
