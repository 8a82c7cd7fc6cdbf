"""BGE-M3 and its reranker come in by settings alone, and one collection is never mixed of two encoders."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import Settings
from retrieval.errors import IndexMismatchError
from retrieval.settings import EncoderSettings

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
