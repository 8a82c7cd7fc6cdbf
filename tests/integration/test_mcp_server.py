"""Our tools over MCP: loopback HTTP and standard streams, with the keys and rights of every other route."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from agent.switches import Switches
from api.settings import ServerSettings
from patience import turns

ATTEST = str(Path(sys.executable).with_name("attest"))
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
POLICY = "# Travel policy\n\n## Meals\n\nThe meal allowance is 120 dollars a day for everyone who travels.\n"
JSON = {"accept": "application/json, text/event-stream"}


def text_of(result: CallToolResult) -> str:
    assert not result.is_error, result
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def test_a_running_server_is_reached_over_loopback_and_over_streams(attest: Any) -> None:
    server = attest.serve()
    with server.client() as plain:
        job = plain.post("/v1/documents", files={"file": ("travel.md", POLICY.encode())}).json()["job_id"]
        for _ in turns("the document is taken in"):
            if plain.get(f"/v1/jobs/{job}").json()["state"] == "succeeded":
                break
        plain.post("/v1/search", json={"query": "meal allowance"})  # the first search loads what later ones have
    async with Client(f"{server.url}/mcp", read_timeout_seconds=60) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names >= {"ask", "search_knowledge", "list_documents", "calculate", "plan_create", "plan_update"}
        assert not names & {"finish", "ask_user", "hand_over"}
        found = text_of(await client.call_tool("search_knowledge", {"query": "What is the meal allowance?"}))
        assert "120 dollars" in found
        assert "[SOURCE: doc_" in found
        answer = text_of(await client.call_tool("ask", {"question": "What is the meal allowance?"}))
        assert "120 dollars" in answer
        assert "[SOURCE: doc_" in answer
        assert (await client.call_tool("search_knowledge", {"wrong": 1})).is_error
        assert (await client.call_tool("no_such_tool", {})).is_error
    async with Client(f"{server.url}/mcp/plan", read_timeout_seconds=60) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"plan_create", "plan_update"}
        assert (await client.call_tool("calculate", {"expression": "1+1"})).is_error

    streams = StdioServerParameters(command=ATTEST, args=["mcp"], env=attest.environment({}))
    async with Client(streams, read_timeout_seconds=60) as client:
        assert "221" in text_of(await client.call_tool("calculate", {"expression": "17 * 13"}))
        await client.call_tool("plan_create", {"items": [{"text": "read"}, {"text": "write"}]})
        assert "Next: 2 write" in text_of(await client.call_tool("plan_update", {"item": "1", "state": "done"}))


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


HELLO = rpc("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})


async def test_keys_rights_and_switches_hold_here_too(open_app: OpenApp, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(
        "\n".join(
            f'[[keys]]\nsha256 = "{hashlib.sha256(key.encode()).hexdigest()}"\n'
            f'principal = {{ tenant = "{tenant}", user = "{key}", rights = [{rights}] }}'
            for key, tenant, rights in (("ann", "a", '"search", "chat"'), ("bob", "b", '"search"'))
        ),
        encoding="utf-8",
    )
    client = await open_app(server=ServerSettings(keys_file=keys), switches=Switches(off=("tool:calculate",)))

    async def post(key: str, body: dict[str, Any], **headers: str) -> httpx.Response:
        return await client.post("/mcp", json=body, headers=JSON | {"authorization": f"Bearer {key}"} | headers)

    refused = await client.post("/mcp", json=HELLO, headers=JSON)
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
    assert (await post("eve", HELLO)).status_code == 401

    begun = await post("ann", HELLO)
    assert begun.status_code == 200, begun.text
    session = {"mcp-session-id": begun.headers["mcp-session-id"]}
    listed = await post("ann", rpc("tools/list"), **session)
    names = {tool["name"] for tool in listed.json()["result"]["tools"]}
    assert "ask" in names
    assert "calculate" not in names
    stolen = await post("bob", rpc("tools/list"), **session)
    assert stolen.status_code == 404, stolen.text

    begun = await post("bob", HELLO)
    session = {"mcp-session-id": begun.headers["mcp-session-id"]}
    listed = await post("bob", rpc("tools/list"), **session)
    assert "ask" not in {tool["name"] for tool in listed.json()["result"]["tools"]}
    called = await post("bob", rpc("tools/call", name="ask", arguments={"question": "x"}), **session)
    assert called.json()["result"]["isError"] is True


async def test_a_page_of_another_origin_is_refused(open_app: OpenApp) -> None:
    client = await open_app()
    answer = await client.post("/mcp", json=HELLO, headers=JSON | {"origin": "https://evil.example"})
    assert answer.status_code == 401


async def test_tools_over_plain_http_hide_secrets_and_keep_sessions_apart(open_app: OpenApp) -> None:
    client = await open_app()
    tools = (await client.get("/v1/tools")).json()["tools"]
    assert "read_document" in {tool["name"] for tool in tools}
    plan = {"arguments": {"items": [{"text": "call 13812345678"}]}, "session": "one"}
    created = (await client.post("/v1/tools/plan_create", json=plan)).json()
    assert created["ok"] is True
    assert "13812345678" not in created["text"]
    moved = {"arguments": {"item": "1", "state": "done"}, "session": "two"}
    assert (await client.post("/v1/tools/plan_update", json=moved)).json()["ok"] is False
    unknown = await client.post("/v1/tools/nothing", json={})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_tool")
