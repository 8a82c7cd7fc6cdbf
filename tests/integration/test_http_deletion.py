"""After a delete, nothing of the document's text is left where runs and the catalogue are kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

Upload = Callable[..., Awaitable[dict[str, Any]]]
OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
TEXT = "# Travel policy\n\nThe meal allowance is 120 dollars a day.\n\nThe zebra crossing at the depot is closed.\n"


async def test_deleted_document_leaves_tombstones_in_runs(
    open_app: OpenApp, upload_and_wait: Upload, tmp_path: Path
) -> None:
    client = await open_app(local_owner=True)
    job = await upload_and_wait(client, "policy.md", TEXT.encode())
    question = {"question": "How high is the meal allowance a day?", "stream": False}
    run = (await client.post("/v1/chat", json=question)).json()
    assert "120" in run["answer"]
    assert "zebra" in str(run["passages"])
    receipt = (await client.delete(f"/v1/documents/{job['document_id']}")).json()
    assert receipt["left"]["runs"] == 0
    assert not any(receipt["left"].values())
    after = (await client.get(f"/v1/runs/{run['run_id']}")).json()
    assert after["completed"]["answer"] == run["answer"]
    events = (await client.get(f"/v1/runs/{run['run_id']}/events")).text
    assert "[deleted; SHA-256" in events
    assert "zebra" not in events
    database = tmp_path / "home" / "attest.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = database.read_bytes()
    assert job["document_id"].encode() in content
    assert b"zebra" not in content
