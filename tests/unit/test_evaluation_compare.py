from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from api.commands.evaluation_page import render_comparison, render_retrieval
from retrieval.evaluation_compare import Arm, ablate, arms_without, compare
from retrieval.evaluation_cutting import SentenceCutter, WindowCutter
from retrieval.evaluation_data import Dataset, Question, Text
from retrieval.fakes import FixedReranker, HashEncoder
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.rerankers.unchanged import FusedOrder
from retrieval.settings import SearchSettings
from retrieval.store import VectorStore
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.symbols.language import SymbolLanguage, load_language

DATASET = Dataset(
    name="small <set>",
    texts=(
        Text(text_id="t1", title="差旅", text="差旅费报销须在三十日内提交。住宿费凭发票报销。"),
        Text(text_id="t2", title="风险", text="客户风险等级为 C1 的，不得购买 R4 基金。"),
        Text(text_id="t3", title="Leave", text="Parental leave is sixteen weeks. Requests go to the line manager."),
    ),
    questions=(
        Question(question_id="q1", text="差旅费多少天内报销？", text_id="t1"),
        Question(question_id="q2", text="C1 客户能买 R4 基金吗？", text_id="t2"),
        Question(question_id="q3", text="How long is parental leave?", text_id="t3"),
    ),
)


@pytest.fixture(scope="module")
def language() -> SymbolLanguage:
    return load_language(b"0123456789abcdef")


@asynccontextmanager
async def new_store() -> AsyncGenerator[VectorStore, None]:
    store = InMemoryVectorStore()
    yield store
    await store.close()


def arm(name: str, language: SymbolLanguage, *, upside_down: bool = False) -> Arm:
    reranker = FixedReranker(lambda _q, c: 1 - c.fused) if upside_down else FeatureReranker.beside("embedded")
    return Arm(name, HashEncoder(), reranker, language, SearchSettings())


async def test_a_worse_way_loses_on_the_questions_it_loses(language: SymbolLanguage) -> None:
    found = await compare(DATASET, arm("good", language), arm("bad", language, upside_down=True), new_store=new_store)
    assert (found.a, found.b) == ("good", "bad")
    first = found.differences["recall@1"]
    assert first.difference == found.reports[1].metrics["recall@1"] - found.reports[0].metrics["recall@1"] < 0
    assert (first.better, first.worse) == (0, len(found.only_a))
    assert found.only_b == ()
    assert set(found.only_a) <= {"q1", "q2", "q3"}
    page = render_comparison(found)
    assert "small &lt;set&gt;" in page
    assert "small <set>" not in page
    assert f"p = {first.p:.4f}" in page


async def test_the_same_way_twice_differs_in_nothing(language: SymbolLanguage) -> None:
    found = await compare(DATASET, arm("a", language), arm("b", language), new_store=new_store)
    assert {d.p for d in found.differences.values()} == {1.0}
    assert (found.only_a, found.only_b) == ((), ())


async def test_ablation_leaves_out_one_part_at_a_time(language: SymbolLanguage) -> None:
    encoder, reranker = HashEncoder(), FeatureReranker.beside("embedded")
    whole, without = arms_without(encoder, reranker, language, SearchSettings(), window=6)
    found = await ablate(DATASET, whole, without, new_store=new_store)
    assert list(found.without) == ["sections", "symbolisation", "symbol_channel", "reranking", "source_line"]
    assert found.whole.metrics["recall@1"] == 1.0
    assert found.without["reranking"].reports[1].reranker == "none"
    assert found.without["sections"].reports[1].chunks > found.whole.chunks
    for part, comparison in found.without.items():
        for metric, difference in comparison.differences.items():
            assert found.metrics[f"{part}.{metric}"] == -difference.difference
    assert "BM25" in render_retrieval(found.whole)


def test_windows_cover_the_texts_without_gap_and_belong_to_whom_they_mostly_hold(language: SymbolLanguage) -> None:
    encoder = HashEncoder()
    (chunks,) = WindowCutter(encoder, language, tokens=6).documents(DATASET)
    assert "".join(chunk.text for chunk in chunks) == "".join(f"{t.title}\n{t.text}\n" for t in DATASET.texts)
    assert {label for chunk in chunks for label in chunk.labels} == {"t1", "t2", "t3"}
    assert all(len(chunk.labels) == 1 for chunk in chunks)
    by_sentence = [c for document in SentenceCutter(encoder, language).documents(DATASET) for c in document]
    assert [chunk.text for chunk in by_sentence] == [text.text for text in DATASET.texts]
    bare = [c for d in SentenceCutter(encoder, language, source_line=False).documents(DATASET) for c in d]
    assert by_sentence[0].index_text.startswith("差旅\n")
    assert bare[0].index_text == by_sentence[0].index_text.removeprefix("差旅\n")


def test_the_order_of_fusion_is_kept_by_no_reranker() -> None:
    assert FusedOrder().score("q", (), ()) == []
