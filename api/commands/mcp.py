"""`attest mcp`: our tools for a program on this machine, over standard input and output."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

from agent.tools.base import ToolSpec
from api.client import AttestClient, ProblemError
from api.commands.session import run
from api.mcp.desk import PLAN
from api.mcp.server import build_server
from api.settings import Settings


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("mcp", help=summary)(serve)


def serve(plan: Annotated[bool, typer.Option("--plan", help="Serve the to-do list alone.")] = False) -> None:
    """Serve the Model Context Protocol until the input ends."""

    async def work(client: AttestClient, _settings: Settings) -> None:
        server = build_server(_OverHttp(client), only=PLAN if plan else None)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    run(work)


class _OverHttp:
    """The tools of the server that owns ATTEST_HOME, or of this process where none runs."""

    def __init__(self, client: AttestClient) -> None:
        self._client = client
        self._session = uuid.uuid4().hex

    async def offered(self, context: ServerRequestContext[Any]) -> Sequence[ToolSpec]:
        del context
        found = await self._client.get("/v1/tools")
        return [ToolSpec.model_validate(tool) for tool in found["tools"]]

    async def call(self, context: ServerRequestContext[Any], name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        del context
        try:
            body = {"arguments": arguments, "session": self._session}
            found = await self._client.post(f"/v1/tools/{name}", body)
        except ProblemError as exc:
            return str(exc), False
        return found["text"], found["ok"]
