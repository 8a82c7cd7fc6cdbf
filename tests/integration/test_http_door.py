"""The HTTP door: identity, limits, and errors that say what, where and what to do."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import ServerSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

TEXT = b"# Travel policy\n\nThe meal allowance is 120 dollars a day for everyone who travels.\n"


def _keys_file(folder: Path, **keys: tuple[str, str, str]) -> Path:
    """Write a keys file; `name=(tenant, user, rights separated by blanks)`, the key is `key-<name>`."""
    entries: list[str] = []
    for name, (tenant, user, rights) in keys.items():
        digest = hashlib.sha256(f"key-{name}".encode()).hexdigest()
        listed = ", ".join(f'"{r}"' for r in rights.split())
        principal = f'{{ tenant = "{tenant}", user = "{user}", rights = [{listed}] }}'
        entries.append(f'[[keys]]\nsha256 = "{digest}"\nprincipal = {principal}\n')
    path = folder / "keys.toml"
    path.write_text("\n".join(entries), encoding="utf-8")
    return path


@pytest.fixture
async def guarded(open_app: OpenApp, tmp_path: Path) -> httpx.AsyncClient:
    path = _keys_file(
        tmp_path,
        writer=("acme", "wu", "search chat ingest delete"),
        reader=("acme", "kim", "search chat"),
        other=("rival", "eve", "search chat ingest delete"),
    )
    return await open_app(server=ServerSettings(keys_file=path))


def _as(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer key-{name}"}


async def test_key_is_needed_where_keys_are_configured(guarded: httpx.AsyncClient) -> None:
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic a2V5"}):
        answer = await guarded.get("/v1/documents", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "unauthenticated"
    assert (await guarded.get("/healthz")).json() == {"status": "ok"}


async def test_rights_are_enforced(guarded: httpx.AsyncClient) -> None:
    answer = await guarded.post("/v1/documents", files={"file": ("a.md", TEXT)}, headers=_as("reader"))
    assert answer.status_code == 403
    assert "ingest" in answer.json()["detail"]


async def test_another_tenants_things_do_not_exist(guarded: httpx.AsyncClient) -> None:
    guarded.headers.update(_as("writer"))
    posted = await guarded.post("/v1/documents", files={"file": ("a.md", TEXT)})
    job = posted.json()
    while (await guarded.get(f"/v1/jobs/{job['job_id']}")).json()["state"] not in {"succeeded", "failed"}:
        pass
    run = (await guarded.post("/v1/chat", json={"question": "What is the meal allowance?", "stream": False})).json()
    assert "120" in run["answer"]
    for path in (
        f"/v1/jobs/{job['job_id']}",
        f"/v1/documents/{job['document_id']}",
        f"/v1/documents/{job['document_id']}/report",
        f"/v1/runs/{run['run_id']}",
        f"/v1/runs/{run['run_id']}/events",
    ):
        seen = await guarded.get(path, headers=_as("other"))
        missing = await guarded.get(path.replace(path.split("/")[3], "0" * 32), headers=_as("other"))
        assert seen.status_code == missing.status_code == 404, path
    assert (await guarded.get("/v1/documents", headers=_as("other"))).json()["documents"] == []
    found = await guarded.post("/v1/search", json={"query": "meal allowance"}, headers=_as("other"))
    assert found.json()["passages"] == []
    gone = await guarded.delete(f"/v1/documents/{job['document_id']}", headers=_as("other"))
    assert gone.status_code == 404


async def test_local_owner_is_served_on_loopback_only(open_app: OpenApp) -> None:
    client = await open_app()
    assert (await client.get("/v1/documents")).status_code == 200
    rebound = await client.get("/v1/documents", headers={"Host": "evil.example"})
    assert rebound.status_code == 401
    foreign = await client.post("/v1/search", json={"query": "x"}, headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 401


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "x", "filter": {"lables": ["hr"]}}, "lables"),
        ({"query": "x", "filter": {"as_of": "yesterday"}}, "as_of"),
        ({"query": ""}, "query"),
        ({"query": " \n "}, "query"),
        ({"query": "x", "top_k": 0}, "top_k"),
        ({}, "query"),
    ],
)
async def test_misspelt_or_wrong_field_is_named(open_app: OpenApp, body: dict[str, Any], field: str) -> None:
    client = await open_app()
    answer = await client.post("/v1/search", json=body)
    assert answer.status_code == 422
    assert field in answer.json()["detail"]


async def test_filter_that_matches_nothing_finds_nothing(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    await upload_and_wait(client, "a.md", TEXT, labels="hr")
    assert (await client.post("/v1/search", json={"query": "meal allowance"})).json()["passages"]
    for filter in ({"labels": ["finance"]}, {"document_ids": []}, {"labels": ["hr", "finance"]}):
        found = (await client.post("/v1/search", json={"query": "meal allowance", "filter": filter})).json()
        assert found["passages"] == [], filter


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"authority": "holy"}, "authority"),
        ({"acess": "user:ceo"}, "acess"),
        ({"access": "root"}, "access"),
        ({"access": "user:"}, "access"),
        ({"effective_from": "2025-01-01", "effective_to": "2024-01-01"}, "effective_to"),
    ],
)
async def test_wrong_metadata_is_named_and_nothing_is_taken_in(
    open_app: OpenApp, fields: dict[str, str], told: str
) -> None:
    client = await open_app()
    answer = await client.post("/v1/documents", files={"file": ("a.md", TEXT)}, data=fields)
    assert answer.status_code == 422
    assert told in answer.json()["detail"]
    assert (await client.get("/v1/jobs")).json()["jobs"] == []


async def test_file_above_the_limit_is_refused_and_nothing_is_kept(open_app: OpenApp, tmp_path: Path) -> None:
    client = await open_app(server=ServerSettings(max_upload_mb=1))
    answer = await client.post("/v1/documents", files={"file": ("a.txt", b"x" * 2_000_000)})
    assert answer.status_code == 413
    assert (await client.get("/v1/jobs")).json()["jobs"] == []
    assert not [p for p in (tmp_path / "home" / "originals").rglob("*") if p.is_file() and p.stat().st_size > 1000]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\x00b.md", "x" * 4000 + ".md", "‮gpj.md"])
async def test_file_name_never_becomes_a_path(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path, name: str
) -> None:
    client = await open_app()
    job = await upload_and_wait(client, "plain.md", TEXT, source=name)
    assert job["state"] == "succeeded"
    assert len(job["source"]) <= 255
    assert "\x00" not in job["source"]
    for path in (tmp_path / "home").rglob("*"):
        assert "passwd" not in path.name


async def test_unknown_things_are_problems(open_app: OpenApp) -> None:
    client = await open_app()
    for path in ("/v1/jobs/nothing", "/v1/documents/nothing", "/v1/runs/nothing", "/v1/nothing"):
        answer = await client.get(path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path", ["documents", "jobs", "runs", "databases", "documents/x", "documents/x/pages/1.png", "runs/x/events"]
)
async def test_unknown_query_parameters_are_refused_by_name(open_app: OpenApp, path: str) -> None:
    client = await open_app()
    answer = await client.get(f"/v1/{path}", params={"bogus": "1", "chunk_": "2"})
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"
    assert [error["field"] for error in answer.json()["errors"]] == ["query.bogus", "query.chunk_"]


async def test_known_query_parameters_pass(open_app: OpenApp) -> None:
    client = await open_app()
    for query in ("documents?parent=x&source=y&own=true&limit=5&offset=0", "jobs?limit=5&offset=1", "runs?limit=2"):
        assert (await client.get(f"/v1/{query}")).status_code == 200, query
    refused = await client.get("/v1/documents?Limit=5")
    assert "parameters are limit, offset, own, parent, source" in refused.json()["detail"]


async def test_callers_without_a_key_learn_no_parameters(guarded: httpx.AsyncClient) -> None:
    assert (await guarded.get("/v1/documents?bogus=1")).status_code == 401


async def test_a_store_that_fails_is_named_to_the_operator_alone(open_app: OpenApp, tmp_path: Path) -> None:
    path = _keys_file(tmp_path, kim=("acme", "kim", "search chat"), boss=("acme", "boss", "search chat"))
    path.write_text(path.read_text(encoding="utf-8") + "operator = true\n", encoding="utf-8")
    client = await open_app(server=ServerSettings(keys_file=path))
    transport: Any = client._transport
    await transport._app.state.container.store.close()
    home = str(tmp_path / "home")
    for body, where in (({"query": "meal"}, "search"), ({"question": "meal?", "stream": False}, "chat")):
        answer = await client.post(f"/v1/{where}", json=body, headers=_as("kim"))
        assert answer.status_code == 503
        assert answer.json()["code"] == "store_unavailable"
        assert home not in answer.text
        assert "again" in answer.json()["detail"]
    told = await client.post("/v1/search", json={"query": "meal"}, headers=_as("boss"))
    assert home in told.json()["detail"]
