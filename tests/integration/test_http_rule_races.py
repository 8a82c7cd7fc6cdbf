"""Documents that come in while the rules change are read again; what was written under former rules is hidden."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.runs import RunService
from api.settings import ServerSettings
from ingest.correcting import Correcting
from ingest.erasure import Erasure
from tests.integration.test_http_corrections import correct, holding

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
PHONE = re.compile(r"\[PHONE_[0-9a-z]{13}\]")
LATE = b"# Late\n\nThe allowance of Blue Zebrafish is 300 dollars, ask the pilot at 13812345678."


async def read_again(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(120):
        while (await client.get("/v1/symbols/resymbolise")).json() != {"outdated": 0, "waiting": 0}:
            pass


async def test_document_that_comes_in_while_a_correction_is_taken_up_is_read_again(
    open_app: OpenApp, upload_and_wait: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "a.md", b"# A\n\nNothing.")
    look = Correcting._affected

    async def overtaken(self: Correcting, *given: Any) -> list[str]:
        found = await look(self, *given)
        await upload_and_wait(client, "late.md", LATE)
        return found

    monkeypatch.setattr(Correcting, "_affected", overtaken)
    await correct(client, "Blue Zebrafish", "secret")
    await read_again(client)
    found = (await client.post("/v1/search", json={"query": "allowance 300 dollars"})).text
    assert "allowance" in found
    assert "Zebrafish" not in found


async def test_document_that_comes_in_while_a_value_is_erased_is_read_again(
    open_app: OpenApp, upload_and_wait: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "a.md", b"# A\n\nCall 13812345678 now.")
    loop, forget = asyncio.get_running_loop(), Erasure._forget

    def overtaken(self: Erasure, *given: Any) -> Any:
        asyncio.run_coroutine_threadsafe(upload_and_wait(client, "late.md", LATE), loop).result(60)
        return forget(self, *given)

    monkeypatch.setattr(Erasure, "_forget", overtaken)
    body = {"values": ["13812345678"], "reason": "x", "documents": "list"}
    receipt = (await client.post("/v1/vault/erase", json=body)).json()
    assert {each["source"] for each in receipt["documents"]} == {"a.md", "late.md"}
    await read_again(client)
    found = (await client.post("/v1/search", json={"query": "pilot"})).text
    assert "[PHONE_erased]" in found
    assert not PHONE.search(found)


async def test_two_corrections_at_once_both_hold_everywhere(open_app: OpenApp, upload_and_wait: Upload) -> None:
    client = await open_app(local_owner=True)
    for name in ("one", "two", "three"):
        await upload_and_wait(client, f"{name}.md", f"# {name}\n\nBlue Zebrafish and Red Ostrich dine {name}.".encode())
    await asyncio.gather(correct(client, "Blue Zebrafish", "secret"), correct(client, "Red Ostrich", "secret"))
    await read_again(client)
    found = (await client.post("/v1/search", json={"query": "dine one two three"})).text
    assert "dine" in found
    assert "Zebrafish" not in found
    assert "Ostrich" not in found


async def test_notes_and_reasons_do_not_keep_what_is_secret_now(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "a.md", b"# A\n\nCall 13812345678 now.")
    body = {"pseudonym": "[PHONE_aaaaaaaaaaaaa]", "reason": "needed for Blue Zebrafish"}
    await client.post("/v1/vault/reveal", json=body)
    await client.post("/v1/vault/reveal", json=body | {"pseudonym": "Blue Zebrafish"})
    erase = {"values": ["13812345678"], "reason": "13812345678 asked Blue Zebrafish", "documents": "list"}
    await client.post("/v1/vault/erase", json=erase)
    await correct(client, "Pink Gnu", "secret", note="used to be blue zebrafish")
    answer = await correct(client, "Blue Zebrafish", "secret", note="Blue Zebrafish is our code name")
    shown = answer["correction"]["shown"]
    assert answer["correction"]["note"] == f"{shown} is our code name"
    listed = (await client.get("/v1/symbols/corrections")).json()["corrections"]
    assert {each["note"] for each in listed} == {f"used to be {shown}", f"{shown} is our code name"}
    logged = (await client.get("/v1/vault/reveals")).text
    assert f"needed for {shown}" in logged
    assert "[PHONE_erased] asked" in logged
    await read_again(client)
    assert holding(tmp_path / "home", "zebrafish") == []


async def test_note_is_hidden_also_where_the_correction_holds_in_some_lines_only(
    open_app: OpenApp, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    answer = await correct(client, "Zebrafish", "secret", near="project", note="the Zebrafish, always [Zebrafish]")
    shown = answer["correction"]["shown"]
    assert answer["correction"]["note"] == f"the {shown}, always [{shown}]"
    assert holding(tmp_path / "home", "zebrafish") == []


async def test_reason_of_an_erasure_is_kept_without_the_value(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "a.md", b"# A\n\nCall 13812345678 now.")
    body = {"values": ["13812345678"], "reason": "13812345678 asked for it", "documents": "list"}
    assert (await client.post("/v1/vault/erase", json=body)).status_code == 200
    with closing(sqlite3.connect(tmp_path / "home" / "attest.sqlite3")) as connection:
        reasons = connection.execute("SELECT reason FROM vault_erased").fetchall()
    assert {reason for (reason,) in reasons} == {"[PHONE_erased] asked for it"}


async def test_corrections_that_differ_in_punctuation_are_two(open_app: OpenApp) -> None:
    client = await open_app(local_owner=True)
    one = await correct(client, "ZEBRA-12", "secret")
    other = await correct(client, "ZEBRA12", "secret")
    assert one["correction"]["correction_id"] != other["correction"]["correction_id"]
    again = await correct(client, " ｚｅｂｒａ12", "secret")
    assert again["correction"]["correction_id"] == other["correction"]["correction_id"]
    checked = (await client.post("/v1/symbols/check", json={"text": "the ZEBRA12 and ZEBRA-12 project"})).json()
    assert "ZEBRA" not in checked["text"]


async def test_corrections_have_a_limit_that_is_told(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.corrections.MOST", 1)
    client = await open_app(local_owner=True)
    await correct(client, "Blue Zebrafish", "secret")
    await correct(client, "Blue Zebrafish", "secret")
    refused = await client.post("/v1/symbols/corrections", json={"text": "Red Ostrich", "verdict": "secret"})
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_correction")
    assert "1 corrections already" in refused.text


async def test_question_asked_while_a_correction_comes_is_hidden_at_the_end(
    open_app: OpenApp, upload_and_wait: Upload, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "a.md", b"# A\n\nThe allowance is 300 dollars.")
    drive = RunService._drive

    async def overtaken(self: RunService, *given: Any, **more: Any) -> None:
        # The question is hidden by now, and nothing of the run is stored yet.
        await correct(client, "Blue Zebrafish", "secret")
        await drive(self, *given, **more)

    monkeypatch.setattr(RunService, "_drive", overtaken)
    question = {"question": "What is the allowance of Blue Zebrafish?", "stream": False}
    run = (await client.post("/v1/chat", json=question)).json()
    await client.get("/v1/documents")
    async with asyncio.timeout(30):
        while "zebrafish" in (await client.get(f"/v1/runs/{run['run_id']}")).text.lower():
            pass
    assert holding(tmp_path / "home", "zebrafish") == []


async def test_owner_of_a_document_corrects_only_what_stands_in_it(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(
        f'[[keys]]\nsha256 = "{hashlib.sha256(b"owner").hexdigest()}"\n'
        'principal = { tenant = "acme", user = "owner", rights = ["ingest", "search"] }\n',
        encoding="utf-8",
    )
    client = await open_app(server=ServerSettings(keys_file=keys))
    client.headers["Authorization"] = "Bearer owner"
    job = await upload_and_wait(client, "my zoo.md", b"# Gnus\n\nThe Blue\nZebrafish, 138 1234 5678.", title="Of apes")
    named = {"document_id": job["document_id"], "verdict": "secret"}
    for text in ("allowance", "fish", "Zebra", "13987654321"):
        refused = await client.post("/v1/symbols/corrections", json=named | {"text": text})
        assert (refused.status_code, refused.json()["code"]) == (422, "bad_correction"), text
        assert "does not stand in document" in refused.text
        assert text not in refused.text
    for text in ("my zoo", "apes", "gnus", "blue zebrafish", "13812345678"):
        taken = await client.post("/v1/symbols/corrections", json=named | {"text": text})
        assert taken.status_code == 201, text


async def test_erasure_forgets_the_correction_and_the_text_stays_hidden(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    text = b"# Plan\n\nThe zoo keeper Florbitz Gnarl meets at ten with allowance 300."
    await upload_and_wait(client, "a.md", text)
    made = await correct(client, "Florbitz Gnarl", "secret", kind="person", note="the keeper")
    await read_again(client)
    erase = {"values": ["florbitz  GNARL"], "reason": "Florbitz Gnarl asked", "documents": "list"}
    receipt = (await client.post("/v1/vault/erase", json=erase)).json()
    assert receipt["unread"] == []
    assert [each["source"] for each in receipt["documents"]] == ["a.md"]
    assert (receipt["left"]["corrections"], receipt["left"]["vault"]) == (0, 0)
    await read_again(client)
    assert (await client.get("/v1/symbols/corrections")).json() == {"corrections": []}
    identity = made["correction"]["correction_id"]
    assert (await client.delete(f"/v1/symbols/corrections/{identity}")).status_code == 404
    again = await client.post("/v1/symbols/corrections", json={"text": "Florbitz Gnarl", "verdict": "secret"})
    assert (again.status_code, again.json()["code"]) == (422, "bad_correction")
    await upload_and_wait(client, "b.md", b"# Again\n\nThe zoo keeper florbitz\ngnarl is back.")
    found = (await client.post("/v1/search", json={"query": "zoo keeper allowance"})).text
    assert found.count("[PERSON_erased]") >= 2
    assert "gnarl" not in found.lower()
    assert "[PERSON_erased] asked" in (await client.get("/v1/vault/reveals")).text
    once_more = (await client.post("/v1/vault/erase", json=erase | {"values": ["Florbitz Gnarl"]})).json()
    assert once_more["unread"] == []
    assert {name: count for name, count in once_more["left"].items() if name != "originals"} == dict.fromkeys(
        ("corrections", "vault", "documents", "chunks", "runs"), 0
    )
    assert holding(tmp_path / "home", "gnarl") == []
