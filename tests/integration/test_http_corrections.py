"""A missed secret that its owner marks is gone from everywhere; a wrong one comes back."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from patience import turns

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
TEXT = """# Travel policy

The meal allowance is 120 dollars a day.

The project has the code name Blue Zebrafish and the allowance for it is 300 dollars.
"""
SECRET = "Blue Zebrafish"


async def finished(client: httpx.AsyncClient, answer: dict[str, Any]) -> list[dict[str, Any]]:
    done: list[dict[str, Any]] = []
    for job in answer["jobs"]:
        for _ in turns("the job ends"):
            if job["state"] not in {"queued", "running"}:
                break
            job = (await client.get(f"/v1/jobs/{job['job_id']}")).json()
        done.append(job)
    return done


def holding(home: Path, secret: str) -> list[str]:
    """Name the files outside the originals that hold a text."""
    with closing(sqlite3.connect(home / "attest.sqlite3")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    files = [path for path in home.rglob("*") if path.is_file() and "originals" not in path.parts]
    return sorted(str(path) for path in files if secret.lower().encode() in path.read_bytes().lower())


async def correct(client: httpx.AsyncClient, text: str, verdict: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/v1/symbols/corrections", json={"text": text, "verdict": verdict, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_missed_secret_is_gone_everywhere_once_its_owner_says_so(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    job = await upload_and_wait(client, "policy blue zebrafish.md", TEXT.encode(), title="All about BLUE ZEBRAFISH")
    other = await upload_and_wait(client, "other.md", b"The museum opens at ten and has no fish.")
    question = {"question": "What is the allowance for the project blue zebrafish?", "stream": False}
    run = (await client.post("/v1/chat", json=question)).json()
    assert "zebrafish" in str(run).lower()

    answer = await correct(client, SECRET, "secret", note="the code name", kind="custom")
    assert "zebrafish" not in str(answer).lower()
    assert answer["documents"] == 1
    (done,) = await finished(client, answer)
    assert (done["state"], done["kind"], done["document_id"]) == ("succeeded", "resymbolise", job["document_id"])
    assert done["document_id"] != other["document_id"]

    document = (await client.get(f"/v1/documents/{job['document_id']}")).json()
    assert document["version"] == 1
    assert "zebrafish" not in str(document).lower()
    found = (await client.post("/v1/search", json={"query": "Blue Zebrafish allowance"})).json()
    assert "zebrafish" not in str(found).lower()
    pseudonym = answer["correction"]["shown"]
    assert pseudonym in str(found["passages"])
    after = (await client.get(f"/v1/runs/{run['run_id']}")).json()
    events = (await client.get(f"/v1/runs/{run['run_id']}/events")).text
    assert "zebrafish" not in (str(after) + events).lower()
    assert pseudonym in events
    asked = (await client.post("/v1/chat", json=question)).json()
    assert "300" in asked["answer"]
    assert "zebrafish" not in str(asked).lower()
    assert (await client.get("/v1/symbols/resymbolise")).json() == {"outdated": 0, "waiting": 0}
    assert holding(tmp_path / "home", "zebrafish") == []


async def test_same_correction_twice_is_one_and_taking_it_back_shows_the_text(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "policy.md", TEXT.encode())
    first = await correct(client, SECRET, "secret")
    await finished(client, first)
    again = await correct(client, "BLUE  zebrafish", "secret")
    assert again["correction"]["correction_id"] == first["correction"]["correction_id"]
    listed = (await client.get("/v1/symbols/corrections")).json()["corrections"]
    assert [each["verdict"] for each in listed] == ["secret"]
    gone = await client.delete(f"/v1/symbols/corrections/{first['correction']['correction_id']}")
    await finished(client, gone.json())
    found = (await client.post("/v1/search", json={"query": "allowance project"})).json()
    assert "Blue Zebrafish" in str(found["passages"])
    missing = await client.delete(f"/v1/symbols/corrections/{first['correction']['correction_id']}")
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_correction")


async def test_wrong_secret_comes_back_into_the_text(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "order.md", b"# Order\n\nThe allowance order is 13812345678 for the fair.")
    answer = await correct(client, "138-1234-5678", "not_secret")
    assert answer["documents"] == 1
    await finished(client, answer)
    found = (await client.post("/v1/search", json={"query": "allowance order fair"})).json()
    assert "13812345678" in str(found["passages"])


async def test_wrong_value_is_no_symbol_any_more(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "plan.md", b"# Plan\n\nThe model called Q3 2024 is blue and sold for 5.2% less.")
    await finished(client, await correct(client, "Q3 2024", "not_symbol"))
    found = (await client.post("/v1/search", json={"query": "model blue"})).json()
    kinds = {symbol["kind"] for symbol in found["passages"][0]["chunk"]["symbols"]}
    assert kinds == {"percent"}


@pytest.mark.parametrize(
    "body",
    [
        {"text": "x", "verdict": "secret"},
        {"text": "word", "verdict": "secret", "kind": "nothing"},
        {"text": "[PHONE_abcdefghijklm] word", "verdict": "secret"},
        {"text": "word", "verdict": "not_secret", "near": "tel 13812345678"},
        {"text": "word", "verdict": "wrong"},
        {"text": "", "verdict": "secret"},
    ],
)
async def test_correction_that_cannot_be_applied_is_refused_without_an_echo(
    open_app: OpenApp, body: dict[str, Any]
) -> None:
    client = await open_app(local_owner=True)
    answer = await client.post("/v1/symbols/corrections", json=body)
    assert answer.status_code == 422
    assert answer.json()["code"] in {"bad_correction", "invalid_request"}
    assert "13812345678" not in answer.text
    assert (await client.get("/v1/symbols/corrections")).json() == {"corrections": []}


async def test_who_may_correct(open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path) -> None:
    import hashlib

    keys = tmp_path / "keys.toml"
    rights = {"owner": ["ingest", "search"], "reader": ["search"], "admin": ["admin", "search"], "rival": ["admin"]}
    keys.write_text(
        "\n".join(
            f"[[keys]]\nsha256 = '{hashlib.sha256(name.encode()).hexdigest()}'\nprincipal = "
            f"{{ tenant = '{'other' if name == 'rival' else 'acme'}', user = '{name}', groups = [], rights = {own} }}"
            for name, own in rights.items()
        ),
        encoding="utf-8",
    )
    from api.settings import ServerSettings

    client = await open_app(server=ServerSettings(keys_file=keys))

    def by(name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {name}"}

    client.headers.update(by("owner"))
    job = await upload_and_wait(client, "policy.md", TEXT.encode())
    body = {"text": SECRET, "verdict": "secret"}
    named = body | {"document_id": job["document_id"]}

    async def status(name: str, sent: dict[str, Any]) -> int:
        return (await client.post("/v1/symbols/corrections", json=sent, headers=by(name))).status_code

    assert await status("reader", named) == 403
    assert await status("owner", body) == 403
    assert await status("owner", named | {"verdict": "not_secret"}) == 403
    assert await status("owner", named | {"document_id": "0" * 32}) == 404
    assert await status("rival", named) == 404
    assert await status("rival", body) == 201
    found = await client.post("/v1/search", json={"query": "allowance project"}, headers=by("reader"))
    assert "Zebrafish" in found.text
    assert await status("owner", named) == 201
    for _ in turns("no document waits to be read again"):
        if not (await client.get("/v1/symbols/resymbolise", headers=by("admin"))).json()["waiting"]:
            break
    found = await client.post("/v1/search", json={"query": "allowance project"}, headers=by("reader"))
    assert "Zebrafish" not in found.text
    assert (await client.get("/v1/symbols/resymbolise", headers=by("reader"))).status_code == 403
    assert (await client.get("/v1/symbols/corrections", headers=by("reader"))).status_code == 403
    assert (await client.post("/v1/symbols/resymbolise", json={}, headers=by("owner"))).status_code == 403
    assert (await client.post("/v1/keys/pseudonym", headers=by("owner"))).status_code == 403
    assert (await client.get("/v1/keys", headers=by("owner"))).status_code == 403


async def test_correction_by_a_document_that_there_is_none_of_is_refused_to_administrators_too(
    open_app: OpenApp,
) -> None:
    client = await open_app(local_owner=True)
    body = {"text": SECRET, "verdict": "secret", "document_id": "0" * 32}
    answer = await client.post("/v1/symbols/corrections", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_document")
    assert (await client.get("/v1/symbols/corrections")).json() == {"corrections": []}


@pytest.mark.parametrize("more", [{"text": "Blue\x01Zebrafish"}, {"text": "Blue\x00"}, {"near": "code\x1bname"}])
async def test_correction_with_control_characters_is_refused(open_app: OpenApp, more: dict[str, str]) -> None:
    client = await open_app(local_owner=True)
    answer = await client.post("/v1/symbols/corrections", json={"text": SECRET, "verdict": "secret"} | more)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_correction")
