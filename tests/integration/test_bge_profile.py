"""BGE-M3 and its reranker come in by settings alone, and one collection is never mixed of two encoders."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import Settings
from retrieval.encoder import MultiVector
from retrieval.encoders.select import load_encoder
from retrieval.errors import IndexMismatchError
from retrieval.settings import EncoderSettings, SearchSettings

pytestmark = pytest.mark.bge

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

TEXT = "# 差旅制度\n\n出差到北京的住宿费每晚最高报销 650 元。\n".encode()


async def test_bge_models_serve_by_settings_and_say_so(
    open_app: OpenApp, upload_and_wait: Upload, tiny_bge_m3: Path, tiny_bge_reranker: Path
) -> None:
    client = await open_app(models=EncoderSettings(bge_m3_path=tiny_bge_m3, reranker_path=tiny_bge_reranker))
    status = (await client.get("/v1/status")).json()
    assert status["encoder"] == "bge-m3"
    assert "bge" in status["reranker"]
    job = await upload_and_wait(client, "policy.md", TEXT)
    assert job["state"] == "succeeded"
    found = (await client.post("/v1/search", json={"query": "北京住宿费"})).json()
    assert [p["chunk"]["title"] for p in found["passages"]] == ["差旅制度"]
    assert found["encoder"] == "bge-m3"


async def test_index_of_another_encoder_is_refused_with_what_to_do(
    open_app: OpenApp,
    make_settings: Callable[..., Settings],
    upload_and_wait: Upload,
    tiny_bge_m3: Path,
    tmp_path: Path,
) -> None:
    from api.app import create_app

    first = create_app(make_settings())
    async with first.router.lifespan_context(first):
        pass
    second = create_app(make_settings(models=EncoderSettings(bge_m3_path=tiny_bge_m3)))
    with pytest.raises(IndexMismatchError, match=r"lexical.*bge-m3.*ATTEST_HOME"):
        async with second.router.lifespan_context(second):
            pass


async def test_a_sentence_transformers_model_serves_by_settings_and_says_so(
    open_app: OpenApp, upload_and_wait: Upload, tiny_sentence_transformer: Path
) -> None:
    client = await open_app(models=EncoderSettings(sentence_transformers=str(tiny_sentence_transformer)))
    assert (await client.get("/v1/status")).json()["encoder"] == "sentence-transformers"
    job = await upload_and_wait(client, "policy.md", TEXT)
    assert job["state"] == "succeeded"
    found = (await client.post("/v1/search", json={"query": "北京住宿费"})).json()
    assert [p["chunk"]["title"] for p in found["passages"]] == ["差旅制度"]


async def test_token_vectors_decide_where_they_have_all_the_weight(
    open_app: OpenApp, upload_and_wait: Upload, tiny_bge_m3: Path
) -> None:
    models = EncoderSettings(bge_m3_path=tiny_bge_m3)
    client = await open_app(models=models, search=SearchSettings(multi_vector_weight=1.0, multi_vector_modes=(0, 0, 1)))
    await upload_and_wait(client, "policy.md", TEXT)
    passages = (await client.post("/v1/search", json={"query": "北京住宿费"})).json()["passages"]
    encoder = load_encoder(models)
    assert isinstance(encoder, MultiVector)
    [expected] = encoder.late_scores("北京住宿费", [passages[0]["chunk"]["index_text"]], (0, 0, 1))
    assert passages[0]["score"] == pytest.approx(expected, abs=1e-4)


async def test_an_index_in_full_precision_is_not_opened_in_int8(
    make_settings: Callable[..., Settings], tiny_bge_m3: Path
) -> None:
    from api.app import create_app

    first = create_app(make_settings(models=EncoderSettings(bge_m3_path=tiny_bge_m3)))
    async with first.router.lifespan_context(first):
        pass
    small = EncoderSettings(bge_m3_path=tiny_bge_m3, bge_precision="int8")
    second = create_app(make_settings(models=small))
    with pytest.raises(IndexMismatchError, match="int8"):
        async with second.router.lifespan_context(second):
            pass
