"""The SDK's side of MCP over HTTP. Imported with the first request: the SDK costs a second."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.errors import AgentError
from agent.tools.base import ToolSpec
from api.mcp.desk import ToolDesk
from api.mcp.server import build_server
from retrieval.errors import RetrievalError
from retrieval.types import Principal

_SESSION = "mcp-session-id"
_MOST_SESSIONS = 1_000


class _Desk:
    """The desk as a server sees it: who asks stands in the request that brought the message."""

    def __init__(self, desk: ToolDesk) -> None:
        self._desk = desk

    async def offered(self, context: ServerRequestContext[Any]) -> Sequence[ToolSpec]:
        return await self._desk.offered(_asking(_request(context)))

    async def call(self, context: ServerRequestContext[Any], name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        request = _request(context)
        session = request.headers.get(_SESSION, "")
        try:
            return await self._desk.call(_asking(request), session, name, arguments)
        except RetrievalError as exc:
            return exc.plainly(), False
        except AgentError as exc:
            return str(exc), False


@asynccontextmanager
async def open_app(desk: ToolDesk, only: frozenset[str] | None) -> AsyncGenerator[ASGIApp, None]:
    """Serve tools of a desk; what comes in has `state.principal` set."""
    server = build_server(_Desk(desk), only=only)
    manager = StreamableHTTPSessionManager(server, json_response=True, max_sessions=_MOST_SESSIONS)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        principal = _asking(Request(scope))
        # The SDK refuses a session to everybody but who opened it.
        owner = f"{principal.tenant}/{principal.user}"
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[], subject=owner))
        await manager.handle_request(scope, receive, send)

    async with manager.run():
        yield app


def _request(context: ServerRequestContext[Any]) -> Request:
    request: Any = context.request
    assert isinstance(request, Request), "over HTTP every message has its request"
    return cast("Request", request)


def _asking(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal
