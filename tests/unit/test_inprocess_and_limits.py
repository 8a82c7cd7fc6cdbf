"""The in-process transport streams; bodies above the limit are refused while they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from api.inprocess import InProcessTransport
from api.limits import BodyLimit


def _client(app: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=InProcessTransport(app), base_url="http://localhost")  # type: ignore[arg-type]


async def test_transport_hands_out_pieces_before_the_answer_ends() -> None:
    may_end = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        await may_end.wait()
        yield b"second"

    async def endpoint(_request: Request) -> Response:
        return StreamingResponse(pieces())

    async with _client(Starlette(routes=[Route("/", endpoint)])) as client, client.stream("GET", "/") as answer:
        got = answer.aiter_bytes()
        assert await anext(got) == b"first"
        may_end.set()
        assert await anext(got) == b"second"


async def test_transport_raises_what_ended_the_application() -> None:
    async def broken(scope: object, receive: object, send: object) -> None:
        raise RuntimeError("no answer")

    async with _client(broken) as client:
        with pytest.raises(RuntimeError, match="no answer"):
            await client.get("/")


async def _length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


def _limited() -> BodyLimit:
    app = Starlette(routes=[Route("/{path:path}", _length, methods=["POST"])])
    return BodyLimit(app, max_body_bytes=100, max_upload_bytes=1_000_000, upload_path="/v1/documents")


async def test_body_below_the_limit_passes() -> None:
    async with _client(_limited()) as client:
        assert (await client.post("/v1/chat", content=b"x" * 100)).text == "100"
        assert (await client.post("/v1/documents", content=b"x" * 5000)).text == "5000"


async def test_declared_length_above_the_limit_is_refused_at_once() -> None:
    async with _client(_limited()) as client:
        answer = await client.post("/v1/chat", content=b"x" * 101)
    assert answer.status_code == 413
    assert answer.json()["code"] == "body_too_large"


async def test_undeclared_body_that_never_ends_is_cut() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 40
            yield b"x" * 40

    async with _client(_limited()) as client:
        answer = await client.post("/v1/chat", content=endless())
    assert answer.status_code == 413
    assert sent <= 200
