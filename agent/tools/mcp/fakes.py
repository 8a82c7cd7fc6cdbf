"""A server of tools in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.errors import ToolUnavailableError
from agent.tools.mcp.connection import RemoteResult, RemoteTool


class FakeRemote:
    """Offers tools that are functions; `away` makes it unreachable."""

    def __init__(
        self, tools: Sequence[RemoteTool], does: Mapping[str, Callable[[dict[str, Any]], RemoteResult]] | None = None
    ) -> None:
        self._tools = list(tools)
        self._does = dict(does or {})
        self.away = False
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def tools(self) -> list[RemoteTool]:
        """Return what it offers."""
        self._reach()
        return list(self._tools)

    async def call(self, name: str, arguments: dict[str, Any]) -> RemoteResult:
        """Note the call and do it."""
        self._reach()
        self.calls.append((name, arguments))
        return self._does[name](arguments)

    async def close(self) -> None:
        """End nothing."""

    def _reach(self) -> None:
        if self.away:
            raise ToolUnavailableError("the MCP server fake cannot be reached")
