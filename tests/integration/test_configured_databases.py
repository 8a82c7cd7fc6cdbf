"""Databases that an operator configured: described as documents, named by operators alone."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from api.settings import ServerSettings, load_settings

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture
def crm(tmp_path: Path) -> Path:
    path = tmp_path / "crm.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT, payment_days INTEGER)")
        connection.execute("INSERT INTO suppliers VALUES (1, 'Nordwind', 30)")
    connection.close()
    return path


async def take_in(client: httpx.AsyncClient, name: str = "crm", **meta: Any) -> dict[str, Any]:
    answer = await client.post(f"/v1/databases/{name}", json=meta)
    assert answer.status_code == 202, answer.text
    job = answer.json()
    while job["state"] in {"queued", "running"}:
        job = (await client.get(f"/v1/jobs/{job['job_id']}")).json()
    return job


async def test_a_database_is_a_document_and_the_same_schema_is_nothing_to_do(open_app: OpenApp, crm: Path) -> None:
    client = await open_app(databases={"crm": SecretStr(f"sqlite:///{crm}")})
    assert (await client.get("/v1/databases")).json() == {"databases": ["crm"]}
    job = await take_in(client, labels=["purchasing"])
    assert (job["state"], job["outcome"]) == ("succeeded", "new")
    document = (await client.get(f"/v1/documents/{job['document_id']}")).json()
    assert (document["format"], document["source"], document["state"]) == ("database", "database:crm", "ready")
    assert document["meta"]["labels"] == ["purchasing"]
    found = (await client.post("/v1/search", json={"query": "suppliers payment_days"})).json()
    assert found["passages"][0]["chunk"]["document_id"] == job["document_id"]
    assert (await take_in(client, labels=["purchasing"]))["outcome"] == "unchanged"
    with sqlite3.connect(crm) as connection:
        connection.execute("CREATE TABLE invoices (id INTEGER PRIMARY KEY)")
    connection.close()
    assert (await take_in(client, labels=["purchasing"]))["outcome"] == "new_version"


async def test_a_database_needs_a_configured_name_and_an_operator(open_app: OpenApp, crm: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    entries = ""
    for user, rights in (("operator", '"ingest", "admin", "search"'), ("writer", '"ingest", "search"')):
        digest = hashlib.sha256(user.encode()).hexdigest()
        principal = f'{{ tenant = "acme", user = "{user}", groups = [], rights = [{rights}] }}'
        entries += f'[[keys]]\nsha256 = "{digest}"\nprincipal = {principal}\n'
    keys.write_text(entries, encoding="utf-8")
    client = await open_app(
        databases={"crm": SecretStr(f"sqlite:///{crm}"), "gone": SecretStr("nosuchdialect://u:topsecret@host/db")},
        server=ServerSettings(keys_file=keys),
    )
    writer, operator = ({"Authorization": f"Bearer {user}"} for user in ("writer", "operator"))
    for call in (client.post("/v1/databases/crm", headers=writer), client.get("/v1/databases", headers=writer)):
        assert (await call).status_code == 403
    unknown = await client.post("/v1/databases/other", headers=operator)
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_database")
    broken = await client.post("/v1/databases/gone", headers=operator)
    assert (broken.status_code, broken.json()["code"]) == (415, "unsupported_document")
    assert "topsecret" not in broken.text
    # An uploaded file is never taken for a snapshot, whatever it says.
    spoofed = b'{"format":"database","blocks":[{"kind":"paragraph","text":"spoofed"}]}'
    answer = await client.post("/v1/documents", headers=writer, files={"file": ("a.json", spoofed)})
    job = answer.json()
    while job["state"] in {"queued", "running"}:
        job = (await client.get(f"/v1/jobs/{job['job_id']}", headers=writer)).json()
    document = (await client.get(f"/v1/documents/{job['document_id']}", headers=writer)).json()
    assert document["format"] == "json"


def test_databases_are_configured_by_environment_or_file_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path))
    monkeypatch.setenv("ATTEST_DATABASES_CRM", "postgresql://u:topsecret@host/crm")
    (tmp_path / "attest.toml").write_text('[databases]\nbooks = "sqlite:///books.db"\n', encoding="utf-8")
    settings = load_settings()
    assert sorted(settings.databases) == ["books", "crm"]
    assert settings.databases["crm"].get_secret_value() == "postgresql://u:topsecret@host/crm"
    assert "topsecret" not in repr(settings)


def test_command_line_takes_a_configured_database_in(attest: Any, crm: Path) -> None:
    (outcome,) = attest.json("ingest", "--database", "crm", ATTEST_DATABASES_CRM=f"sqlite:///{crm}")
    assert (outcome["path"], outcome["state"], outcome["outcome"]) == ("crm", "succeeded", "new")
    (unknown,) = attest.json("ingest", "--database", "other", ATTEST_DATABASES_CRM=f"sqlite:///{crm}", code=1)
    assert unknown["error_code"] == "unknown_database"
    assert attest("ingest", code=2).stderr
