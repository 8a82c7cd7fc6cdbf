"""Fits the weights for passages of the other language on questions whose text is known.

Half of them (by a hash of the text's id) teach, the other half measures, then they change places. Questions
whose answer is in their own language teach too: that a passage of the other one is not it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.choosing import choose
from retrieval.dictionary import cc_cedict
from retrieval.evaluation_cutting import EVALUATOR
from retrieval.evaluation_data import Question
from retrieval.foreign import is_foreign, other_language
from retrieval.metrics import rank_of
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.rerankers.fit import held_out
from retrieval.rerankers.foreign import FOREIGN_FEATURES, ForeignJudge, ForeignWeights, foreign_features
from retrieval.rerankers.weights import DENSE_WEIGHTS
from retrieval.search import Searcher
from retrieval.settings import SearchSettings
from retrieval.translating import Translator
from retrieval.types import Candidate, Symbol

_RIDGE = 0.0002
"""Pull towards zero on standardised features, beside a mean loss."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the candidates that would be reranked for it."""

    text_id: str
    index_text: str
    symbols: tuple[Symbol, ...]
    candidates: tuple[Candidate, ...]


async def ask(searcher: Searcher, questions: Sequence[Question], settings: SearchSettings) -> list[Asked]:
    """Return what the first stage finds for each question."""
    asked: list[Asked] = []
    for question in questions:
        stage = await searcher.first_stage(question.text, EVALUATOR)
        chosen, _ = choose(stage.candidates, settings.rerank_k, settings.rerank_foreign_k)
        asked.append(Asked(question.text_id, stage.index_text, stage.symbols, tuple(chosen)))
    return asked


def fit(across: Sequence[Asked], beside: Sequence[Asked], *, on_held_out: bool = False) -> ForeignWeights:
    """Return the weights of the teaching half, or with `on_held_out` of the other half.

    Ridge logistic regression, no weight below 0. The questions of `beside`, whose answer is in their own language,
    count twice: they are what is asked most.
    """
    translator = Translator(cc_cedict())
    parts: list[NDArray[np.float64]] = []
    right: list[bool] = []
    for one in (*across, *beside, *beside):
        if held_out(one.text_id) != on_held_out:
            continue
        abroad = [c for c in one.candidates if is_foreign(c)]
        into = other_language(one.index_text, "embedded")
        words = translator.translate(one.index_text, into) if into is not None else ()
        if abroad and words:
            parts.append(foreign_features(one.index_text, words, abroad))
            right += [one.text_id in c.chunk.labels for c in abroad]
    features, y = np.concatenate(parts), np.array(right, dtype=float)
    spread = features.std(axis=0) + 1e-9
    x = np.column_stack([features / spread, np.ones(len(features))])
    kept = np.append(np.ones(len(FOREIGN_FEATURES)), 0.0)

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = x @ w
        value = float(np.mean(np.logaddexp(0, z) - y * z) + _RIDGE * np.sum(kept * w**2))
        return value, x.T @ (1 / (1 + np.exp(-z)) - y) / len(y) + 2 * _RIDGE * kept * w

    bounds = [(0.0, None)] * len(FOREIGN_FEATURES) + [(None, None)]
    optimize: Any = import_module("scipy.optimize")  # its types are not known
    found: Any = optimize.minimize(loss, np.zeros(x.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B")
    lead, translated, names, coverage = (round(float(w), 3) for w in found.x[:-1] / spread)
    return ForeignWeights((lead, translated, names, coverage), round(float(found.x[-1]), 3))


def measure(questions: Sequence[Asked], weights: ForeignWeights) -> list[int | None]:
    """Return by question the rank of its text after reranking with these weights."""
    judge = ForeignJudge(Translator(cc_cedict()), weights)
    reranker = FeatureReranker(DENSE_WEIGHTS, "fit", foreign=judge)
    ranks: list[int | None] = []
    for one in questions:
        scores = reranker.score(one.index_text, one.symbols, one.candidates)
        order = sorted(zip(one.candidates, scores, strict=True), key=lambda pair: -pair[1])
        ranks.append(rank_of([next(iter(c.chunk.labels)) for c, _ in order], one.text_id))
    return ranks
