"""A change of the pseudonym key keeps every value for those who could see it, and gives it to nobody else."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import ServerSettings
from ingest.rotation import Rotation

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
People = dict[str, httpx.AsyncClient]
PHONE = re.compile(r"\[PHONE_[0-9a-z]{13}\]")
ALL = ["search", "chat", "ingest", "delete", "reveal", "admin"]
PEOPLE = {
    "operator": ("acme", ALL),
    "admin": ("acme", ALL),
    "clerk": ("acme", ["search", "ingest", "reveal"]),
    "rival": ("other", ALL),
}


@pytest.fixture
async def people(open_app: OpenApp, tmp_path: Path) -> People:
    entries = [
        f'[[keys]]\nsha256 = "{hashlib.sha256(f"key-{name}".encode()).hexdigest()}"\n'
        f"operator = {'true' if name == 'operator' else 'false'}\n"
        f'principal = {{ tenant = "{tenant}", user = "{name}", rights = {rights} }}\n'
        for name, (tenant, rights) in PEOPLE.items()
    ]
    keys = tmp_path / "keys.toml"
    keys.write_text("\n".join(entries), encoding="utf-8")
    transport = (await open_app(server=ServerSettings(keys_file=keys)))._transport
    return {
        name: httpx.AsyncClient(
            transport=transport,
            base_url="http://localhost",
            headers={"Authorization": f"Bearer key-{name}"},
            timeout=120,
        )
        for name in PEOPLE
    }


async def change_key(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(300):
        assert (await client.post("/v1/keys/pseudonym")).status_code == 202
        while (await client.get("/v1/keys")).json()["state"] != "settled":
            pass


async def revealed(client: httpx.AsyncClient, pseudonym: str) -> str:
    body = {"pseudonym": pseudonym, "reason": "a test"}
    return (await client.post("/v1/vault/reveal", json=body)).json().get("value", "")


async def test_values_that_stand_only_beside_the_text_are_kept(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True)
    jobs = [
        await upload_and_wait(
            client,
            f"list 1381234567{number}.md",
            f"# List\n\nNothing of interest stands in number {number}.".encode(),
            title=f"Call 1391234567{number}",
        )
        for number in range(8)
    ]
    await change_key(client)
    for number, job in enumerate(jobs):
        document = (await client.get(f"/v1/documents/{job['document_id']}")).json()
        for field, value in (("source", f"1381234567{number}"), ("title", f"1391234567{number}")):
            (pseudonym,) = PHONE.findall(document[field])
            assert await revealed(client, pseudonym) == value, (number, field)


async def test_every_edition_of_a_name_keeps_its_value(people: People, upload_and_wait: Upload) -> None:
    clerk = people["clerk"]
    editions = [("2020-01-01", b"# Plan\n\nThe first plan."), ("2030-01-01", b"# Plan\n\nThe second plan.")]
    jobs = [await upload_and_wait(clerk, "plan 13812345678.md", text, effective_from=first) for first, text in editions]
    await change_key(people["operator"])
    document = (await clerk.get(f"/v1/documents/{jobs[1]['document_id']}")).json()
    (pseudonym,) = PHONE.findall(document["source"])
    # One edition alone must do: the other may be deleted.
    await people["admin"].delete(f"/v1/documents/{jobs[0]['document_id']}")
    assert await revealed(clerk, pseudonym) == "13812345678"


async def test_values_of_failed_documents_are_kept_in_all_that_stands_beside_them(
    people: People, upload_and_wait: Upload
) -> None:
    clerk = people["clerk"]
    said = {"title": "Of 13812345670", "issuer": "Desk 13812345671", "labels": "call 13812345672"}
    job = await upload_and_wait(clerk, "13812345673.pdf", b"%PDF-1.7 broken", **said)
    assert job["state"] == "failed"
    before = (await clerk.get(f"/v1/documents/{job['document_id']}")).json()
    await change_key(people["operator"])
    after = (await clerk.get(f"/v1/documents/{job['document_id']}")).json()
    former, present = set(PHONE.findall(str(before))), set(PHONE.findall(str(after)))
    assert len(former) == len(present) == 4
    assert not former & present
    assert {await revealed(clerk, each) for each in present} == {f"1381234567{number}" for number in range(4)}


async def test_typed_pseudonym_gives_no_right_to_its_value(people: People, upload_and_wait: Upload) -> None:
    admin, clerk = people["admin"], people["clerk"]
    for number in range(4):
        text = f"# Staff {number}\n\nThe pilot is at 13812345678."
        await upload_and_wait(admin, f"staff{number}.md", text.encode(), access="user:admin")
    check = await clerk.post("/v1/symbols/check", json={"text": "13812345678"})
    (pseudonym,) = PHONE.findall(check.json()["text"])
    for name, title in (("typed.md", f"About {pseudonym}"), (f"{pseudonym}.md", "Typed in its name")):
        await upload_and_wait(clerk, name, b"# Mine\n\nNothing at all.", title=title)
    await upload_and_wait(clerk, f"broken {pseudonym}.pdf", b"%PDF-1.7 broken", title=f"About {pseudonym}")
    await change_key(people["operator"])
    check = await clerk.post("/v1/symbols/check", json={"text": "13812345678"})
    (present,) = PHONE.findall(check.json()["text"])
    assert await revealed(clerk, pseudonym) == ""
    assert await revealed(clerk, present) == ""
    assert await revealed(admin, present) == "13812345678"


async def test_only_the_operator_changes_the_key_of_all_tenants(people: People, upload_and_wait: Upload) -> None:
    for name in ("admin", "rival", "clerk"):
        refused = await people[name].post("/v1/keys/pseudonym")
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert (await people["clerk"].get("/v1/keys")).status_code == 403
    assert (await people["rival"].get("/v1/keys")).json() == {"state": "settled", "outdated": 0, "failed": 0}
    await change_key(people["operator"])


async def test_admin_is_told_of_his_own_tenant_alone(
    people: People, upload_and_wait: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        await upload_and_wait(people["admin"], f"a{number}.md", f"# A\n\nCall 1381234567{number}.".encode())
    await upload_and_wait(people["rival"], "r.md", b"# R\n\nCall 13912345678.")
    going_on = held_up(monkeypatch, after=2)
    changing = (await people["operator"].post("/v1/keys/pseudonym")).json()
    counts = {name: (await people[name].get("/v1/keys")).json()["outdated"] for name in ("rival", "admin", "operator")}
    going_on.set()
    assert changing == {"state": "changing", "outdated": 3, "failed": 0}
    assert counts == {"rival": 1, "admin": 2, "operator": 3}


async def test_nothing_is_erased_while_names_are_made(
    people: People, upload_and_wait: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = people["admin"]
    job = await upload_and_wait(admin, "a.md", b"# A\n\nThe pilot is at 13812345678.")
    going_on = held_up(monkeypatch, after=1)
    assert (await people["operator"].post("/v1/keys/pseudonym")).status_code == 202
    body = {"values": ["13812345678"], "reason": "asked for"}
    for door in ("erase", "export", "search"):
        refused = await admin.post(f"/v1/vault/{door}", json=body | ({"documents": "list"} if door == "erase" else {}))
        assert (refused.status_code, refused.json()["code"]) == (409, "key_changing"), door
    going_on.set()
    while (receipt := await admin.post("/v1/vault/erase", json=body | {"documents": "list"})).status_code == 409:
        pass
    assert [each["document_id"] for each in receipt.json()["documents"]] == [job["document_id"]]
    async with asyncio.timeout(300):
        while (await admin.get("/v1/keys")).json()["state"] != "settled":
            pass
    again = (await admin.post("/v1/vault/erase", json=body | {"documents": "list"})).json()
    assert again["left"]["vault"] == again["left"]["documents"] == 0
    found = await admin.post("/v1/search", json={"query": "the pilot"})
    assert "[PHONE_erased]" in found.text
    assert not PHONE.findall(found.text)


def held_up(monkeypatch: pytest.MonkeyPatch, *, after: int) -> threading.Event:
    """Hold the naming of values up, after so many tenants, until the event is set."""
    name, going_on, calls = Rotation._name, threading.Event(), list[str]()

    def waiting(self: Rotation, tenant: str, former: bytes, current: bytes) -> None:
        calls.append(tenant)
        assert len(calls) <= after or going_on.wait(300)
        name(self, tenant, former, current)

    monkeypatch.setattr(Rotation, "_name", waiting)
    return going_on
