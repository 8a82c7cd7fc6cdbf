"""The real BGE loading code on tiny models: equal to FlagEmbedding, each batch run once, broken folders refused."""

from __future__ import annotations

import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders.bge_m3 import BgeM3Encoder
from retrieval.encoders.fingerprint import fingerprint
from retrieval.errors import EncoderUnavailableError
from retrieval.rerankers.bge import BgeReranker
from retrieval.types import Candidate, Chunk

pytestmark = pytest.mark.bge

TEXTS = [
    "客户风险等级为 [RISK_C1]，不得购买高风险基金。",
    "Net sales rose in the third quarter of the year.",
    "encoder",
    "The committee approved the travel budget. " * 20,
]


def _many_texts(count: int = 60) -> list[str]:
    """Short and long texts that differ clearly: single ones are at the mercy of rounding."""
    chance = random.Random(5)
    words = [*" ".join(TEXTS).split(), "员工", "差旅", "报销", "budget", "quarter", "revenue", "loan", "deposit"]
    return [" ".join(chance.choices(words, k=chance.randint(1, 30))) for _ in range(count)]


@pytest.fixture(scope="module")
def encoder(tiny_bge_m3: Path) -> BgeM3Encoder:
    return BgeM3Encoder(tiny_bge_m3, batch_size=2)


@pytest.fixture(scope="module")
def flag(tiny_bge_m3: Path) -> Any:
    from FlagEmbedding import BGEM3FlagModel

    return BGEM3FlagModel(str(tiny_bge_m3), use_fp16=False, devices=["cpu"])


@pytest.fixture(scope="module")
def reranker(tiny_bge_reranker: Path) -> BgeReranker:
    return BgeReranker(tiny_bge_reranker, batch_size=2)


def _candidate(text: str) -> Candidate:
    chunk = Chunk(
        chunk_id="c", tenant="t", document_id="d", ordinal=0, text=text, index_text=text, start_char=0, end_char=1
    )
    return Candidate(chunk, scores={}, ranks={}, fused=0.0)


def test_bge_m3_documents_equal_flag_embedding(encoder: BgeM3Encoder, flag: Any) -> None:
    ours = encoder.encode_documents(TEXTS)
    theirs = flag.encode(TEXTS, batch_size=2, max_length=encoder.info.max_tokens, return_dense=True, return_sparse=True)
    cosines = np.sum(ours.dense * theirs["dense_vecs"], axis=1)
    assert cosines.min() >= 0.9999
    for vector, weights in zip(ours.sparse, theirs["lexical_weights"], strict=True):
        expected = {int(token): float(weight) for token, weight in weights.items()}
        assert dict(zip(vector.indices.tolist(), vector.values.tolist(), strict=True)) == pytest.approx(
            expected, abs=1e-3
        )


def test_bge_m3_query_equals_flag_embedding_on_texts_that_differ(encoder: BgeM3Encoder, flag: Any) -> None:
    ours = np.concatenate([encoder.encode_query(text).dense for text in TEXTS])
    theirs = flag.encode_queries(TEXTS, max_length=encoder.info.max_tokens)["dense_vecs"]
    assert np.sum(ours * theirs, axis=1).min() >= 0.9999
    # Random weights could map all texts to one point; then the line above would prove nothing.
    assert np.min(ours @ ours.T) < 0.99


def test_bge_m3_runs_each_batch_once(encoder: BgeM3Encoder) -> None:
    rows: list[int] = []
    handle = encoder._model.register_forward_pre_hook(lambda _module, args: rows.append(len(args[0]["input_ids"])))
    try:
        encoder.encode_query("风险")
        encoder.encode_documents(TEXTS)
    finally:
        handle.remove()
    assert rows == [1, 2, 2]


@pytest.fixture(scope="module")
def int8(tiny_bge_m3: Path) -> BgeM3Encoder:
    return BgeM3Encoder(tiny_bge_m3, precision="int8")


def test_bge_m3_in_int8_is_near_and_is_another_encoder(encoder: BgeM3Encoder, int8: BgeM3Encoder) -> None:
    texts = _many_texts()
    whole, small = encoder.encode_documents(texts).dense, int8.encode_documents(texts).dense
    # How far one text is off depends on the processor's way to multiply eight bits, the whole does not.
    cosines = np.sum(whole * small, axis=1)
    assert cosines.mean() >= 0.98
    assert cosines.max() < 1 - 1e-6  # or nothing was quantised
    assert np.mean(np.argmax(small @ whole.T, axis=1) == np.arange(len(texts))) >= 0.9
    assert int8.info.revision != encoder.info.revision
    assert int8.info.revision.startswith(encoder.info.revision)


def test_bge_m3_in_int8_gives_a_text_one_vector_whatever_stands_beside_it(int8: BgeM3Encoder) -> None:
    together = int8.encode_documents(TEXTS)
    for row, text in enumerate(TEXTS):
        np.testing.assert_array_equal(int8.encode_query(text).dense[0], together.dense[row])


@pytest.mark.parametrize("weights", [(0.4, 0.2, 0.4), (0.0, 0.0, 1.0), (2.0, 1.0, 0.0)])
def test_bge_m3_late_scores_equal_flag_embedding(
    encoder: BgeM3Encoder, flag: Any, weights: tuple[float, float, float]
) -> None:
    question = "高风险基金 travel budget"
    theirs = flag.compute_score(
        [(question, text) for text in TEXTS],
        batch_size=1,
        max_query_length=128,
        max_passage_length=128,
        weights_for_different_modes=list(weights),
    )["colbert+sparse+dense"]
    ours = encoder.late_scores(question, TEXTS, weights)
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert len({round(score, 3) for score in ours}) > 1
    assert encoder.late_scores(question, [], weights) == []


def test_bge_m3_info_names_the_weights(encoder: BgeM3Encoder, tiny_bge_m3: Path) -> None:
    assert (encoder.info.name, encoder.info.dim, encoder.info.max_tokens) == ("bge-m3", 64, 128)
    assert encoder.info.sparse == "lexical_weights"
    assert encoder.info.revision == fingerprint(tiny_bge_m3)


@pytest.mark.parametrize("name", ["colbert_linear.pt", "sparse_linear.pt", "model.safetensors", "config.json"])
def test_bge_m3_refuses_a_folder_without_a_part(tiny_bge_m3: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(tiny_bge_m3, tmp_path / "copy"))
    (folder / name).unlink()
    with pytest.raises(EncoderUnavailableError, match=name):
        BgeM3Encoder(folder)


def test_bge_m3_refuses_weights_cut_short(tiny_bge_m3: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_bge_m3, tmp_path / "copy"))
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(EncoderUnavailableError, match="do not load"):
        BgeM3Encoder(folder)


def test_bge_m3_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailableError, match="no such folder"):
        BgeM3Encoder(tmp_path / "nowhere")


def test_fingerprint_follows_content_not_place(tiny_bge_m3: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_bge_m3, tmp_path / "copy"))
    assert fingerprint(copy) == fingerprint(tiny_bge_m3)
    head = copy / "sparse_linear.pt"
    head.write_bytes(head.read_bytes() + b"\0")
    assert fingerprint(copy) != fingerprint(tiny_bge_m3)


def test_bge_reranker_equals_flag_reranker(reranker: BgeReranker, tiny_bge_reranker: Path) -> None:
    from FlagEmbedding import FlagReranker

    flag = FlagReranker(str(tiny_bge_reranker), use_fp16=False, devices=["cpu"], max_length=128)
    question = "客户 C1 能买什么基金"
    pairs = [(question, text) for text in TEXTS]
    assert reranker.logits(question, TEXTS) == pytest.approx(flag.compute_score(pairs), abs=1e-4)
    assert reranker.score(question, (), [_candidate(text) for text in TEXTS]) == pytest.approx(
        flag.compute_score(pairs, normalize=True), abs=1e-4
    )


def test_bge_reranker_in_int8_is_near_and_says_so(reranker: BgeReranker, tiny_bge_reranker: Path) -> None:
    int8 = BgeReranker(tiny_bge_reranker, precision="int8")
    question, texts = "客户 C1 能买什么基金", _many_texts()
    whole, small = np.array(reranker.logits(question, texts)), np.array(int8.logits(question, texts))
    # How far one score is off depends on the processor's way to multiply eight bits, the order of all does not.
    assert np.corrcoef(whole, small)[0, 1] >= 0.9
    assert np.abs(small - whole).mean() <= 0.5 * whole.std()
    assert np.abs(small - whole).max() > 1e-5  # or nothing was quantised
    assert int8.name != reranker.name
    assert int8.name.startswith(reranker.name)


def test_bge_reranker_scores_are_probabilities_in_the_candidates_order(reranker: BgeReranker) -> None:
    forward = reranker.score("travel budget", (), [_candidate(text) for text in TEXTS])
    backward = reranker.score("travel budget", (), [_candidate(text) for text in reversed(TEXTS)])
    assert forward == pytest.approx(backward[::-1], abs=1e-5)
    assert all(0 <= score <= 1 for score in forward)
    assert len({round(score, 4) for score in forward}) > 1


def test_bge_reranker_scores_nothing_for_nothing(reranker: BgeReranker) -> None:
    assert reranker.score("travel", (), []) == []


def test_bge_reranker_reads_the_passage_behind_a_very_long_question(reranker: BgeReranker) -> None:
    question = "travel budget policy " * 200
    scores = reranker.logits(question, ["approved by the committee", "风险等级"])
    assert scores[0] != pytest.approx(scores[1], abs=1e-4)


def test_bge_reranker_runs_each_batch_once(reranker: BgeReranker) -> None:
    calls: list[int] = []
    handle = reranker._model.register_forward_pre_hook(lambda *_: calls.append(1))
    try:
        reranker.logits("travel", TEXTS[:2])
    finally:
        handle.remove()
    assert len(calls) == 1


def test_bge_reranker_refuses_an_incomplete_folder(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailableError, match=r"config\.json"):
        BgeReranker(tmp_path)


def test_bge_m3_counts_on_other_threads_while_it_encodes(encoder: BgeM3Encoder) -> None:
    expected = [encoder.count_tokens(text) for text in TEXTS]
    assert expected == [len(encoder._tokenizer(text)["input_ids"]) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        counted = [pool.submit(encoder.count_tokens, text) for _ in range(100) for text in TEXTS]
        for _ in range(5):
            encoder.encode_documents(TEXTS)
        assert [c.result() for c in counted] == expected * 100
