"""Fits the weights of the feature reranker on question sets with known sources.

Run by hand when features or an encoder change: `python -m retrieval.rerankers.fit FOLDER...` prints the
weights for `weights.py`. Only every other text (by a hash of its id) and its questions teach; what is printed
beside the weights is measured on the other half.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from retrieval.encoder import Encoder, ModelThread
from retrieval.encoders.select import load_encoder
from retrieval.evaluation import EVALUATOR, RetrievalEvaluation
from retrieval.evaluation_data import Dataset, read_dataset
from retrieval.first_stage import FirstStage
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.rerankers.features import FEATURES, feature_matrix
from retrieval.rerankers.fitting import Judged, calibrate, fit_direction
from retrieval.rerankers.weights import Weights
from retrieval.search import Searcher
from retrieval.settings import EncoderSettings, SearchSettings, StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language
from retrieval.types import Candidate

_ROUNDS = 3
_BOUNDS = {
    "length": (-np.inf, np.inf),
    "heading": (0.0, 3.0),
    "symbols": (0.3, np.inf),
    "period_match": (0.2, np.inf),
    "period_mismatch": (-np.inf, -0.3),
}
"""Bounds that differ from "more of it never lowers the score". The titles of the question sets are what their texts
are about, so a heading would otherwise weigh more than headings of business documents deserve; and no question
there asks by code or for one of two like periods, so that without a floor those features would count nothing."""


def fit(sets: Sequence[Sequence[Judged]]) -> Weights:
    """Return the weights that the teaching halves of `sets` give."""
    teaching = [[q for q in one if not held_out(q.text_id)] for one in sets]
    low, high = np.array([_BOUNDS.get(name, (0.0, np.inf)) for name in FEATURES]).T
    scale, bias, direction = 1.0, 0.0, np.zeros(len(FEATURES))
    for _ in range(_ROUNDS):  # the bounds hold for final weights, and the scale is known only afterwards
        direction = fit_direction(teaching, low / scale, high / scale)
        scale, bias = calibrate(teaching, direction)
    return Weights(tuple(round(float(w), 3) for w in direction * scale), bias=round(bias, 3))


def held_out(text_id: str) -> bool:
    """Tell whether a text's questions belong to the half that only measures."""
    return zlib.crc32(text_id.encode()) % 2 == 1


async def judge(dataset: Dataset, encoder: Encoder, settings: SearchSettings) -> list[Judged]:
    """Index a question set and return what the reranker would see of every question's candidates."""
    language = load_language(b"evaluation-only-no-secret-here!!")
    encoder_thread, reranker_thread = ModelThread("fit-encoder"), ModelThread("fit-reranker")
    reranker = FeatureReranker.beside(encoder.info.name)
    with tempfile.TemporaryDirectory() as folder:
        store = EdgeStore(Path(folder) / "index", StoreSettings())
        evaluation = RetrievalEvaluation(
            dataset, encoder=encoder, reranker=reranker, store=store, language=language, settings=settings
        )
        searcher = Searcher(encoder, encoder_thread, reranker, reranker_thread, store, language, settings)
        try:
            await evaluation.index(encoder_thread)
            return [
                _judged(await searcher.first_stage(question.text, EVALUATOR), question.text_id, settings.rerank_k)
                for question in dataset.questions
            ]
        finally:
            await store.close()
            encoder_thread.close()
            reranker_thread.close()


def _judged(stage: FirstStage, text_id: str, depth: int) -> Judged:
    candidates = stage.candidates[:depth]
    right = np.array([text_id in c.chunk.labels for c in candidates], dtype=bool)

    def features(some: Sequence[Candidate]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return feature_matrix(stage.index_text, stage.symbols, some)

    wrong = [c for c, is_right in zip(candidates, right, strict=True) if not is_right]
    return Judged(text_id, features(candidates), right, features(wrong if right.any() else []))


def measure(questions: Sequence[Judged], weights: Weights) -> tuple[float, float]:
    """Return recall@1 and recall@5 of the candidates in the order the weights give."""
    ranks: list[float] = []
    for q in questions:
        order = np.argsort(-(q.features @ weights.vector()), kind="stable")
        hits = np.flatnonzero(q.right[order])
        ranks.append(float(hits[0]) if len(hits) else np.inf)
    return float(np.mean([rank < 1 for rank in ranks])), float(np.mean([rank < 5 for rank in ranks]))


async def _main(folders: Sequence[Path]) -> None:
    for name in ("embedded", "lexical"):
        encoder = load_encoder(EncoderSettings(encoder=name))
        sets = [await judge(read_dataset(folder), encoder, SearchSettings()) for folder in folders]
        weights = fit(sets)
        print(name, weights)
        for folder, one in zip(folders, sets, strict=True):
            recalls = measure([q for q in one if held_out(q.text_id)], weights)
            print(f"{folder.name}: recall@1 {recalls[0]:.3f}, recall@5 {recalls[1]:.3f} on the held-out half")


if __name__ == "__main__":
    asyncio.run(_main([Path(argument) for argument in sys.argv[1:]]))
