"""What is kept of a person over HTTP: searched, handed over, forgotten. Others' values are not touched or shown."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import ServerSettings
from patience import turns

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

PHONE, MAIL, OTHER = "13812345678", "wen.jing@example.com", "13987654321"
DESK = f"# Travel desk\n\nThe travel desk books hotels. Call 138 1234 5678 or write to {MAIL}.\n\nAlso {OTHER}.\n"
BOARD = f"# Board\n\nThe board is reached at {PHONE}.\n"
PEOPLE = {
    "owner": ["search", "chat", "ingest", "delete", "reveal", "admin"],
    "admin": ["search", "chat", "ingest", "admin"],
    "clerk": ["search", "chat", "ingest", "reveal"],
    "guest": ["search", "chat"],
}
REASON = "the person asked for it"
BODY = {"values": [PHONE, MAIL], "reason": REASON}


@pytest.fixture
async def people(open_app: OpenApp, tmp_path: Path, upload_and_wait: Upload) -> dict[str, httpx.AsyncClient]:
    entries = [
        f'[[keys]]\nsha256 = "{hashlib.sha256(f"key-{name}".encode()).hexdigest()}"\n'
        f'principal = {{ tenant = "acme", user = "{name}", rights = {rights} }}\n'
        for name, rights in PEOPLE.items()
    ]
    keys = tmp_path / "keys.toml"
    keys.write_text("\n".join(entries), encoding="utf-8")
    transport = (await open_app(server=ServerSettings(keys_file=keys)))._transport
    clients = {
        name: httpx.AsyncClient(
            transport=transport,
            base_url="http://localhost",
            headers={"Authorization": f"Bearer key-{name}"},
            timeout=120,
        )
        for name in PEOPLE
    }
    await upload_and_wait(clients["owner"], f"desk {PHONE}.md", DESK.encode(), title=f"Desk of {MAIL}")
    await upload_and_wait(clients["owner"], "board.md", BOARD.encode(), access="user:owner")
    return clients


async def post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> Any:
    answer = await client.post(f"/v1/vault/{path}", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


async def ask(client: httpx.AsyncClient, question: str) -> dict[str, Any]:
    return (await client.post("/v1/chat", json={"question": question, "stream": False})).json()


async def idle(client: httpx.AsyncClient) -> None:
    for _ in turns("all jobs end"):
        jobs = (await client.get("/v1/jobs")).json()["jobs"]
        if all(job["state"] not in {"queued", "running"} for job in jobs):
            assert {job["state"] for job in jobs} == {"succeeded"}, jobs
            return


async def log(owner: httpx.AsyncClient, user: str) -> list[tuple[str, str]]:
    found = (await owner.get("/v1/vault/reveals", params={"user": user})).json()["reveals"]
    return [(entry["place"], entry["outcome"]) for entry in found]


async def test_search_names_kind_pseudonym_and_the_documents_that_are_shown(
    people: dict[str, httpx.AsyncClient],
) -> None:
    body = {"values": ["138-1234-5678", MAIL, "no secret", "13700137000"], "reason": REASON}
    mine = await post(people["owner"], "search", body)
    phone, mail, stranger = mine["values"]
    assert [(v["position"], v["kind"], v["kept"]) for v in mine["values"]] == [
        (0, "mobile", True),
        (1, "email", True),
        (3, "mobile", False),
    ]
    assert mine["unread"] == [2]
    assert re.fullmatch(r"\[PHONE_[0-9a-z]{13}\]", phone["pseudonym"])
    assert [d["source"] for d in phone["documents"]] == [f"desk {phone['pseudonym']}.md", "board.md"]
    assert [d["title"] for d in mail["documents"]] == [f"Desk of {mail['pseudonym']}"]
    assert stranger["documents"] == []
    theirs = await post(people["clerk"], "search", body)
    assert len(theirs["values"][0]["documents"]) == 1
    again = await post(people["owner"], "search", {"values": [phone["pseudonym"]], "reason": REASON})
    assert again["values"] == [phone]
    refused = await people["guest"].post("/v1/vault/search", json=body)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
    assert await log(people["owner"], "guest") == [("search", "refused")]
    assert set(await log(people["owner"], "clerk")) == {("search", "searched")}


async def test_export_holds_all_of_this_person_and_nothing_of_others(people: dict[str, httpx.AsyncClient]) -> None:
    run = await ask(people["clerk"], f"Who books hotels, is it {PHONE}?")
    answer = await people["owner"].post("/v1/vault/export", json=BODY)
    assert answer.headers["cache-control"] == "no-store"
    told = json.loads(answer.text)
    assert sorted(each["value"] for each in told["values"]) == sorted([PHONE, MAIL])
    assert OTHER not in answer.text
    assert {d["title"] for d in told["documents"]} == {f"Desk of {_of(told, MAIL)}", "Board"}
    texts = [chunk["text"] for document in told["documents"] for chunk in document["chunks"]]
    assert sum(PHONE in text for text in texts) == 2
    assert any(MAIL in text and re.search(r"\[PHONE_[0-9a-z]{13}\]", text) for text in texts)
    assert [(each["run_id"], each["user"]) for each in told["runs"]] == [(run["run_id"], "clerk")]
    assert {(entry["user"], entry["place"], entry["outcome"]) for entry in told["reveals"]} == {
        ("owner", "export", "revealed")
    }
    for name in ("clerk", "admin", "guest"):
        assert (await people[name].post("/v1/vault/export", json=BODY)).status_code == 403
        assert await log(people["owner"], name) == [("export", "refused")]
    nobody = await post(people["owner"], "export", {"values": ["13700137000"], "reason": REASON})
    assert nobody == {"values": [], "documents": [], "runs": [], "reveals": []}


async def test_erased_values_leave_every_place_and_do_not_come_back(
    people: dict[str, httpx.AsyncClient], upload_and_wait: Upload
) -> None:
    owner = people["owner"]
    run = await ask(owner, f"Who books hotels, is it {PHONE}?")
    found = (await post(owner, "search", BODY))["values"]
    pseudonyms = [value["pseudonym"] for value in found]
    assert pseudonyms[0] in json.dumps(run)
    refused = await people["clerk"].post("/v1/vault/erase", json={**BODY, "documents": "list"})
    assert refused.status_code == 403
    deletes = await people["admin"].post("/v1/vault/erase", json={**BODY, "documents": "delete"})
    assert deletes.status_code == 403

    # This one sees one of the two documents that carry the values.
    receipt = await post(people["admin"], "erase", {**BODY, "documents": "list"})
    assert [(v["position"], v["kind"]) for v in receipt["values"]] == [(0, "mobile"), (1, "email")]
    assert [(d["becomes"], d["original_kept"]) for d in receipt["documents"]] == [("read_again", True)]
    assert receipt["documents"][0]["job_id"]
    assert (receipt["unseen"], receipt["left"]["vault"]) == (1, 0)
    await idle(owner)
    again = await post(people["admin"], "erase", {**BODY, "documents": "list"})
    assert again["documents"] == []
    assert {name: count for name, count in again["left"].items() if count} == {"originals": 2}

    documents = (await owner.get("/v1/documents")).json()["documents"]
    assert sorted(d["source"] for d in documents) == ["board.md", "desk [PHONE_erased].md"]
    events = (await owner.get(f"/v1/runs/{run['run_id']}/events")).text
    search = (await owner.post("/v1/search", json={"query": "Who books hotels and how is the board reached?"})).text
    for pseudonym in pseudonyms:
        assert pseudonym not in events
        assert pseudonym not in search
    assert "[PHONE_erased]" in search
    assert re.search(r"\[PHONE_[0-9a-z]{13}\]", search), "the other number keeps its pseudonym"
    shown = await owner.post("/v1/vault/reveal", json={"pseudonym": pseudonyms[0], "reason": REASON})
    assert shown.status_code == 404

    job = await upload_and_wait(owner, f"desk {PHONE}.md", DESK.encode() + b"\nOne line more.\n")
    assert (job["outcome"], job["source"]) == ("new_version", "desk [PHONE_erased].md")
    after = (await post(owner, "search", BODY))["values"]
    assert [value["kept"] for value in after] == [False, False]


async def test_erasing_deletes_documents_where_that_is_wanted(people: dict[str, httpx.AsyncClient]) -> None:
    owner = people["owner"]
    receipt = await post(owner, "erase", {**BODY, "documents": "delete"})
    assert sorted((d["becomes"], d["original_kept"]) for d in receipt["documents"]) == [("deleted", False)] * 2
    assert {name: count for name, count in receipt["left"].items() if count} == {}
    assert (await owner.get("/v1/documents")).json()["documents"] == []


def _of(told: dict[str, Any], value: str) -> str:
    return next(each["pseudonym"] for each in told["values"] if each["value"] == value)


@pytest.mark.parametrize("path", ["search", "export", "erase"])
async def test_attempt_that_the_vault_key_does_not_fit_is_logged(
    people: dict[str, httpx.AsyncClient], tmp_path: Path, path: str
) -> None:
    owner = people["owner"]
    pseudonym = (await post(owner, "search", BODY))["values"][0]["pseudonym"]
    with closing(sqlite3.connect(tmp_path / "home" / "attest.sqlite3")) as connection, connection:
        connection.execute("UPDATE vault SET key_id = 'another'")
    body = {"values": [pseudonym], "reason": "asked"} | ({"documents": "list"} if path == "erase" else {})
    assert (await owner.post(f"/v1/vault/{path}", json=body)).status_code >= 400
    newest = (await owner.get("/v1/vault/reveals")).json()["reveals"][0]
    assert (newest["place"], newest["reason"], newest["outcome"]) == (path, "asked", "failed")


async def test_originals_that_hold_an_erased_value_are_counted_until_they_are_gone(
    people: dict[str, httpx.AsyncClient], upload_and_wait: Upload
) -> None:
    owner, body = people["owner"], {"values": [PHONE], "reason": REASON, "documents": "list"}
    assert (await post(owner, "erase", body))["left"]["originals"] == 2
    await idle(owner)
    again = await post(owner, "erase", body)
    assert again["left"] == {"corrections": 0, "vault": 0, "documents": 0, "chunks": 0, "runs": 0, "originals": 2}
    later = await upload_and_wait(owner, "later.md", b"# Desk\n\nCall +86 138 1234 5678 for hotels.")
    await upload_and_wait(owner, "other.md", f"# Desk\n\nCall {OTHER} for hotels.".encode())
    assert (await post(owner, "erase", body))["left"]["originals"] == 3
    await owner.delete(f"/v1/documents/{later['document_id']}")
    await upload_and_wait(owner, "board.md", b"# Board\n\nNobody is reached.", access="user:owner")
    assert (await post(owner, "erase", body))["left"]["originals"] == 1
    assert (await post(owner, "erase", {**body, "values": [MAIL]}))["left"]["originals"] == 1
