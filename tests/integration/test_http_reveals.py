"""Secrets behind pseudonyms over HTTP: shown by right and with a reason only, and every attempt is logged."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import ServerSettings

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]

PHONE, HIDDEN_PHONE = "13812345678", "13987654321"
NOTE = f"# Travel desk\n\nThe travel desk of the company answers calls about hotel bookings at {PHONE}.\n"
PEOPLE = {
    "owner": ["search", "chat", "ingest", "delete", "reveal", "admin"],
    "clerk": ["search", "chat", "ingest", "reveal"],
    "guest": ["search", "chat"],
}
REASON = "a customer asked to be called back"


@pytest.fixture
async def people(open_app: OpenApp, tmp_path: Path) -> dict[str, httpx.AsyncClient]:
    """One server, and a client for each user."""
    entries = [
        f'[[keys]]\nsha256 = "{hashlib.sha256(f"key-{name}".encode()).hexdigest()}"\n'
        f'principal = {{ tenant = "acme", user = "{name}", rights = {rights} }}\n'
        for name, rights in PEOPLE.items()
    ]
    keys = tmp_path / "keys.toml"
    keys.write_text("\n".join(entries), encoding="utf-8")
    client = await open_app(server=ServerSettings(keys_file=keys))
    transport = client._transport
    return {
        name: httpx.AsyncClient(
            transport=transport,
            base_url="http://localhost",
            headers={"Authorization": f"Bearer key-{name}"},
            timeout=120,
        )
        for name in PEOPLE
    }


async def ask(client: httpx.AsyncClient, question: str) -> dict[str, Any]:
    answer = await client.post("/v1/chat", json={"question": question, "stream": False})
    assert answer.status_code == 200, answer.text
    return answer.json()


def pseudonym_in(text: str) -> str:
    found = re.search(r"\[PHONE_[0-9a-z]{13}\]", text)
    assert found is not None, text
    return found.group()


async def log(owner: httpx.AsyncClient, **filters: str) -> list[tuple[str, str, str, str, str]]:
    found = (await owner.get("/v1/vault/reveals", params=filters)).json()["reveals"]
    return [(r["user"], r["pseudonym"], r["place"], r["reason"], r["outcome"]) for r in found]


async def test_reveal_shows_a_value_by_right_and_logs_every_attempt(
    people: dict[str, httpx.AsyncClient], upload_and_wait: Upload
) -> None:
    owner, guest = people["owner"], people["guest"]
    await upload_and_wait(owner, "desk.md", NOTE.encode())
    found = (await owner.post("/v1/search", json={"query": "travel desk calls"})).json()
    phone = pseudonym_in(found["passages"][0]["chunk"]["text"])

    shown = await owner.post("/v1/vault/reveal", json={"pseudonym": phone, "reason": REASON})
    assert shown.json() == {"pseudonym": phone, "value": PHONE}
    assert shown.headers["cache-control"] == "no-store"

    refused = await guest.post("/v1/vault/reveal", json={"pseudonym": phone, "reason": "curious"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
    assert refused.headers["content-type"] == "application/problem+json"
    assert PHONE not in refused.text
    unknown = await owner.post("/v1/vault/reveal", json={"pseudonym": "[PHONE_aaaaaaaaaaaaa]", "reason": REASON})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_secret")

    assert await log(owner) == [
        ("owner", "[PHONE_aaaaaaaaaaaaa]", "", REASON, "unknown"),
        ("guest", phone, "", "curious", "refused"),
        ("owner", phone, "", REASON, "revealed"),
    ]
    assert [entry[0] for entry in await log(owner, user="guest")] == ["guest"]
    assert len(await log(owner, pseudonym=phone)) == 2
    assert len((await owner.get("/v1/vault/reveals?limit=1&offset=1")).json()["reveals"]) == 1
    assert (await people["clerk"].get("/v1/vault/reveals")).status_code == 403


@pytest.mark.parametrize("reason", [None, "", "  ", "\u200b\u2060", "\x01\x02", "\u3164", " \u200d . "])
async def test_reveal_without_a_reason_is_not_processed(people: dict[str, httpx.AsyncClient], reason: object) -> None:
    body = {"pseudonym": "[PHONE_aaaaaaaaaaaaa]"} | ({} if reason is None else {"reason": reason})
    assert (await people["owner"].post("/v1/vault/reveal", json=body)).status_code == 422


async def test_reveal_log_holds_no_secret_itself(people: dict[str, httpx.AsyncClient]) -> None:
    owner = people["owner"]
    body = {"pseudonym": PHONE, "reason": f"call {HIDDEN_PHONE} back"}
    answer = await owner.post("/v1/vault/reveal", json=body)
    assert answer.status_code == 404
    ((_, pseudonym, _, reason, outcome),) = await log(owner)
    assert outcome == "unknown"
    assert pseudonym_in(pseudonym) == pseudonym
    assert reason == f"call {pseudonym_in(reason)} back"


async def test_answer_is_revealed_as_far_as_its_reader_may_see_the_values(
    people: dict[str, httpx.AsyncClient], upload_and_wait: Upload
) -> None:
    owner, clerk = people["owner"], people["clerk"]
    await upload_and_wait(owner, "desk.md", NOTE.encode())
    secret = f"# Board\n\nThe board is reached at {HIDDEN_PHONE}.\n"
    await upload_and_wait(owner, "board.md", secret.encode(), access="user:owner")
    question = f"At which number does the travel desk answer calls about hotel bookings, is it {HIDDEN_PHONE}?"
    run = await ask(clerk, question)
    assert PHONE not in str(run)
    assert HIDDEN_PHONE not in str(run)

    shown = await clerk.post(f"/v1/runs/{run['run_id']}/reveal", json={"reason": REASON})
    assert shown.status_code == 200, shown.text
    assert shown.headers["cache-control"] == "no-store"
    told = shown.json()
    assert PHONE in told["answer"]
    assert HIDDEN_PHONE not in shown.text
    assert told["hidden"] == [pseudonym_in(told["question"])]
    assert len(told["revealed"]) == 1
    entries = await log(owner, user="clerk")
    assert sorted((entry[1], entry[4]) for entry in entries) == sorted([
        (told["revealed"][0], "revealed"),
        (told["hidden"][0], "unknown"),
    ])
    assert {entry[2] for entry in entries} == {f"run {run['run_id']}"}

    assert (await owner.post(f"/v1/runs/{run['run_id']}/reveal", json={"reason": REASON})).status_code == 404
    assert (await clerk.post(f"/v1/runs/{run['run_id']}/reveal", json={})).status_code == 422
    own = await ask(people["guest"], question)
    refused = await people["guest"].post(f"/v1/runs/{own['run_id']}/reveal", json={"reason": "curious"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
    assert (await log(owner, user="guest"))[0] == ("guest", "", f"run {own['run_id']}", "curious", "refused")


async def test_attempt_on_a_run_that_is_not_there_is_logged(people: dict[str, httpx.AsyncClient]) -> None:
    answer = await people["clerk"].post("/v1/runs/0123456789abcdef/reveal", json={"reason": REASON})
    assert answer.status_code == 404
    assert await log(people["owner"]) == [("clerk", "", "run 0123456789abcdef", REASON, "unknown")]
