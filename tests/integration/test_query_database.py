"""A database that was taken in can be queried by those who may see it, and by nobody else."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from agent.fakes import FakeSearcher
from agent.tools.base import ToolContext
from agent.tools.executor import Outcome, ToolExecutor
from api.container import Container
from retrieval.labels import LabelBook
from retrieval.types import Principal, SearchFilter

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
OWNER = Principal(tenant="local", user="owner")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, mobile TEXT, salary INTEGER)")
        connection.execute("INSERT INTO staff VALUES (1, 'Ann', '13800138000', 9000), (2, 'Bob', '13900139000', 8000)")
    connection.close()
    return path


def container_of(client: httpx.AsyncClient) -> Container:
    transport: Any = client._transport
    return transport._app.state.container


async def ask(container: Container, sql: str | None, principal: Principal = OWNER, **more: Any) -> Outcome:
    parts: Any = container.runs
    agent = parts._agent._parts
    at = ToolContext(
        principal=principal,
        language="en",
        book=LabelBook(),
        searcher=FakeSearcher(),
        library=agent.library,
        filter=more.get("filter", SearchFilter()),
        max_chars=3000,
        run_id="r",
    )
    tool = agent.tools.resolve("query_database", {"query_database"}).tool
    arguments = {} if sql is None else {"sql": sql}
    return await ToolExecutor().execute(tool, arguments, at)


async def test_an_uploaded_database_is_queried_without_secrets_and_only_by_its_owner(
    open_app: OpenApp, upload_and_wait: Callable[..., Awaitable[dict[str, Any]]], people: Path
) -> None:
    client = await open_app()
    job = await upload_and_wait(client, "people.db", await asyncio.to_thread(people.read_bytes))
    assert job["state"] == "succeeded"
    container = container_of(client)
    shown = await ask(container, None)
    assert "staff" in shown.observation
    total = await ask(container, "SELECT sum(salary) AS total FROM staff")
    (passage,) = total.result.passages
    assert (passage.label, passage.chunk.text) == ("db_people.staff#q1", "total\n17000")
    assert passage.chunk.document_id == job["document_id"]
    secret = await ask(container, "SELECT name, mobile FROM staff ORDER BY id")
    assert "13800138000" not in secret.observation
    assert secret.observation.count("MOBILE") + secret.observation.count("PHONE") == 2
    stranger = await ask(container, "SELECT * FROM staff", Principal(tenant="other", user="owner"))
    assert stranger.result.error_code == "tool_arguments"
    elsewhere = await ask(container, None, filter=SearchFilter(document_ids=frozenset({"none"})))
    assert "staff" not in elsewhere.observation
    await client.delete(f"/v1/documents/{job['document_id']}")
    assert (await ask(container, "SELECT * FROM staff")).result.error_code == "tool_arguments"


async def test_a_configured_database_is_queried_once_it_was_taken_in(open_app: OpenApp, people: Path) -> None:
    client = await open_app(databases={"hr": SecretStr(f"sqlite:///{people}")})
    container = container_of(client)
    assert "There is no database" in (await ask(container, None)).observation
    job = (await client.post("/v1/databases/hr", json={})).json()
    while job["state"] in {"queued", "running"}:
        job = (await client.get(f"/v1/jobs/{job['job_id']}")).json()
    outcome = await ask(container, "SELECT count(*) AS n FROM staff")
    assert outcome.result.passages[0].chunk.text == "n\n2"
    assert outcome.result.passages[0].label == "db_hr.staff#q1"
