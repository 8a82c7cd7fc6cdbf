"""The real loading code of sentence-transformers on a tiny model: prompts, equal vectors, broken folders refused."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders.sentence_transformers import SentenceTransformersEncoder
from retrieval.errors import EncoderUnavailableError

pytestmark = pytest.mark.bge

TEXTS = [
    "客户风险等级为 C1。",
    "Net sales rose in the third quarter of the year.",
    "The travel budget. " * 20,
    "encoder",
]


@pytest.fixture(scope="module")
def encoder(tiny_sentence_transformer: Path) -> SentenceTransformersEncoder:
    return SentenceTransformersEncoder(tiny_sentence_transformer, batch_size=3)


@pytest.fixture(scope="module")
def library(tiny_sentence_transformer: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(tiny_sentence_transformer), device="cpu", local_files_only=True)


def test_documents_and_queries_equal_the_librarys_own(encoder: SentenceTransformersEncoder, library: Any) -> None:
    ours = encoder.encode_documents(TEXTS).dense
    theirs = library.encode([f"passage: {text}" for text in TEXTS], normalize_embeddings=True)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    query = library.encode(["query: 风险"], normalize_embeddings=True)
    np.testing.assert_allclose(encoder.encode_query("风险").dense, query, atol=1e-5)
    # Random weights could map all texts to one point; then the lines above would prove nothing.
    assert np.min(ours @ ours.T) < 0.99


def test_info_comes_from_the_model(encoder: SentenceTransformersEncoder) -> None:
    assert (encoder.info.name, encoder.info.dim, encoder.info.max_tokens) == ("sentence-transformers", 32, 128)
    assert (encoder.info.sparse, encoder.info.dense_searchable) == ("bm25", True)


def test_prompts_of_the_settings_replace_the_models(
    encoder: SentenceTransformersEncoder, tiny_sentence_transformer: Path
) -> None:
    other = SentenceTransformersEncoder(tiny_sentence_transformer, query_prompt="passage: ", document_prompt="")
    np.testing.assert_allclose(other.encode_query(TEXTS[0]).dense, encoder.encode_documents(TEXTS[:1]).dense, atol=1e-5)
    assert other.count_tokens(TEXTS[1]) < encoder.count_tokens(TEXTS[1])
    # What stands before documents is in the index, what stands before questions is not.
    assert other.info.revision != encoder.info.revision
    again = SentenceTransformersEncoder(tiny_sentence_transformer, query_prompt="")
    assert again.info.revision == encoder.info.revision


def test_revision_follows_every_file_that_decides(
    encoder: SentenceTransformersEncoder, tiny_sentence_transformer: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(tiny_sentence_transformer, tmp_path / "copy"))
    assert SentenceTransformersEncoder(copy).info.revision == encoder.info.revision
    pooling = copy / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps(json.loads(pooling.read_text()) | {"pooling_mode": "cls"}), encoding="utf-8")
    changed = SentenceTransformersEncoder(copy)
    assert changed.info.revision != encoder.info.revision
    assert not np.allclose(changed.encode_query(TEXTS[0]).dense, encoder.encode_query(TEXTS[0]).dense, atol=1e-3)


def test_it_counts_on_other_threads_while_it_encodes(encoder: SentenceTransformersEncoder) -> None:
    expected = [encoder.count_tokens(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        counted = [pool.submit(encoder.count_tokens, text) for _ in range(50) for text in TEXTS]
        for _ in range(5):
            encoder.encode_documents(TEXTS)
        assert [c.result() for c in counted] == expected * 50


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailableError, match="no such folder"):
        SentenceTransformersEncoder(tmp_path / "nowhere")


def test_a_bare_transformer_is_refused_instead_of_guessing_its_pooling(tiny_bge_m3: Path) -> None:
    with pytest.raises(EncoderUnavailableError, match=r"modules\.json"):
        SentenceTransformersEncoder(tiny_bge_m3)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "2_Dense/model.safetensors"])
def test_a_folder_with_a_part_cut_short_does_not_load(
    tiny_sentence_transformer: Path, tmp_path: Path, name: str
) -> None:
    copy = Path(shutil.copytree(tiny_sentence_transformer, tmp_path / "copy"))
    (copy / name).write_bytes((copy / name).read_bytes()[:200])
    with pytest.raises(EncoderUnavailableError, match="does not load"):
        SentenceTransformersEncoder(copy)


def test_code_in_the_folder_is_not_run(tiny_sentence_transformer: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_sentence_transformer, tmp_path / "copy"))
    marker = tmp_path / "ran"
    (copy / "own.py").write_text(f"open({str(marker)!r}, 'w').close()\nclass Own: pass\n", encoding="utf-8")
    modules = json.loads((copy / "modules.json").read_text())
    modules[1]["type"] = "own.Own"
    (copy / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    with pytest.raises(EncoderUnavailableError, match="does not load"):
        SentenceTransformersEncoder(copy)
    assert not marker.exists()
