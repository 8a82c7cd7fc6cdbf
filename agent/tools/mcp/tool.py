"""A tool of an MCP server as a tool of ours: its words are untrusted, and it acts unless told harmless."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import jsonschema

from agent.errors import ToolError, ToolUnavailableError
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.mcp.connection import Remote, RemoteTool
from agent.tools.mcp.settings import McpServer
from retrieval.neutralise import neutralise_line

log = logging.getLogger(__name__)

_NAME_RE = re.compile(r"[^a-z0-9_]+")
_NAME_CHARS = 40
"""So that a result's label, `tool_NAME#1`, stays inside the 64 characters of labels."""
_DESCRIPTION_CHARS = 500
_SCHEMA_CHARS = 20_000
_REF_RE = re.compile(r'"\$(?:ref|dynamicRef|schema|id)"\s*:\s*"(?!#)')


class McpTool:
    """One tool of one server."""

    def __init__(self, server: str, settings: McpServer, declared: RemoteTool, remote: Remote) -> None:
        """Take the tool as its server declared it at the start; a later change of its words is not looked at.

        Raises:
            ValueError: its schema is none, is too large, or points elsewhere.
        """
        self._remote = remote
        self._declared = declared
        acts = declared.name not in settings.harmless
        self.spec = ToolSpec(
            name=_NAME_RE.sub("_", f"mcp_{server}_{declared.name}".lower())[:_NAME_CHARS].strip("_"),
            description=neutralise_line(" ".join(declared.description.split()))[:_DESCRIPTION_CHARS],
            arguments=_checked(declared.arguments),
            timeout_ms=int(settings.timeout_s * 1000),
            side_effects=acts,
            retries=0,
            external=True,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Call the tool; its text may be cited by the label it is given.

        Raises:
            ToolError: it refused, or its server is away.
        """
        result = await self._remote.call(self._declared.name, arguments)
        if not result.ok:
            raise ToolError(f"{self.spec.name} refused: {neutralise_line(result.text)[:300]}")
        return ToolResult(text=result.text, label=context.reserve(self.spec.name, result.text))


async def load_tools(servers: Mapping[str, tuple[McpServer, Remote]]) -> list[McpTool]:
    """Return the allowed tools of all servers; one that is away, or names no such tool, is told to the log alone."""
    found = await asyncio.gather(*(_of_one(name, *server) for name, server in servers.items()))
    by_name: dict[str, McpTool] = {}
    for tool in (tool for tools in found for tool in tools):
        if tool.spec.name in by_name:
            log.warning("two MCP tools would be named %s; the second is left out", tool.spec.name)
        else:
            by_name[tool.spec.name] = tool
    return list(by_name.values())


async def _of_one(name: str, settings: McpServer, remote: Remote) -> Sequence[McpTool]:
    try:
        offered = {tool.name: tool for tool in await remote.tools()}
    except ToolUnavailableError as exc:
        log.warning("%s; its tools are not offered until the next start", exc)
        return ()
    tools: list[McpTool] = []
    for wanted in settings.tools:
        if wanted not in offered:
            log.warning("the MCP server %s has no tool %r", name, wanted)
            continue
        try:
            tools.append(McpTool(name, settings, offered[wanted], remote))
        except ValueError as exc:
            log.warning("the tool %r of the MCP server %s is left out: %s", wanted, name, exc)
    return tools


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    written = json.dumps(schema)
    if len(written) > _SCHEMA_CHARS:
        raise ValueError("its schema is too large")
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    if _REF_RE.search(json.dumps(plain)):
        # What a schema points to elsewhere would be fetched when arguments are checked.
        raise ValueError("its schema points to another document")
    try:
        jsonschema.Draft202012Validator.check_schema(plain)
    except jsonschema.SchemaError as exc:
        raise ValueError("its schema is none") from exc
    if plain.get("type") != "object":
        raise ValueError("its schema is not of an object")
    return cast("dict[str, Any]", _inert(plain))


def _inert(value: object) -> object:
    """Make descriptions inert: they stand in the prompt beside the tool's own."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value)
        return {
            key: neutralise_line(item)[:200] if key == "description" and isinstance(item, str) else _inert(item)
            for key, item in items.items()
        }
    return [_inert(item) for item in cast("list[object]", value)] if isinstance(value, list) else value
