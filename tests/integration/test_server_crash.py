"""kill -9 of a server that takes documents in: after a restart the index is the one of an undisturbed ingestion."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.auth import LOCAL_OWNER
from retrieval.encoders.select import load_encoder
from retrieval.settings import EncoderSettings, StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.types import Scope

DOCUMENTS = 10
SECTIONS = 40
# Small chunks in small batches: many steps between which a server can be killed.
SETTINGS = {
    "ATTEST_CHUNK_MAX_TOKENS": 64,
    "ATTEST_CHUNK_MIN_TOKENS": 8,
    "ATTEST_INGEST_ENCODE_BATCH": 8,
    "ATTEST_PARSER_PROCESSES": 2,
}
ENDED = {"succeeded", "failed", "cancelled"}
Jobs = list[dict[str, Any]]
Contents = Counter[tuple[str, str]]


def _text(document: int) -> str:
    topics = ("budget", "safety", "travel", "hiring", "storage", "training", "audit", "design")
    sections = [
        f"## Rule {document}.{n}\n\nEvery {topics[n % 8]} request of team {document} with form {n} goes to desk "
        f"{n * 7 % 31} within {n + 2} days.\n\nIt is kept for {n % 9 + 1} years."
        for n in range(SECTIONS)
    ]
    return f"# Rules of team {document}\n\n" + "\n\n".join(sections) + "\n"


SOURCES = {f"team-{n}.md": _text(n).encode() for n in range(DOCUMENTS)}


def _one_runs(jobs: Jobs) -> bool:
    return any(job["state"] == "running" for job in jobs)


def _one_is_half_written(jobs: Jobs) -> bool:
    return any(job["state"] == "running" and 0 < job["chunks_done"] < job["chunks_total"] for job in jobs)


def _half_are_done(jobs: Jobs) -> bool:
    return sum(job["state"] == "succeeded" for job in jobs) >= DOCUMENTS // 2


def _upload(http: httpx.Client) -> None:
    for source, content in SOURCES.items():
        assert http.post("/v1/documents", files={"file": (source, content)}).status_code == 202


def _jobs_when(http: httpx.Client, reached: Callable[[Jobs], bool]) -> Jobs:
    while True:
        jobs: Jobs = http.get("/v1/jobs").json()["jobs"]
        if reached(jobs) or all(job["state"] in ENDED for job in jobs):
            return jobs


async def _contents(home: Path) -> tuple[Contents, dict[str, set[str]], int]:
    """Open the index itself: visible chunks by source and content, ids by document, and points of any kind."""
    store = EdgeStore(home / "index", StoreSettings())
    await store.open(load_encoder(EncoderSettings(encoder="lexical")).info)
    try:
        chunks = [chunk async for batch in store.scan(Scope.of(LOCAL_OWNER)) for chunk in batch]
        ids = {d: await store.chunk_ids(LOCAL_OWNER.tenant, d) for d in {chunk.document_id for chunk in chunks}}
        points = store._held().call("sizes")["points"]
    finally:
        await store.close()
    assert {d: sorted(found) for d, found in ids.items()} == {
        d: sorted(chunk.chunk_id for chunk in chunks if chunk.document_id == d) for d in ids
    }
    return Counter((chunk.title, chunk.index_text) for chunk in chunks), ids, points


@pytest.fixture(scope="module")
def undisturbed(attest_at: Callable[[Path], Any], tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """What the index holds when nothing goes wrong."""
    attest = attest_at(tmp_path_factory.mktemp("undisturbed") / "home")
    server = attest.serve(**SETTINGS)
    with server.client() as http:
        _upload(http)
        assert {job["state"] for job in _jobs_when(http, lambda _: False)} == {"succeeded"}
    server.stop()
    contents, ids, points = asyncio.run(_contents(attest.home))
    assert len(ids) == DOCUMENTS
    assert points == contents.total() >= 10 * DOCUMENTS
    return contents


@pytest.mark.parametrize(
    "moments",
    [(_one_runs,), (_one_is_half_written, _half_are_done)],
    ids=["once", "twice"],
)
def test_killed_server_ends_with_the_undisturbed_index(
    attest: Any, undisturbed: Contents, moments: tuple[Callable[[Jobs], bool], ...]
) -> None:
    server = attest.serve(**SETTINGS)
    with server.client() as http:
        _upload(http)
    for reached in moments:
        with server.client() as http:
            jobs = _jobs_when(http, reached)
        assert not all(job["state"] in ENDED for job in jobs), "too quick: there was nothing to interrupt"
        server.stop(signal.SIGKILL)
        server = attest.serve(**SETTINGS)
    with server.client() as http:
        jobs = _jobs_when(http, lambda _: False)
        listed = http.get("/v1/documents").json()["documents"]
    assert server.stop() == (0, "")

    assert [(job["state"], job["error"]) for job in jobs] == [("succeeded", None)] * DOCUMENTS
    assert {document["source"]: document["state"] for document in listed} == dict.fromkeys(SOURCES, "ready")
    contents, ids, points = asyncio.run(_contents(attest.home))
    assert contents == undisturbed
    assert points == contents.total()
    assert {d["document_id"]: d["chunk_count"] for d in listed} == {d: len(found) for d, found in ids.items()}
