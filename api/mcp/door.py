"""MCP over HTTP: `/mcp` and `/mcp/plan`, behind the same keys as every other route."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.auth import authenticate
from api.errors import ApiError
from api.mcp.desk import PLAN, ToolDesk
from api.problems import problem


class McpDoor:
    """The ASGI application at one path. Opened by its first request, in a task of its own.

    The SDK's task group must be entered and left by one task, which no request is.
    """

    def __init__(self, only: frozenset[str] | None = None) -> None:
        self._only = only
        self._desk: ToolDesk | None = None
        self._app: ASGIApp | None = None
        self._holder: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._opening = asyncio.Lock()
        """Held while one request opens, so that others wait for it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Authenticate and pass on."""
        request = Request(scope, receive)
        try:
            request.state.principal = authenticate(request)
        except ApiError as exc:
            await problem(exc.code, str(exc))(scope, receive, send)
            return
        app = await self._opened()
        if app is None:
            await problem("interrupted", "the server is stopping")(scope, receive, send)
            return
        await app(scope, receive, send)

    def serve(self, desk: ToolDesk) -> None:
        """Serve a desk's tools from here on."""
        self._desk = desk
        self._leave = asyncio.Event()

    async def close(self) -> None:
        """End all sessions."""
        self._desk, self._app = None, None
        self._leave.set()
        holder, self._holder = self._holder, None
        if holder is not None:
            await holder

    async def _opened(self) -> ASGIApp | None:
        async with self._opening:
            if self._app is None and self._desk is not None:
                ready: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
                self._holder = asyncio.create_task(self._hold(self._desk, ready, self._leave))
                self._app = await ready
            return self._app

    async def _hold(self, desk: ToolDesk, ready: asyncio.Future[ASGIApp], leave: asyncio.Event) -> None:
        try:
            http = await asyncio.to_thread(import_module, "api.mcp.http")
            async with http.open_app(desk, self._only) as app:
                ready.set_result(app)
                await leave.wait()
        except Exception as exc:
            if ready.done():
                raise
            ready.set_exception(exc)


def make_doors() -> dict[str, McpDoor]:
    """Return the doors by their paths."""
    return {"/mcp": McpDoor(), "/mcp/plan": McpDoor(PLAN)}


@asynccontextmanager
async def open_doors(doors: dict[str, McpDoor], desk: ToolDesk) -> AsyncGenerator[None, None]:
    """Serve a desk behind all doors while the block lasts."""
    for door in doors.values():
        door.serve(desk)
    try:
        yield
    finally:
        for door in doors.values():
            await door.close()
