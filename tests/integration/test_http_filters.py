"""Filters at the doors: every field AND-ed, a wrong one named, and nothing shown that does not exist for the asker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import ServerSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

TRAVEL = b"# Travel policy\n\nThe meal allowance is 120 dollars a day for everyone who travels.\n"
RESULTS = b"# Results of Q3 2024\n\nRevenue of the meal business was RMB 238 million, 12 % more than before.\n"
FORMER = b"# Results of Q3 2023\n\nRevenue of the meal business was RMB 201 million, 3 % more than before.\n"
QUOTES = ("' OR '1'='1", "x'; DROP TABLE documents; --", '" OR 1=1 --', "%", "*", "\\", "(select 1)")


async def found(client: httpx.AsyncClient, query: str = "meal", **filter: Any) -> list[dict[str, Any]]:
    answer = await client.post("/v1/search", json={"query": query, "top_k": 20, "filter": filter})
    assert answer.status_code == 200, answer.text
    return [passage["chunk"] for passage in answer.json()["passages"]]


@pytest.mark.parametrize("path", ["/v1/search", "/v1/chat"])
async def test_unknown_and_wrong_fields_are_named_at_every_level(open_app: OpenApp, path: str) -> None:
    client = await open_app()
    question = {"query": "meal"} if path == "/v1/search" else {"question": "meal", "stream": True}
    for body, field in (
        ({"fliter": {"labels": ["hr"]}}, "fliter"),
        ({"filter": {"lables": ["hr"]}}, "filter.lables"),
        ({"filter": {"tenant": "rival"}}, "filter.tenant"),
        ({"filter": {"access": ["everyone"]}}, "filter.access"),
        ({"filter": {"groups": ["hr"]}}, "filter.groups"),
        ({"filter": {"labels": {"hr": True}}}, "filter.labels"),
        ({"filter": {"labels": [{"any": "hr"}]}}, "filter.labels"),
        ({"filter": {"labels": [""]}}, "filter.labels"),
        ({"filter": {"labels": "hr"}}, "filter.labels"),
        ({"filter": {"document_ids": {"not": ["a"]}}}, "filter.document_ids"),
        ({"filter": {"language": "zh' OR '1'='1"}}, "filter.language"),
        ({"filter": {"authority": ["official", "draft"]}}, "filter.authority"),
        ({"filter": {"as_of": "2024-13-01"}}, "filter.as_of"),
        ({"filter": {"period": {"from": "2024"}}}, "filter.period"),
        ({"filter": {"period": "soon"}}, "filter.period"),
        ({"filter": {"symbols": ["net profit"]}}, "filter.symbols"),
        ({"filter": {"symbols": [["5.2%"]]}}, "filter.symbols"),
        ({"filter": []}, "filter"),
    ):
        answer = await client.post(path, json=question | body)
        assert answer.status_code == 422, body
        assert answer.headers["content-type"] == "application/problem+json"
        assert field in answer.json()["detail"], body


async def test_filters_are_anded_whoever_owns_the_documents(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    await upload_and_wait(client, "travel.md", TRAVEL, labels=["hr"], authority="official", language="en")
    await upload_and_wait(client, "results.md", RESULTS, labels=["finance", "group"], effective_from="2024-10-30")
    titles = {chunk["title"] for chunk in await found(client)}
    assert titles == {"Travel policy", "Results of Q3 2024"}
    assert {c["title"] for c in await found(client, labels=["hr"])} == {"Travel policy"}
    assert {c["title"] for c in await found(client, labels=["finance", "group"])} == {"Results of Q3 2024"}
    assert {c["title"] for c in await found(client, authority="official")} == {"Travel policy"}
    assert {c["title"] for c in await found(client, as_of="2024-10-29")} == {"Travel policy"}
    for nothing in (
        {"labels": ["hr", "finance"]},
        {"labels": ["HR"]},
        {"labels": ["finance"], "authority": "official"},
        {"labels": ["hr"], "language": "zh"},
        {"labels": ["hr"], "period": "2024Q3"},
        {"document_ids": []},
        {"document_ids": ["0" * 32]},
        {"symbols": ["RMB 238 million", "13 %"]},
    ):
        assert await found(client, **nothing) == [], nothing
        body = {"question": "What is the meal allowance?", "stream": False, "filter": nothing}
        answer = (await client.post("/v1/chat", json=body)).json()
        assert "120" not in answer["answer"], nothing
        assert answer["passages"] == [], nothing


async def test_period_and_symbols_are_asked_as_one_writes_them(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    for name, content in (("results.md", RESULTS), ("former.md", FORMER), ("travel.md", TRAVEL)):
        await upload_and_wait(client, name, content)
    for written in ("2024Q3", "Q3 2024", "2024年第三季度", "2024", "2024-06-01/2024-10-31", "from 2024 to 2025"):
        texts = [chunk["text"] for chunk in await found(client, period=written)]
        assert texts, written
        assert all("238" in text for text in texts), written
    assert await found(client, period="2024-07") == []
    assert ["201" in chunk["text"] for chunk in await found(client, symbols=["2.01 亿元"])] == [True]
    assert ["238" in chunk["text"] for chunk in await found(client, symbols=["[CNY_238000000]"])] == [True]


async def test_secret_in_a_filter_finds_what_holds_it_and_is_kept_nowhere(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app()
    await upload_and_wait(client, "contacts.md", b"# Contacts\n\nThe meal office answers at 13800138000.\n")
    await upload_and_wait(client, "others.md", b"# Others\n\nThe meal office of Lyon does not answer.\n")
    [only] = await found(client, symbols=["138 0013 8000"])
    assert "[PHONE_" in only["text"]
    body = {"question": "Where is the meal office?", "stream": False, "filter": {"symbols": ["13800138000"]}}
    run = (await client.post("/v1/chat", json=body)).json()
    events = (await client.get(f"/v1/runs/{run['run_id']}/events")).text
    refused = await client.post("/v1/search", json={"query": "meal", "filter": {"symbols": ["call 13800138000"]}})
    assert refused.status_code == 422
    kept = b"".join(p.read_bytes() for p in (tmp_path / "home").glob("*.sqlite3*"))
    for shown in (run, events, refused.text, kept.decode("latin-1")):
        assert "13800138000" not in json.dumps(shown)


async def test_query_language_of_databases_is_text_in_every_value(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app()
    job = await upload_and_wait(client, "travel.md", TRAVEL, labels=["hr"])
    for value in QUOTES:
        assert await found(client, labels=[value]) == [], value
        assert await found(client, document_ids=[value]) == [], value
        assert await found(client, labels=["hr"], document_ids=[job["document_id"], value])
        for field in ("period", "symbols"):
            wrong = {field: value if field == "period" else [value]}
            answer = await client.post("/v1/search", json={"query": "meal", "filter": wrong})
            assert answer.status_code == 422, (field, value)
            assert f"filter.{field}" in answer.json()["detail"]
        for path in ("documents", "jobs", "runs", "decisions"):
            asked = await client.get(httpx.URL(f"/v1/{path}/" + value.replace("%", "%25").replace("/", "%2F")))
            assert asked.status_code == 404, (path, value)
    assert await found(client, labels=["hr"])


async def test_deleted_document_is_gone_from_every_filter_and_a_new_one_stands_alone(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app()
    job = await upload_and_wait(client, "travel.md", TRAVEL, labels=["hr"])
    gone = job["document_id"]
    assert await found(client, labels=["hr"], document_ids=[gone])
    assert (await client.delete(f"/v1/documents/{gone}")).status_code == 200
    for filter in ({}, {"labels": ["hr"]}, {"document_ids": [gone]}, {"labels": ["hr"], "document_ids": [gone]}):
        assert await found(client, **filter) == [], filter
    await upload_and_wait(client, "travel.md", TRAVEL.replace(b"120", b"135"), labels=["hr"])
    assert [("135" in c["text"], c["document_id"] == gone) for c in await found(client, labels=["hr"])] == [
        (True, False)
    ]
    assert await found(client, document_ids=[gone]) == []


# ---- what is another's does not exist


def _keys_file(folder: Path, tenants: dict[str, str]) -> Path:
    entries = [
        f'[[keys]]\nsha256 = "{hashlib.sha256(f"key-{user}".encode()).hexdigest()}"\n'
        f"principal = {{ tenant = {json.dumps(tenant)}, user = {json.dumps(user)}, "
        'rights = ["search", "chat", "ingest", "delete", "admin", "reveal"] }\n'
        for user, tenant in tenants.items()
    ]
    path = folder / "keys.toml"
    path.write_text("\n".join(entries), encoding="utf-8")
    return path


async def test_guessed_ids_answer_like_ids_of_nothing(open_app: OpenApp, tmp_path: Path) -> None:
    path = _keys_file(tmp_path, {"wu": "acme", "eve": "rival"})
    client = await open_app(server=ServerSettings(keys_file=path))
    own, other = ({"Authorization": f"Bearer key-{user}"} for user in ("wu", "eve"))
    form = {"access": "user:wu"}
    job = (await client.post("/v1/documents", files={"file": ("a.md", TRAVEL)}, data=form, headers=own)).json()
    while (await client.get(f"/v1/jobs/{job['job_id']}", headers=own)).json()["state"] not in {"succeeded", "failed"}:
        pass
    question = {"question": "What is the meal allowance?", "stream": False}
    run = (await client.post("/v1/chat", json=question, headers=own)).json()
    assert "120" in run["answer"]
    decisions = (await client.get("/v1/decisions", headers=own)).json()["decisions"]
    ids = {"documents": job["document_id"], "jobs": job["job_id"], "runs": run["run_id"]}
    ids["decisions"] = decisions[0]["decision_id"]
    guesses = (
        ("GET", "documents", ""),
        ("GET", "documents", "/report"),
        ("GET", "documents", "/pages/1.png"),
        ("DELETE", "documents", ""),
        ("GET", "jobs", ""),
        ("POST", "jobs", "/retry"),
        ("POST", "jobs", "/cancel"),
        ("GET", "runs", ""),
        ("GET", "runs", "/events"),
        ("GET", "runs", "/decisions"),
        ("GET", "decisions", ""),
    )
    for method, kind, rest in guesses:
        nothing = "0" * len(ids[kind])
        seen = await client.request(method, f"/v1/{kind}/{ids[kind]}{rest}", headers=other)
        missing = await client.request(method, f"/v1/{kind}/{nothing}{rest}", headers=other)
        assert seen.status_code == missing.status_code == 404, (method, kind, rest)
        assert seen.text.replace(ids[kind], nothing) == missing.text, (method, kind, rest)
    body = {"query": "meal allowance", "filter": {"document_ids": [ids["documents"]]}}
    assert (await client.post("/v1/search", json=body, headers=other)).json()["passages"] == []
    told = (await client.post("/v1/chat", json=question | {"filter": body["filter"]}, headers=other)).json()
    assert told["passages"] == []
    assert "120" not in told["answer"]
    assert (await client.post("/v1/search", json=body, headers=own)).json()["passages"]


@pytest.mark.parametrize("tenant", ["acme' OR '1'='1", "", "*", "acme rival", "a\u200bcme", "ａcme"])
async def test_tenant_that_is_no_name_cannot_be_configured(open_app: OpenApp, tmp_path: Path, tenant: str) -> None:
    path = _keys_file(tmp_path, {"wu": tenant})
    with pytest.raises(Exception, match="tenant"):
        await open_app(server=ServerSettings(keys_file=path))
