"""One connection to an MCP server, opened when it is needed and again after it broke."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import Transport
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, TextContent

from agent.errors import ToolUnavailableError
from agent.tools.mcp.settings import McpServer

_CLOSE_S = 10.0


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server declares it."""

    name: str
    description: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RemoteResult:
    """What a call gave."""

    text: str
    ok: bool


class Remote(Protocol):
    """A server of tools."""

    async def tools(self) -> list[RemoteTool]:
        """Return what it offers.

        Raises:
            ToolUnavailableError: it cannot be reached.
        """
        ...

    async def call(self, name: str, arguments: dict[str, Any]) -> RemoteResult:
        """Call one of its tools.

        Raises:
            ToolUnavailableError: it cannot be reached, or broke off.
        """
        ...

    async def close(self) -> None:
        """End the connection, and the server's process where we started one."""
        ...


class McpConnection:
    """Speaks to one server. The SDK wants one task to open and to close, so a task of its own holds it."""

    def __init__(self, name: str, settings: McpServer) -> None:
        self._name = name
        self._settings = settings
        self._client: Client | None = None
        self._holder: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._opening = asyncio.Lock()
        """Held while one caller connects, so that two do not start two processes."""

    async def tools(self) -> list[RemoteTool]:
        """Return what the server offers, page by page."""
        client = await self._connected()
        found: list[RemoteTool] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(self._settings.connect_timeout_s):
                while True:
                    page = await client.list_tools(cursor=cursor)
                    found += [RemoteTool(t.name, t.description or "", dict(t.input_schema)) for t in page.tools]
                    cursor = page.next_cursor
                    if not cursor or len(found) > 1_000:
                        return found
        except Exception as exc:
            raise await self._broken(exc) from exc

    async def call(self, name: str, arguments: dict[str, Any]) -> RemoteResult:
        """Call a tool; a call that failed is not made twice, since it may have acted."""
        client = await self._connected()
        try:
            result = await client.call_tool(name, arguments, read_timeout_seconds=self._settings.timeout_s)
        except MCPError as exc:
            if exc.code in {CONNECTION_CLOSED, REQUEST_TIMEOUT}:
                raise await self._broken(exc) from exc
            # The server answered: it is there, and refuses.
            return RemoteResult(str(exc), ok=False)
        except Exception as exc:
            raise await self._broken(exc) from exc
        return RemoteResult(_text_of(result), ok=not result.is_error)

    async def close(self) -> None:
        """End the connection; waits until the process is gone."""
        self._leave.set()
        holder, self._holder, self._client = self._holder, None, None
        if holder is not None:
            await asyncio.wait([holder], timeout=_CLOSE_S)
            holder.cancel()
            await asyncio.gather(holder, return_exceptions=True)

    async def _connected(self) -> Client:
        async with self._opening:
            if self._client is not None and self._holder is not None and not self._holder.done():
                return self._client
            await self.close()
            self._leave = asyncio.Event()
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._holder = asyncio.create_task(self._hold(ready, self._leave))
            try:
                client = await asyncio.wait_for(asyncio.shield(ready), self._settings.connect_timeout_s)
            except Exception as exc:
                ready.cancel()
                await self.close()
                raise ToolUnavailableError(f"the MCP server {self._name} cannot be reached") from exc
            self._client = client
            return client

    async def _hold(self, ready: asyncio.Future[Client], leave: asyncio.Event) -> None:
        try:
            async with AsyncExitStack() as stack:
                transport = await self._transport(stack)
                client = await stack.enter_async_context(Client(transport))
                if not ready.done():
                    ready.set_result(client)
                await leave.wait()
        except Exception as exc:  # noqa: BLE001 -- foreign code: what broke it is told to whoever waits
            if not ready.done():
                ready.set_exception(exc)

    async def _transport(self, stack: AsyncExitStack) -> Transport:
        settings = self._settings
        if settings.command is not None:
            quiet = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: ASYNC230, SIM115 -- no file
            env = {name: value.get_secret_value() for name, value in settings.env.items()}
            return stdio_client(
                StdioServerParameters(command=settings.command, args=list(settings.args), env=env), errlog=quiet
            )
        assert settings.url is not None
        headers = {name: value.get_secret_value() for name, value in settings.headers.items()}
        timeout = httpx2.Timeout(settings.connect_timeout_s, read=settings.timeout_s)
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=timeout))
        return streamable_http_client(settings.url, http_client=http)

    async def _broken(self, exc: Exception) -> ToolUnavailableError:
        await self.close()
        return ToolUnavailableError(f"the MCP server {self._name} gave no answer ({type(exc).__name__})")


def _text_of(result: CallToolResult) -> str:
    """Return the text of a result; pictures and the like are only named, and without text its values serve."""
    parts = [block.text if isinstance(block, TextContent) else f"[{block.type}]" for block in result.content]
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n".join(parts)
