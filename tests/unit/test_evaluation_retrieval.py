from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.encoders.lexical import LexicalEncoder
from retrieval.errors import EvaluationDataError
from retrieval.evaluation import DEPTH, RetrievalEvaluation
from retrieval.evaluation_data import Dataset, Question, Text, read_dataset
from retrieval.fakes import FixedReranker, HashEncoder
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.settings import SearchSettings
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.types import Candidate


@pytest.fixture(scope="module")
def language() -> SymbolLanguage:
    return load_language(b"0123456789abcdef")


TEXTS = (
    Text(text_id="t1", title="差旅", text="差旅费报销须在三十日内提交。住宿费凭发票报销。"),
    Text(text_id="t2", title="风险", text="客户风险等级为 C1 的，不得购买 R4 基金。"),
    Text(text_id="t3", title="Leave", text="Parental leave is sixteen weeks. Requests go to the line manager."),
)
QUESTIONS = (
    Question(question_id="q1", text="差旅费多少天内报销？", text_id="t1"),
    Question(question_id="q2", text="C1 客户能买 R4 基金吗？", text_id="t2"),
    Question(question_id="q3", text="How long is parental leave?", text_id="t3"),
)
DATASET = Dataset(name="small", texts=TEXTS, questions=QUESTIONS)


async def test_evaluation_reports_search_beside_bm25(language: SymbolLanguage) -> None:
    seen: list[tuple[str, int, int]] = []
    report = await RetrievalEvaluation(
        DATASET,
        encoder=HashEncoder(),
        reranker=FeatureReranker.beside("embedded"),
        store=InMemoryVectorStore(),
        language=language,
        settings=SearchSettings(),
        progress=lambda *step: seen.append(step),
    ).run()
    assert (report.dataset, report.texts, report.chunks, report.questions) == ("small", 3, 3, 3)
    assert set(report.metrics) == {
        f"{prefix}{name}"
        for prefix in ("", "fused.", "bm25.")
        for name in ("recall@1", "recall@5", "mrr@10", "ndcg@10")
    }
    assert report.metrics["recall@1"] == report.metrics["bm25.recall@1"] == 1.0
    assert report.over_bm25["recall@1"].difference == 0.0
    assert {"total.p50", "total.p95", "rerank.p50"} <= set(report.query_ms)
    assert seen == [("index", n, 3) for n in (1, 2, 3)] + [("ask", n, 3) for n in (1, 2, 3)]


async def test_evaluation_measures_the_reranker_and_the_stage_before_it_apart(language: SymbolLanguage) -> None:
    def worst_first(_question: str, candidate: Candidate) -> float:
        return 1 - candidate.fused

    report = await RetrievalEvaluation(
        DATASET,
        encoder=HashEncoder(),
        reranker=FixedReranker(worst_first),
        store=InMemoryVectorStore(),
        language=language,
        settings=SearchSettings(),
    ).run()
    assert report.metrics["fused.recall@1"] == 1.0
    assert report.metrics["recall@1"] < 1.0
    assert report.over_bm25["recall@1"].difference < 0


async def test_a_text_longer_than_the_encoder_is_cut_and_found_by_its_last_part(language: SymbolLanguage) -> None:
    filler = "".join(f"第{n}条 申请人应按规定提交材料。" for n in range(80))
    long = Text(text_id="long", title="办法", text=f"{filler}附则：本办法由合规部负责解释。")
    dataset = Dataset(
        name="long",
        texts=(*TEXTS, long),
        questions=(Question(question_id="q", text="合规部负责解释什么办法？", text_id="long"),),
    )
    report = await RetrievalEvaluation(
        dataset,
        encoder=LexicalEncoder(max_tokens=120),
        reranker=FeatureReranker.beside("lexical"),
        store=InMemoryVectorStore(),
        language=language,
        settings=SearchSettings(),
    ).run()
    assert report.chunks > len(TEXTS) + 3
    assert report.metrics["recall@1"] == 1.0
    assert SearchSettings().rerank_k >= DEPTH


def _write(path: Path, *records: object) -> None:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


def test_read_dataset_reads_cmrc(tmp_path: Path) -> None:
    _write(tmp_path / "trial_passages.jsonl", {"id": "P", "title": "标题", "text": "一\u2028行"})
    _write(tmp_path / "trial_questions.jsonl", {"qid": "Q", "passage_id": "P", "question": "问？", "answers": ["一"]})
    dataset = read_dataset(tmp_path)
    assert dataset.texts == (Text(text_id="P", title="标题", text="一\u2028行"),)
    assert dataset.questions == (Question(question_id="Q", text="问？", text_id="P"),)


def test_read_dataset_joins_a_report_page_in_order(tmp_path: Path) -> None:
    context = {
        "id": "C",
        "table": [["", "2019"], ["Sales", "$ 5"]],
        "paragraphs": [{"order": 2, "text": "second"}, {"order": 1, "text": "first"}],
    }
    _write(tmp_path / "dev_contexts.jsonl", context)
    _write(tmp_path / "dev_questions.jsonl", {"qid": "Q", "context_id": "C", "question": "sales?"})
    assert read_dataset(tmp_path).texts[0].text == "first\nsecond\n | 2019\nSales | $ 5"


def test_read_dataset_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(EvaluationDataError, match="no question set"):
        read_dataset(tmp_path)
    _write(tmp_path / "trial_passages.jsonl", {"id": "P", "title": "t", "text": "x"})
    _write(tmp_path / "trial_questions.jsonl", {"qid": "Q", "passage_id": "elsewhere", "question": "?"})
    with pytest.raises(EvaluationDataError, match="names text elsewhere"):
        read_dataset(tmp_path)
    (tmp_path / "trial_questions.jsonl").write_text('{"qid": "Q"\n', encoding="utf-8")
    with pytest.raises(EvaluationDataError, match="line 1"):
        read_dataset(tmp_path)


def test_a_set_of_ones_own_is_read_and_a_question_about_no_text_is_named(tmp_path: Path) -> None:
    _write(
        tmp_path / "texts.jsonl",
        {"text_id": "a", "text": "Leave is 15 days."},
        {"text_id": "b", "title": "B", "text": "B"},
    )
    _write(tmp_path / "questions.jsonl", {"question_id": "1", "text": "How long is leave?", "text_id": "a"})
    dataset = read_dataset(tmp_path)
    assert [(text.text_id, text.title) for text in dataset.texts] == [("a", ""), ("b", "B")]
    assert dataset.questions == (Question(question_id="1", text="How long is leave?", text_id="a"),)
    _write(tmp_path / "questions.jsonl", {"question_id": "1", "text": "?", "text_id": "c"})
    with pytest.raises(EvaluationDataError, match="question 1 names text c, which is not there"):
        read_dataset(tmp_path)
