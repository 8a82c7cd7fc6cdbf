"""Fits the weights of the feature reranker on question sets with known sources.

Run by hand when features or an encoder change: `python -m retrieval.rerankers.fit FOLDER...` prints the
weights for `weights.py`. Only every other text (by a hash of its id) and its questions teach; what is printed
beside the weights is measured on the other half, then the halves change places; every figure stands beside exact
BM25 over the whole texts, with the interval of the paired difference.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from retrieval.encoder import Encoder, ModelThread
from retrieval.encoders.select import load_encoder
from retrieval.evaluation import RetrievalEvaluation
from retrieval.evaluation_cutting import EVALUATOR
from retrieval.evaluation_data import Dataset, read_dataset
from retrieval.first_stage import FirstStage
from retrieval.kept_vectors import KeptVectors
from retrieval.lexical import Bm25Index
from retrieval.metrics import mean, paired_bootstrap, rank_of, recall_at
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
_DEPTH = 10
"""Ranks of the baseline that are looked at."""
_BOUNDS = {
    "length": (-np.inf, np.inf),
    "heading": (0.0, 3.0),
    "symbols": (0.3, np.inf),
    "codes": (2.5, np.inf),
    "figures": (3.5, np.inf),
    "code_conflict": (-np.inf, -1.5),
    "period_match": (0.2, np.inf),
    "period_mismatch": (-np.inf, -0.3),
}
"""Bounds that differ from "more of it never lowers the score". The titles of the question sets are what their texts
are about, so a heading would otherwise weigh more than headings of business documents deserve; and no question
there asks by code or for one of two like periods, so that without a floor those features would count nothing."""


def fit(sets: Sequence[Sequence[Judged]], *, on_held_out: bool = False) -> Weights:
    """Return the weights that the teaching halves of `sets` give, or with `on_held_out` the other halves."""
    teaching = [[q for q in one if held_out(q.text_id) == on_held_out] for one in sets]
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
    return Judged(
        text_id,
        features(candidates),
        right,
        features(wrong if right.any() else []),
        tuple(next(iter(c.chunk.labels)) for c in candidates),
    )


def measure(questions: Sequence[Judged], weights: Weights) -> list[int | None]:
    """Return by question the rank of its text among the candidates, in the order the weights give."""
    ranks: list[int | None] = []
    for q in questions:
        order = np.argsort(-(q.features @ weights.vector()), kind="stable")
        ranks.append(rank_of([q.texts[int(row)] for row in order], q.text_id))
    return ranks


def baseline(dataset: Dataset) -> list[int | None]:
    """Return by question the rank of its text in exact BM25 over the whole texts."""
    texts = dataset.texts
    index = Bm25Index(f"{text.title}\n{text.text}" for text in texts)
    return [
        rank_of([texts[row].text_id for row, _ in index.search(question.text, _DEPTH)], question.text_id)
        for question in dataset.questions
    ]


def compared(name: str, ours: Sequence[int | None], theirs: Sequence[int | None]) -> str:
    """Return one line: recall@1 and recall@5, BM25's, and the 95 % interval of the difference."""
    parts = [f"{name}: {len(ours)} questions"]
    for k in (1, 5):
        mine, other = [recall_at(rank, k) for rank in ours], [recall_at(rank, k) for rank in theirs]
        gap = paired_bootstrap(mine, other)
        interval = f"{gap.difference:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"
        parts.append(f"recall@{k} {mean(mine):.3f} (BM25 {mean(other):.3f}, {interval})")
    return ", ".join(parts)


async def _main(folders: Sequence[Path], encoders: Sequence[str], vectors: Path | None, models: Path | None) -> None:
    datasets = [read_dataset(folder) for folder in folders]
    baselines = [baseline(dataset) for dataset in datasets]
    for encoder_name in encoders:
        encoder: Encoder = load_encoder(EncoderSettings.model_validate({"encoder": encoder_name, "folder": models}))
        kept = KeptVectors(encoder, vectors) if vectors is not None else None
        sets = [await judge(dataset, kept or encoder, SearchSettings()) for dataset in datasets]
        if kept is not None:
            kept.save()
        both: list[tuple[list[int | None], list[int | None]]] = [([], []) for _ in sets]
        for swapped in (False, True):
            weights = fit(sets, on_held_out=swapped)
            print(
                encoder_name, "fitted on the held-out halves" if swapped else "fitted on the teaching halves", weights
            )
            for dataset, one, bm25, (all_ours, all_theirs) in zip(datasets, sets, baselines, both, strict=True):
                rows = [row for row, q in enumerate(one) if held_out(q.text_id) != swapped]
                ours, theirs = measure([one[row] for row in rows], weights), [bm25[row] for row in rows]
                all_ours += ours
                all_theirs += theirs
                print(compared(f"{dataset.name}, the other half", ours, theirs))
        for dataset, (ours, theirs) in zip(datasets, both, strict=True):
            print(encoder_name, compared(f"{dataset.name}, both ways", ours, theirs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fit the weights of the feature reranker.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--encoder", nargs="+", default=["embedded", "lexical"])
    parser.add_argument("--vectors", type=Path, help="keep the encoder's vectors in this file (.npz)")
    parser.add_argument("--models", type=Path, help="folder of graphs built on this machine (ATTEST_HOME/models)")
    given = parser.parse_args()
    asyncio.run(_main(given.folders, given.encoder, given.vectors, given.models))
