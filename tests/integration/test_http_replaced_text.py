"""What a correction or an erasure replaces is gone from the database's files at once, its log included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from patience import turns

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]


def holding(home: Path, *texts: bytes) -> list[str]:
    """Name the files of the database that hold one of the texts, as they lie there."""
    files = sorted(home.glob("attest.sqlite3*"))
    assert "attest.sqlite3-wal" in {path.name for path in files}
    return [path.name for path in files if any(text in path.read_bytes().lower() for text in texts)]


async def settled(client: httpx.AsyncClient) -> None:
    for _ in turns("all documents are read again"):
        if (await client.get("/v1/symbols/resymbolise")).json() == {"outdated": 0, "waiting": 0}:
            return


async def test_corrected_text_leaves_the_log_of_the_database(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    await upload_and_wait(client, "policy blue zebrafish.md", b"The allowance for Blue Zebrafish is 300 dollars.")
    question = {"question": "What is the allowance for blue zebrafish?", "stream": False}
    assert (await client.post("/v1/chat", json=question)).status_code == 200
    assert "attest.sqlite3-wal" in holding(tmp_path / "home", b"zebrafish")
    answer = await client.post("/v1/symbols/corrections", json={"text": "Blue Zebrafish", "verdict": "secret"})
    assert (answer.status_code, answer.json()["documents"]) == (201, 1)
    await settled(client)
    assert holding(tmp_path / "home", b"zebrafish") == []


async def test_text_of_a_question_alone_leaves_the_log_with_its_correction(open_app: OpenApp, tmp_path: Path) -> None:
    client = await open_app(local_owner=True)
    await client.post("/v1/chat", json={"question": "Who is blue zebrafish?", "stream": False})
    assert "attest.sqlite3-wal" in holding(tmp_path / "home", b"zebrafish")
    answer = await client.post("/v1/symbols/corrections", json={"text": "Blue Zebrafish", "verdict": "secret"})
    assert (answer.status_code, answer.json()["documents"]) == (201, 0)
    assert holding(tmp_path / "home", b"zebrafish") == []
