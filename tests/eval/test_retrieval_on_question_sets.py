"""Search on real question sets, dense model left out so that it takes seconds; `attest eval` measures the whole."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from retrieval.encoders.lexical import LexicalEncoder
from retrieval.evaluation import RetrievalEvaluation
from retrieval.evaluation_data import Dataset, read_dataset
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.settings import SearchSettings, StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language

pytestmark = pytest.mark.eval


def _part(dataset: Dataset, texts: int, questions: int) -> Dataset:
    kept = dataset.texts[:texts]
    ids = {text.text_id for text in kept}
    return Dataset(
        name=dataset.name,
        texts=kept,
        questions=tuple(q for q in dataset.questions if q.text_id in ids)[:questions],
    )


@pytest.mark.parametrize(("folder", "recall_at_1"), [("cmrc2018", 0.97), ("tatqa", 0.6)])
async def test_lexical_search_is_not_below_bm25(eval_data: Path, folder: str, recall_at_1: float) -> None:
    with tempfile.TemporaryDirectory() as home:
        store = EdgeStore(Path(home) / "index", StoreSettings())
        try:
            report = await RetrievalEvaluation(
                _part(read_dataset(eval_data / folder), texts=80, questions=100),
                encoder=LexicalEncoder(),
                reranker=FeatureReranker.beside("lexical"),
                store=store,
                language=load_language(b"0123456789abcdef"),
                settings=SearchSettings(),
            ).run()
        finally:
            await store.close()
    assert report.metrics["recall@1"] >= recall_at_1
    for name in ("recall@1", "recall@5", "mrr@10", "ndcg@10"):
        assert report.metrics[name] >= report.metrics[f"bm25.{name}"] - 0.005, name
