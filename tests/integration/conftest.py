"""A whole attest in this process, on lexical parts so that it starts at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.inprocess import InProcessTransport
from api.settings import Settings, load_settings
from retrieval.settings import EncoderSettings

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
"""`await open_app(**settings)` starts an application and returns a client of it."""


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    def make(**overrides: Any) -> Settings:
        values: dict[str, Any] = {"home": tmp_path / "home", "models": EncoderSettings(encoder="lexical")}
        return load_settings(**(values | overrides))

    return make


@pytest.fixture
async def open_app(make_settings: Callable[..., Settings]) -> AsyncIterator[OpenApp]:
    async with AsyncExitStack() as stack:

        async def open_one(*, local_owner: bool = False, **overrides: Any) -> httpx.AsyncClient:
            app = create_app(make_settings(**overrides), local_owner=local_owner)
            await stack.enter_async_context(app.router.lifespan_context(app))
            client = httpx.AsyncClient(transport=InProcessTransport(app), base_url="http://localhost", timeout=120)
            return await stack.enter_async_context(client)

        yield open_one


async def upload(client: httpx.AsyncClient, name: str, content: bytes, **fields: Any) -> dict[str, Any]:
    """Upload and wait for the job's end; returns the job."""
    answer = await client.post("/v1/documents", files={"file": (name, content)}, data=fields)
    assert answer.status_code == 202, answer.text
    return await finished(client, answer.json()["job_id"])


async def finished(client: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    """Poll a job until it has ended."""
    while True:
        job = (await client.get(f"/v1/jobs/{job_id}")).json()
        if job["state"] in {"succeeded", "failed", "cancelled"}:
            return job


@pytest.fixture
def upload_and_wait() -> Callable[..., Awaitable[dict[str, Any]]]:
    return upload
