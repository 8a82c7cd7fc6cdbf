"""Equal text is encoded once per tenant, on the real chunker and symbol language; every document has its own points."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.assembly import IngestParts, assemble
from ingest.cutting import SymbolicCutter
from ingest.fakes import sqlite_engine
from ingest.parser_worker import parse_file
from ingest.parsers.session import QUIET
from ingest.settings import ChunkSettings, IngestSettings
from ingest.types import DocumentMeta, Job, ParsedDocument
from retrieval.encoder import ModelThread
from retrieval.fakes import HashEncoder
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.symbols.language import load_language
from retrieval.types import ALL_RIGHTS, Encoding, Principal, Scope

ANN = Principal(tenant="acme", user="ann", rights=ALL_RIGHTS)
BOB = Principal(tenant="acme", user="bob", rights=ALL_RIGHTS)
EVE = Principal(tenant="other", user="eve", rights=ALL_RIGHTS)
SETTINGS = IngestSettings(encode_batch=8, encode_batch_s=3600, chunk=ChunkSettings(max_tokens=64, min_tokens=8))
SECTIONS = 100


def handbook(*changed: int, title: str = "Handbook") -> str:
    """A document of 100 sections, each a chunk; `changed` ones say something else."""
    sections = [
        f"## Rule {n}\n\nRequests of kind {n} go to desk {n + 7} within {n + 2} days. "
        + ("This was changed, and is decided by the board now." if n in changed else "The head of the team decides.")
        for n in range(SECTIONS)
    ]
    return f"# {title}\n\n" + "\n\n".join(sections) + "\n"


class CountingEncoder(HashEncoder):
    def __init__(self) -> None:
        super().__init__(dim=16)
        self.texts: list[str] = []

    def encode_documents(self, texts: Any) -> Encoding:
        self.texts += texts
        return super().encode_documents(texts)


class HereParsers:
    async def parse(self, path: Path, display_name: str, **_options: Any) -> ParsedDocument:
        return await asyncio.to_thread(parse_file, path, display_name, SETTINGS.parser, QUIET)


@dataclass
class House:
    store: InMemoryVectorStore
    encoder: CountingEncoder
    parts: IngestParts

    async def submit(self, text: str, source: str = "a.md", who: Principal = ANN, **meta: Any) -> Job:
        async def content() -> AsyncIterator[bytes]:
            yield text.encode()

        return await self.parts.ingestion.submit(who, source, content(), DocumentMeta.model_validate(meta))

    async def ingest(self, text: str, source: str = "a.md", who: Principal = ANN, **meta: Any) -> tuple[Job, list[str]]:
        """Take a document in; return its job, and the texts that were encoded for it."""
        before = len(self.encoder.texts)
        job = await self.submit(text, source, who, **meta)
        await self.parts.worker.run_until_idle()
        job = self.parts.ingestion.get_job(who, job.job_id)
        assert job.state == "succeeded", job.error
        return job, self.encoder.texts[before:]

    def vectors(self, document_id: str) -> dict[str, bytes]:
        points = [p for p in self.store._points.values() if p.chunk.document_id == document_id]
        return {p.chunk.index_text: np.asarray(p.encoded.dense).tobytes() for p in points}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    engine, store, encoder, thread = sqlite_engine(tmp_path), InMemoryVectorStore(), CountingEncoder(), ModelThread("e")
    await store.open(encoder.info)
    parts = assemble(
        engine=engine,
        folder=tmp_path / "originals",
        key=bytes(range(32)),
        parsers=HereParsers(),
        cutter=SymbolicCutter(load_language(bytes(32)), encoder.count_tokens, 512, SETTINGS.chunk),
        encoder=encoder,
        encoder_thread=thread,
        store=store,
        settings=SETTINGS,
        poll_s=0.01,
    )
    yield House(store, encoder, parts)
    parts.close()
    thread.close()
    engine.dispose()


async def test_reuse_changed_document_encodes_only_its_changed_chunks(house: House) -> None:
    first, encoded = await house.ingest(handbook())
    assert (first.chunks_total, len(encoded), first.chunks_reused) == (SECTIONS, SECTIONS, 0)
    second, encoded = await house.ingest(handbook(3, 50, 99))
    assert len(encoded) == 3
    assert all("board" in text for text in encoded)
    assert (second.chunks_done, second.chunks_total, second.chunks_reused) == (SECTIONS, SECTIONS, SECTIONS - 3)
    report = house.parts.ingestion.get_report(ANN, second.document_id)
    assert report is not None
    assert report.change is not None
    assert (report.reused, report.change.kept, report.change.added, report.change.removed) == (97, 97, 3, 3)
    # What was lent is what encoding would have given.
    for text, vector in house.vectors(second.document_id).items():
        assert vector == house.encoder.encode_documents([text]).dense[0].tobytes()
    assert len(house.store._points) == SECTIONS


async def test_reuse_of_changed_access_alone_encodes_nothing(house: House) -> None:
    await house.ingest(handbook())
    job, encoded = await house.ingest(handbook(), access={"user:ann"})
    assert (job.outcome, encoded, job.chunks_reused) == ("new_version", [], SECTIONS)
    assert await house.store.count(Scope.of(BOB)) == 0
    assert await house.store.count(Scope.of(ANN)) == SECTIONS


async def test_reuse_same_bytes_under_two_names_are_one_set_of_vectors_and_two_documents(house: House) -> None:
    one, _ = await house.ingest(handbook())
    two, encoded = await house.ingest(handbook(), "b.md", access={"user:ann"})
    assert (two.outcome, encoded) == ("new", [])
    assert house.vectors(one.document_id) == house.vectors(two.document_id)
    assert await house.store.count(Scope.of(ANN)) == 2 * SECTIONS
    assert await house.store.count(Scope.of(BOB)) == SECTIONS
    receipt = await house.parts.ingestion.delete(ANN, one.document_id)
    assert (receipt.deleted_chunks, set(receipt.left.values())) == (SECTIONS, {0})
    assert len(house.vectors(two.document_id)) == SECTIONS
    assert [d.source for d in house.parts.ingestion.list_documents(ANN)] == ["b.md"]


async def test_reuse_equal_documents_that_wait_together_are_encoded_once(house: House) -> None:
    jobs = [await house.submit(handbook(), f"{n}.md") for n in range(4)]
    await house.parts.worker.run_until_idle()
    assert {house.parts.ingestion.get_job(ANN, job.job_id).state for job in jobs} == {"succeeded"}
    assert len(house.encoder.texts) == len(set(house.encoder.texts)) == SECTIONS
    assert await house.store.count(Scope.of(ANN)) == 4 * SECTIONS


async def test_reuse_within_a_document_is_told(house: House) -> None:
    notice = "Whoever reads this in print reads an old version; the current one is on the pages of the office."
    body = "\n\n".join(f"## Part\n\n{notice}" for _ in range(5))
    job, encoded = await house.ingest(f"# Notices\n\n{body}\n")
    assert job.chunks_total is not None
    assert len(encoded) == len(set(encoded)) < job.chunks_total
    assert job.chunks_reused == job.chunks_total - len(encoded)


async def test_reuse_of_what_another_user_holds_is_not_told(house: House) -> None:
    await house.ingest(handbook(), who=BOB, access={"user:bob"})
    job, encoded = await house.ingest(handbook(), who=ANN)
    assert (encoded, job.chunks_reused) == ([], 0)
    report = house.parts.ingestion.get_report(ANN, job.document_id)
    assert report is not None
    assert (report.reused, report.change) == (0, None)


async def test_reuse_ends_at_the_tenant_and_with_the_document(house: House) -> None:
    job, _ = await house.ingest(handbook())
    _, encoded = await house.ingest(handbook(), who=EVE)
    assert len(encoded) == SECTIONS
    await house.parts.ingestion.delete(ANN, job.document_id)
    _, encoded = await house.ingest(handbook())
    assert len(encoded) == SECTIONS


async def test_reuse_counts_go_on_after_a_failure(house: House) -> None:
    await house.ingest(handbook())
    real, calls = house.store.write, 0

    async def failing(chunks: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise RuntimeError("stumbled")
        await real(chunks)

    house.store.write = failing  # type: ignore[method-assign]
    job = await house.submit(handbook(3, 50, 99))
    await house.parts.worker.run_until_idle()
    failed = house.parts.ingestion.get_job(ANN, job.job_id)
    assert failed.state == "failed"
    assert 0 < failed.chunks_reused < SECTIONS - 3
    await house.parts.ingestion.retry(ANN, job.job_id)
    await house.parts.worker.run_until_idle()
    done = house.parts.ingestion.get_job(ANN, job.job_id)
    assert (done.state, done.chunks_done, done.chunks_reused) == ("succeeded", SECTIONS, SECTIONS - 3)
