"""The pseudonym key changes while attest runs: documents are found before, during and after it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.errors import SettingsError
from api.pseudonym_keys import PseudonymKeys
from api.settings import SecretKeys
from patience import turns

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
QUESTION = "Whose number is 138-1234-5678?"
PHONE = re.compile(r"\[PHONE_[0-9a-z]{13}\]")


async def uploaded(client: httpx.AsyncClient, upload_and_wait: Upload) -> str:
    job = await upload_and_wait(client, "list 13812345678.md", b"# List\n\nThe pilot can be called at 13812345678.")
    for number in range(6):
        text = f"# List\n\nThe pilot of group {number} can be called at 1391234567{number}."
        await upload_and_wait(client, f"other{number}.md", text.encode())
    return job["document_id"]


async def first(client: httpx.AsyncClient) -> dict[str, Any]:
    return (await client.post("/v1/search", json={"query": QUESTION})).json()["passages"][0]["chunk"]


async def settled(client: httpx.AsyncClient) -> None:
    for _ in turns("the key is changed"):
        if (await client.get("/v1/keys")).json()["state"] == "settled":
            return


async def test_document_is_found_before_during_and_after_the_change(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    document_id = await uploaded(client, upload_and_wait)
    before = await first(client)
    assert before["document_id"] == document_id
    (old,) = set(PHONE.findall(before["text"]))
    run = (await client.post("/v1/chat", json={"question": QUESTION, "stream": False})).json()
    keys = tmp_path / "home" / "keys"
    former = (keys / "pseudonym.key").read_bytes()

    assert (await client.post("/v1/keys/pseudonym")).status_code == 202
    assert (keys / "pseudonym.key").read_bytes() != former
    during = 0
    for _ in turns("the key is changed"):
        if (await client.get("/v1/keys")).json()["state"] == "settled":
            break
        assert (await first(client))["document_id"] == document_id
        during += 1
    assert during
    assert sorted(path.name for path in keys.iterdir()) == ["erasure.key", "pseudonym.key", "vault.key"]

    after = await first(client)
    assert after["document_id"] == document_id
    (new,) = set(PHONE.findall(after["text"]))
    assert new != old
    document = (await client.get(f"/v1/documents/{document_id}")).json()
    assert document["source"] == f"list {new}.md"
    events = (await client.get(f"/v1/runs/{run['run_id']}/events")).text
    assert new in events
    assert old not in events
    for pseudonym in (new, old):
        body = {"pseudonym": pseudonym, "reason": "a test"}
        shown = await client.post("/v1/vault/reveal", json=body)
        assert "13812345678" in shown.text, shown.text


async def test_change_that_was_cut_off_goes_on_at_the_next_start(
    open_app: OpenApp, upload_and_wait: Upload, make_settings: Callable[..., Any], tmp_path: Path
) -> None:
    from api.app import create_app
    from api.inprocess import InProcessTransport

    settings = make_settings()
    keys = PseudonymKeys(tmp_path / "home" / "keys", None, None)
    app = create_app(settings, local_owner=True)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=InProcessTransport(app), base_url="http://localhost") as client,
    ):
        document_id = await uploaded(client, upload_and_wait)
        old = (await first(client))["text"]
    pair = keys.change()
    assert pair.former is not None
    client = await open_app(local_owner=True)
    await settled(client)
    after = await first(client)
    assert after["document_id"] == document_id
    assert after["text"] != old
    assert keys.load(tmp_path / "none").former is None


def test_there_is_one_key_of_now_whenever_a_crash_comes(tmp_path: Path) -> None:
    folder, needed = tmp_path / "keys", tmp_path / "none"
    keys = PseudonymKeys(folder, None, None)
    one = keys.load(needed)
    assert one.former is None
    # Between the two writes of a change: two equal files are no change.
    (folder / "pseudonym.former.key").write_text(one.current.hex(), encoding="ascii")
    assert keys.load(needed) == one
    assert not (folder / "pseudonym.former.key").exists()
    two = keys.change()
    assert two.former == one.current
    assert keys.load(needed) == two
    with pytest.raises(SettingsError, match="not over"):
        keys.change()
    keys.retire()
    assert keys.load(needed).former is None
    assert (folder / "pseudonym.key").stat().st_mode & 0o777 == 0o600


def test_given_keys_win_and_are_not_changed(tmp_path: Path) -> None:
    keys = PseudonymKeys(tmp_path, "aa" * 32, "bb" * 32)
    assert keys.load(tmp_path / "none") == (bytes.fromhex("aa" * 32), bytes.fromhex("bb" * 32))
    with pytest.raises(SettingsError, match="ATTEST_KEYS_PSEUDONYM_FORMER"):
        keys.change()


async def test_former_key_from_settings_is_named_until_it_is_taken_out(
    open_app: OpenApp, upload_and_wait: Upload
) -> None:
    client = await open_app(local_owner=True, keys=SecretKeys(pseudonym="aa" * 32, pseudonym_former="bb" * 32))
    await upload_and_wait(client, "a.md", b"# List\n\nThe pilot can be called at 13812345678.")
    state = ""
    for _ in turns("the change of the key ends"):
        if (state := (await client.get("/v1/keys")).json()["state"]) != "changing":
            break
    assert state == "former_key_in_settings"
    refused = await client.post("/v1/keys/pseudonym")
    assert (refused.status_code, refused.json()["code"]) == (409, "key_change_refused")
