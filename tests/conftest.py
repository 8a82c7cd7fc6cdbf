"""What every test may use. Fakes live beside their Protocols, not here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import random_models

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def samples() -> Path:
    """Folder of the small real documents that ship with the project."""
    return REPOSITORY / "data" / "samples"


@pytest.fixture(scope="session")
def eval_data() -> Path:
    """Folder of the evaluation data; skips where it is not laid out."""
    folder = os.environ.get("ATTEST_EVAL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ATTEST_EVAL_DATA names no folder with the evaluation data")
    return Path(folder)


@pytest.fixture(scope="session")
def built_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder in which the graph of the embedded model is built once; parallel workers share it."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "models"


@pytest.fixture(scope="session")
def tiny_bge_m3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that FlagEmbedding loads as BGE-M3: XLM-RoBERTa of two layers with random weights and both heads."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return random_models.save_bge_m3(tmp_path_factory.mktemp("bge-m3"))


@pytest.fixture(scope="session")
def tiny_bge_reranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that FlagEmbedding loads as a BGE reranker: a one-label classifier with random weights."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return random_models.save_bge_reranker(tmp_path_factory.mktemp("bge-reranker"))


@pytest.fixture(scope="session")
def tiny_sentence_transformer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model of two layers with random weights, mean pooling and prompts like E5's."""
    pytest.importorskip("sentence_transformers")
    return random_models.save_sentence_transformer(tmp_path_factory.mktemp("sentence-transformer"))
