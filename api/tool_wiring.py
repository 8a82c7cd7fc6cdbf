"""Builds the tools of this server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points

from agent.ports import Library
from agent.tools.base import Tool
from agent.tools.builtin.ask_user import AskUser
from agent.tools.builtin.calculate import Calculate
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.hand_over import HandOver
from agent.tools.builtin.list_documents import ListDocuments
from agent.tools.builtin.plan import PlanCreate, PlanUpdate
from agent.tools.builtin.query_database import QueryDatabase
from agent.tools.builtin.read_artifact import ReadArtifact
from agent.tools.builtin.read_document import ReadDocument
from agent.tools.builtin.reason import Reason
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.builtin.write_document import WriteDocument
from agent.tools.entry_points import GROUP, OwnTool, OwnToolError, load_own_tools
from agent.tools.mcp.settings import McpSettings
from agent.tools.registry import ToolRegistry
from api.databases import TenantDatabases
from api.errors import SettingsError
from api.settings import Settings
from api.symbol_wiring import hiding_now
from ingest.assembly import IngestParts
from retrieval.filters import read_filter
from retrieval.symbols.language import SymbolLanguage


async def open_tools(
    stack: AsyncExitStack, settings: Settings, language: SymbolLanguage, ingest: IngestParts, library: Library
) -> ToolRegistry:
    """Return the built-in tools over these parts and those of the MCP servers, whose connections `stack` ends."""
    remote: Sequence[Tool] = await _remote_tools(stack, settings.mcp) if settings.mcp.servers else ()

    def hide(text: str, tenant: str) -> str:
        return hiding_now(language, ingest, tenant)(text)

    configured = {name: url.get_secret_value() for name, url in settings.databases.items()}
    databases = TenantDatabases(library, ingest.catalog, ingest.originals, configured)
    return ToolRegistry([
        SearchKnowledge(partial(read_filter, language=language)),
        ReadDocument(),
        ListDocuments(),
        QueryDatabase(databases, hide),
        Calculate(),
        WriteDocument(),
        ReadArtifact(),
        PlanCreate(),
        PlanUpdate(),
        AskUser(),
        HandOver(),
        Reason(),
        Finish(),
        *_own_tools(),
        *remote,
    ])


def _own_tools() -> list[OwnTool]:
    """Return the tools of installed packages.

    Raises:
        SettingsError: one of them gives no tool.
    """
    try:
        return load_own_tools(entry_points(group=GROUP))
    except OwnToolError as exc:
        raise SettingsError(str(exc)) from exc


async def _remote_tools(stack: AsyncExitStack, settings: McpSettings) -> Sequence[Tool]:
    # The SDK costs a second, and most installations name no server.
    connecting = await asyncio.to_thread(import_module, "agent.tools.mcp.connection")
    loading = await asyncio.to_thread(import_module, "agent.tools.mcp.tool")
    servers = {name: (server, connecting.McpConnection(name, server)) for name, server in settings.servers.items()}
    for _, connection in servers.values():
        stack.push_async_callback(connection.close)
    tools: Sequence[Tool] = await loading.load_tools(servers)
    return tools
