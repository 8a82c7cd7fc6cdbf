"""An httpx transport that calls an ASGI app in this process and streams its answer.

httpx's own ASGI transport collects the whole body first, so events would arrive only
when a run has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
from starlette.types import ASGIApp, Message


class InProcessTransport(httpx.AsyncBaseTransport):
    """Send requests to `app` as from loopback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Start the app on the request and return once its headers are there."""
        messages: asyncio.Queue[Message | None] = asyncio.Queue()
        body = request.stream
        assert isinstance(body, httpx.AsyncByteStream)
        chunks = aiter(body)
        sent = False
        gone = asyncio.Event()

        async def receive() -> Message:
            nonlocal sent
            if not sent:
                try:
                    return {"type": "http.request", "body": await anext(chunks), "more_body": True}
                except StopAsyncIteration:
                    sent = True
                    return {"type": "http.request", "body": b"", "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def run() -> None:
            try:
                await self._app(_scope(request), receive, messages.put)
            finally:
                await messages.put(None)

        task = asyncio.create_task(run())
        while (start := await messages.get()) is not None and start["type"] != "http.response.start":
            pass
        if start is None:
            await task  # raises what ended the app before it answered
            raise httpx.RemoteProtocolError("the application ended without an answer", request=request)
        return httpx.Response(
            start["status"], headers=start.get("headers", []), stream=_Body(messages, task, gone), request=request
        )


class _Body(httpx.AsyncByteStream):
    def __init__(self, messages: asyncio.Queue[Message | None], task: asyncio.Task[None], gone: asyncio.Event) -> None:
        self._messages, self._task, self._gone = messages, task, gone

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._messages.get()) is not None:
            if message["type"] != "http.response.body":
                continue
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                return

    async def aclose(self) -> None:
        self._gone.set()
        await self._task


def _scope(request: httpx.Request) -> dict[str, object]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(k.lower(), v) for k, v in request.headers.raw],
        "client": ("127.0.0.1", 0),
        "server": (request.url.host, request.url.port or 80),
    }
