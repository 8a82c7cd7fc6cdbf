"""Real MCP servers as tools: a process over its streams, and one over loopback HTTP."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from agent.errors import ToolUnavailableError
from agent.tools.mcp.connection import McpConnection, RemoteResult
from agent.tools.mcp.settings import McpServer

LITTLE = str(Path(__file__).parents[1] / "shared" / "little_mcp_server.py")


@pytest.fixture
async def over_streams(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[McpConnection]:
    monkeypatch.setenv("ATTEST_LLM_API_KEY", "ours")
    settings = McpServer(
        command=sys.executable,
        args=(LITTLE,),
        env={"LITTLE_KEY": SecretStr("theirs")},
        tools=(),
        timeout_s=2,
        connect_timeout_s=60,
    )
    connection = McpConnection("little", settings)
    yield connection
    await connection.close()


async def test_a_process_is_asked_over_its_streams_and_sees_nothing_of_our_environment(
    over_streams: McpConnection,
) -> None:
    assert {tool.name for tool in await over_streams.tools()} >= {"echo", "inject"}
    assert await over_streams.call("echo", {"text": "年假 😀"}) == RemoteResult("年假 😀", ok=True)
    assert await over_streams.call("secret", {}) == RemoteResult("theirs None", ok=True)
    assert (await over_streams.call("refuse", {"text": "no"})).ok is False


async def test_a_process_that_ends_or_hangs_is_told_and_started_again_for_the_next_call(
    over_streams: McpConnection,
) -> None:
    for name in ("die", "wait"):
        with pytest.raises(ToolUnavailableError):
            await over_streams.call(name, {})
        assert (await over_streams.call("echo", {"text": "again"})).text == "again"


async def test_a_command_that_is_not_there_is_told() -> None:
    connection = McpConnection("none", McpServer(command="/nowhere/at-all", tools=()))
    with pytest.raises(ToolUnavailableError, match="none cannot be reached"):
        await connection.tools()
    await connection.close()


@pytest.fixture
def little_port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, LITTLE, str(port)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield port
        process.terminate()


async def test_a_server_over_http_is_asked_with_the_headers_that_were_set(little_port: int) -> None:
    url = f"http://127.0.0.1:{little_port}/mcp"
    key = {"Authorization": SecretStr("Bearer little")}
    connection = McpConnection("little", McpServer(url=url, headers=key, tools=(), connect_timeout_s=60))
    try:
        assert await connection.call("echo", {"text": "over HTTP"}) == RemoteResult("over HTTP", ok=True)
    finally:
        await connection.close()
    refused = McpConnection("little", McpServer(url=url, tools=(), connect_timeout_s=60))
    with pytest.raises(ToolUnavailableError):
        await refused.tools()
    await refused.close()
