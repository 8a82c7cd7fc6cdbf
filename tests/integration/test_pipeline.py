"""The way of a document through ingestion: versions, failures, retries, deletes."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import InterfaceError, OperationalError

from ingest.assembly import IngestParts, assemble
from ingest.errors import (
    DocumentTooLargeError,
    NotPermittedError,
    SourceUnavailableError,
    UnknownDocumentError,
    UnknownJobError,
)
from ingest.fakes import InProcessParsers, ParagraphCutter
from ingest.settings import IngestSettings, ParserSettings
from ingest.tables import metadata
from ingest.types import Document, DocumentMeta, Job
from ingest.worker import MAX_TAKEOVERS
from retrieval.encoder import ModelThread
from retrieval.errors import StoreUnavailableError
from retrieval.fakes import HashEncoder
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.types import ALL_RIGHTS, Encoding, Principal, Scope, SearchFilter

ANN = Principal(tenant="acme", user="ann", rights=ALL_RIGHTS)
BOB = Principal(tenant="acme", user="bob", rights=ALL_RIGHTS)
EVE = Principal(tenant="other", user="ann", rights=ALL_RIGHTS)
KEY = bytes(range(32))
THREE = "alpha one\n\nbeta two\n\ngamma three"


class CountingEncoder(HashEncoder):
    """Remembers what it encoded; `fail_at` raises once before that many texts were encoded."""

    def __init__(self) -> None:
        super().__init__(dim=16)
        self.texts: list[str] = []
        self.fail_at: int | None = None
        self.error: Exception = RuntimeError("the model broke")

    def encode_documents(self, texts: Any) -> Encoding:
        if self.fail_at is not None and len(self.texts) >= self.fail_at:
            self.fail_at = None
            raise self.error
        self.texts += texts
        return super().encode_documents(texts)


@dataclass
class House:
    engine: Engine
    folder: Path
    store: InMemoryVectorStore
    encoder: CountingEncoder
    parsers: InProcessParsers
    parts: IngestParts
    thread: ModelThread
    settings: IngestSettings = field(default_factory=IngestSettings)

    async def submit(self, content: str, source: str = "a.txt", who: Principal = ANN, **meta: Any) -> Job:
        return await self.parts.ingestion.submit(who, source, pieces(content), DocumentMeta.model_validate(meta))

    async def ingest(self, content: str, source: str = "a.txt", who: Principal = ANN, **meta: Any) -> Job:
        job = await self.submit(content, source, who, **meta)
        await self.parts.worker.run_until_idle()
        return self.parts.ingestion.get_job(who, job.job_id)

    async def texts(self, who: Principal = ANN) -> list[str]:
        """What a search may show: published and live."""
        chunks = [chunk async for batch in self.store.scan(Scope.of(who)) for chunk in batch]
        live = self.parts.catalog.live(who.tenant, {chunk.document_id for chunk in chunks})
        return sorted(chunk.text for chunk in chunks if chunk.document_id in live)

    async def stored(self) -> int:
        """How many chunks lie in the store, visible or not."""
        return len(self.store._points)

    def originals(self) -> list[str]:
        return sorted(path.stem for path in self.folder.rglob("*.original"))

    def states(self, who: Principal = ANN) -> list[str]:
        return [each.state for each in self.parts.ingestion.list_documents(who)]


async def pieces(text: str) -> AsyncIterator[bytes]:
    content = text.encode("utf-8", "surrogateescape")
    for at in range(0, len(content), 7):
        yield content[at : at + 7]


def build(
    engine: Engine,
    folder: Path,
    store: InMemoryVectorStore,
    settings: IngestSettings,
    encoder: CountingEncoder,
    thread: ModelThread,
) -> House:
    parsers = InProcessParsers()
    parts = assemble(
        engine=engine,
        folder=folder,
        key=KEY,
        parsers=parsers,
        cutter=ParagraphCutter(),
        encoder=encoder,
        encoder_thread=thread,
        store=store,
        settings=settings,
        poll_s=0.01,
        retry_delay_s=lambda _attempt: 0.0,
    )
    return House(engine, folder, store, encoder, parsers, parts, thread, settings)


@pytest.fixture
async def house(tmp_path: Path, engine: Engine) -> AsyncIterator[House]:
    store, encoder, thread = InMemoryVectorStore(), CountingEncoder(), ModelThread("encoder")
    await store.open(encoder.info)
    house = build(
        engine, tmp_path / "originals", store, IngestSettings(encode_batch=2, encode_batch_s=3600), encoder, thread
    )
    yield house
    house.parts.close()
    thread.close()


async def test_pipeline_submit_returns_before_any_work_is_done(house: House) -> None:
    job = await house.submit(THREE)
    assert (job.state, house.parsers.parsed, house.encoder.texts) == ("queued", [], [])
    assert house.originals() == [job.document_id]
    assert house.states() == ["pending"]


async def test_pipeline_takes_a_document_in(house: House) -> None:
    job = await house.ingest(THREE + "\n\nsecret:phone of Li")
    assert (job.state, job.outcome, job.stage, job.chunks_done, job.chunks_total) == (
        "succeeded",
        "new",
        "done",
        4,
        4,
    )
    document = house.parts.ingestion.get_document(ANN, job.document_id)
    assert (document.state, document.version, document.chunk_count, document.format) == ("ready", 1, 4, "text")
    assert document.content_hash is not None
    assert await house.texts() == ["[SECRET_enohp] of Li", "alpha one", "beta two", "gamma three"]
    assert house.parts.vault.reveal(ANN, "[SECRET_enohp]", "test") == "phone"
    assert house.parts.catalog.knowledge_version("acme") == 1
    assert await house.texts(EVE) == []


async def test_pipeline_report_counts_what_came_in(house: House) -> None:
    first = await house.ingest(THREE)
    report = house.parts.ingestion.get_report(ANN, first.document_id)
    assert report is not None
    assert (report.chunks, report.blocks, report.tokens.largest, report.change) == (3, {"paragraph": 3}, 11, None)
    second = await house.ingest("alpha one\n\ngamma three\n\ndelta four\n\nepsilon")
    changed = house.parts.ingestion.get_report(ANN, second.document_id)
    assert changed is not None
    assert changed.change is not None
    assert (changed.change.added, changed.change.removed, changed.change.kept) == (2, 1, 2)
    assert changed.change.former_document_id == first.document_id


async def test_pipeline_same_bytes_again_are_nothing_to_do(house: House) -> None:
    first = await house.ingest(THREE)
    encoded = len(house.encoder.texts)
    again = await house.ingest(THREE)
    assert (again.outcome, again.document_id) == ("unchanged", first.document_id)
    assert (len(house.encoder.texts), house.parsers.parsed) == (encoded, ["a.txt"])
    assert house.originals() == [first.document_id]
    assert house.states() == ["ready"]
    assert house.parts.catalog.knowledge_version("acme") == 1


async def test_pipeline_same_bytes_stay_when_their_former_version_is_deleted_in_that_moment(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await house.ingest("one")
    lifecycle = house.parts.worker._pipeline._lifecycle
    current = lifecycle.current

    def deleted_after(document: Document) -> Document | None:
        monkeypatch.undo()
        found = current(document)
        asyncio.run(house.parts.ingestion.delete(ANN, first.document_id))
        return found

    monkeypatch.setattr(lifecycle, "current", deleted_after)
    again = await house.ingest("one")
    assert (again.state, again.outcome) == ("succeeded", "new")
    assert again.document_id != first.document_id
    assert house.originals() == [again.document_id]
    assert await house.texts() == ["one"]


async def test_pipeline_same_bytes_keep_their_original_until_it_is_settled_that_they_are_ready(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await house.ingest("one")
    monkeypatch.setattr(house.parts.worker._pipeline._leases, "succeed", _die)
    second = await house.submit("one")
    claim = house.parts.worker._leases.claim("dead worker")
    assert claim is not None
    with pytest.raises(_Death):
        await house.parts.worker._pipeline.run(claim)
    monkeypatch.undo()
    assert house.originals() == sorted([first.document_id, second.document_id])
    await house.parts.ingestion.delete(ANN, first.document_id)
    with house.engine.begin() as connection:
        connection.execute(metadata.tables["jobs"].update().values(lease_until=None))
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, second.job_id).state == "succeeded"
    assert await house.texts() == ["one"]


class _Death(BaseException):
    """Ends a worker in the midst of a step."""


def _die(*_arguments: object) -> None:
    raise _Death


async def test_pipeline_same_bytes_with_other_access_are_a_new_version(house: House) -> None:
    await house.ingest(THREE)
    job = await house.ingest(THREE, access={"user:ann"})
    assert job.outcome == "new_version"
    assert await house.texts(BOB) == []
    assert len(await house.texts()) == 3


async def test_pipeline_changed_file_replaces_the_old_version(house: House) -> None:
    old = await house.ingest(THREE)
    new = await house.ingest("alpha one\n\ndelta four")
    assert (new.outcome, new.document_id != old.document_id) == ("new_version", True)
    assert await house.texts() == ["alpha one", "delta four"]
    assert await house.stored() == 2
    assert house.originals() == [new.document_id]
    with pytest.raises(UnknownDocumentError):
        house.parts.ingestion.get_document(ANN, old.document_id)


async def test_pipeline_later_edition_keeps_the_old_one_for_its_time(house: House) -> None:
    old = await house.ingest("rate is one", effective_from=date(2023, 1, 1))
    new = await house.ingest("rate is two", effective_from=date(2024, 1, 1))
    assert await house.texts() == ["rate is two"]
    then = Scope.of(ANN, SearchFilter(as_of=date(2023, 6, 1)))
    assert [c.document_id async for batch in house.store.scan(then) for c in batch] == [old.document_id]
    assert [d.document_id for d in house.parts.ingestion.list_versions(ANN, new.document_id)] == [
        new.document_id,
        old.document_id,
    ]


async def test_pipeline_same_bytes_under_two_names_or_users_are_two_documents(house: House) -> None:
    jobs = [
        await house.ingest(THREE, "a.txt"),
        await house.ingest(THREE, "b.txt"),
        await house.ingest(THREE, "a.txt", BOB),
        await house.ingest(THREE, "a.txt", EVE),
    ]
    assert [job.outcome for job in jobs] == ["new"] * 4
    assert len({job.document_id for job in jobs}) == 4
    await house.parts.ingestion.delete(ANN, jobs[0].document_id)
    assert len(await house.texts()) == 6
    assert [(await house.ingest(THREE, "b.txt")).outcome, (await house.ingest(THREE, "a.txt", BOB)).outcome] == [
        "unchanged",
        "unchanged",
    ]


async def test_pipeline_two_uploads_of_one_name_in_a_row_end_with_the_last(house: House) -> None:
    jobs = [await house.submit(f"version {n}\n\nsame") for n in range(5)]
    await house.parts.worker.run_until_idle()
    assert [house.parts.ingestion.get_job(ANN, job.job_id).state for job in jobs] == ["succeeded"] * 5
    assert await house.texts() == ["same", "version 4"]
    assert await house.stored() == 2


@pytest.mark.parametrize(("content", "code"), [("", "no_text"), (" \n\n ", "no_text"), ("\udcff", "corrupt_document")])
async def test_pipeline_bad_file_fails_with_its_reason_and_others_go_on(house: House, content: str, code: str) -> None:
    bad, good = await house.submit(content, "bad.txt"), await house.submit(THREE, "good.txt")
    await house.parts.worker.run_until_idle()
    failed = house.parts.ingestion.get_job(ANN, bad.job_id)
    assert (failed.state, failed.error_code, failed.attempts) == ("failed", code, 1)
    assert house.parts.ingestion.get_document(ANN, bad.document_id).error_code == code
    assert house.parts.ingestion.get_job(ANN, good.job_id).state == "succeeded"


async def test_pipeline_failed_upload_does_not_block_a_later_one(house: House) -> None:
    house.encoder.fail_at = 1
    failed = await house.ingest(THREE)
    assert (failed.state, failed.error_code) == ("failed", "internal")
    assert "broke" not in (failed.error or "")
    assert await house.texts() == []
    again = await house.ingest(THREE)
    assert (again.state, again.outcome) == ("succeeded", "new")
    assert house.states() == ["ready"]
    assert await house.stored() == 3
    assert house.originals() == [again.document_id]


async def test_pipeline_retry_goes_on_from_the_batch_that_failed(house: House) -> None:
    texts = [f"paragraph number {n:03d}" for n in range(246)]
    house.encoder.fail_at = 196
    failed = await house.ingest("\n\n".join(texts))
    assert (failed.state, failed.chunks_total) == ("failed", 246)
    assert failed.chunks_done == len(house.encoder.texts) in {196, 197}
    await house.parts.ingestion.retry(ANN, failed.job_id)
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, failed.job_id).state == "succeeded"
    assert sorted(house.encoder.texts) == texts
    assert await house.texts() == texts


async def test_pipeline_passing_error_is_retried_by_itself_until_the_limit(house: House) -> None:
    house.encoder.error = StoreUnavailableError("no answer")
    house.encoder.fail_at = 0
    job = await house.ingest(THREE)
    assert (job.state, job.attempts) == ("succeeded", 2)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("step", ["load", "vault", "checkpoint", "report", "switch", "succeed"])
async def test_pipeline_database_that_gives_no_answer_once_is_asked_again(house: House, step: str, error: Any) -> None:
    raise_once(
        *breaking(house)[step], after=False, error=error("UPDATE secrets", {"text": "alpha one"}, Exception("locked"))
    )
    job = await house.ingest(THREE)
    assert (job.state, job.attempts) == ("succeeded", 2)
    assert "alpha" not in str(job)
    assert len(await house.texts()) == await house.stored() == 3


async def test_pipeline_passing_error_that_stays_fails_after_the_last_attempt(house: House) -> None:
    def always(_texts: Any) -> Encoding:
        raise StoreUnavailableError("http://10.0.0.7:6333 gave no answer")

    house.encoder.encode_documents = always  # type: ignore[method-assign]
    job = await house.ingest(THREE)
    assert (job.state, job.attempts, job.error_code) == ("failed", 3, "store_unavailable")
    assert "10.0.0.7" not in str(job)


async def test_pipeline_error_of_one_document_spares_the_others_of_its_group(house: House) -> None:
    class Picky(CountingEncoder):
        def encode_documents(self, texts: Any) -> Encoding:
            if any("poison" in text for text in texts):
                raise RuntimeError("poison")
            return super().encode_documents(texts)

    house.encoder.encode_documents = Picky().encode_documents  # type: ignore[method-assign]
    jobs = [await house.submit(text, f"{n}.txt") for n, text in enumerate(["one", "poison", "two", "three"])]
    await house.parts.worker.run_until_idle()
    assert [house.parts.ingestion.get_job(ANN, job.job_id).state for job in jobs] == [
        "succeeded",
        "failed",
        "succeeded",
        "succeeded",
    ]
    assert await house.texts() == ["one", "three", "two"]


def breaking(house: House) -> dict[str, tuple[object, str]]:
    """Every step of the order of writes, by the call that does it."""
    pipeline: Any = house.parts.worker._pipeline  # type: ignore[attr-defined]
    return {
        "load": (pipeline._lifecycle, "load"),
        "original": (pipeline._originals, "plain"),
        "parse": (pipeline._parsers, "parse"),
        "cut": (pipeline._cutter, "cut"),
        "vault": (pipeline._vault, "write"),
        "describe": (pipeline._lifecycle, "describe"),
        "chunk_ids": (house.store, "chunk_ids"),
        "encode": (house.encoder, "encode_documents"),
        "write": (house.store, "write"),
        "checkpoint": (pipeline._leases, "checkpoint"),
        "former": (house.store, "scan"),
        "report": (pipeline._lifecycle, "admit"),
        "publish": (house.store, "publish"),
        "switch": (pipeline._lifecycle, "switch"),
        "purge": (house.store, "delete"),
        "purged": (pipeline._lifecycle, "purged"),
        "hash": (pipeline._lifecycle, "record_hash"),
        "succeed": (pipeline._leases, "succeed"),
    }


STEPS = [
    "load", "original", "parse", "cut", "vault", "describe", "chunk_ids", "encode", "write", "checkpoint",
    "former", "report", "publish", "switch", "purge", "purged", "hash", "succeed",
]  # fmt: skip


def raise_once(target: object, name: str, *, after: bool, error: Exception | None = None) -> Callable[[], int]:
    """Make `target.name` raise once, before or after it did its work; return how often it raised."""
    real, raised = getattr(target, name), 0
    fault = error or RuntimeError("stumbled")

    def once() -> bool:
        nonlocal raised
        raised += 1
        return raised == 1

    if asyncio.iscoroutinefunction(real):

        async def broken_async(*args: Any, **kwargs: Any) -> Any:
            first = once()
            if first and not after:
                raise fault
            result = await real(*args, **kwargs)
            if first:
                raise fault
            return result

        setattr(target, name, broken_async)
    else:

        def broken(*args: Any, **kwargs: Any) -> Any:
            first = once()
            if first and not after:
                raise fault
            result = real(*args, **kwargs)
            if first:
                raise fault
            return result

        setattr(target, name, broken)
    return lambda: raised


@pytest.mark.parametrize(
    ("after", "again"),
    [(False, "retry"), (True, "retry"), (False, "upload")],
    ids=["before-retry", "after-retry", "before-upload"],
)
@pytest.mark.parametrize("step", STEPS)
async def test_pipeline_step_that_raised_once_is_done_by_the_retry(
    house: House, step: str, after: bool, again: str
) -> None:
    await house.ingest("alpha one\n\nold text\n\nsecret:old")
    raised = raise_once(*breaking(house)[step], after=after)
    new = "alpha one\n\nnew text\n\nsecret:new"
    job = await house.ingest(new)
    assert raised() >= 1
    if step in {"purged"}:
        assert job.state in {"failed", "succeeded"}
    else:
        assert (job.state, job.error_code) == ("failed", "internal")
    if again == "retry":
        if job.state == "failed":
            await house.parts.ingestion.retry(ANN, job.job_id)
        await house.parts.worker.run_until_idle()
        job = house.parts.ingestion.get_job(ANN, job.job_id)
    else:
        job = await house.ingest(new)
    assert job.state == "succeeded"
    assert await house.texts() == ["[SECRET_wen]", "alpha one", "new text"]
    assert house.states() == ["ready"]
    document = house.parts.ingestion.get_document(ANN, job.document_id)
    assert document.content_hash is not None
    assert await house.stored() == 3
    assert house.originals() == [document.document_id]
    assert house.parts.vault.reveal(ANN, "[SECRET_wen]", "test") == "new"
    assert house.parts.vault.count("acme", document.document_id) == 1
    assert (await house.ingest(new)).outcome == "unchanged"


async def test_pipeline_delete_leaves_nothing_and_says_so(house: House) -> None:
    job = await house.ingest(THREE + "\n\nsecret:one")
    receipt = await house.parts.ingestion.delete(ANN, job.document_id)
    assert receipt.deleted_chunks == 4
    assert receipt.left == {"chunks": 0, "vault_only_here": 0, "originals": 0}
    assert (await house.texts(), await house.stored(), house.originals(), house.states()) == ([], 0, [], [])
    again = await house.parts.ingestion.delete(ANN, job.document_id)
    assert (again.deleted_chunks, again.left) == (0, receipt.left)
    with pytest.raises(UnknownDocumentError):
        house.parts.ingestion.get_report(ANN, job.document_id)


async def test_pipeline_delete_then_upload_again_shows_only_the_new_one(house: House) -> None:
    old = await house.ingest(THREE)
    await house.parts.ingestion.delete(ANN, old.document_id)
    new = await house.ingest(THREE)
    assert (new.outcome, new.document_id != old.document_id) == ("new", True)
    assert len(await house.texts()) == 3
    assert await house.stored() == 3


@pytest.mark.parametrize(
    ("step", "name"), [("store", "delete"), ("store", "chunk_ids"), ("vault", "forget"), ("originals", "delete")]
)
async def test_pipeline_delete_that_failed_half_way_is_done_by_the_next(house: House, step: str, name: str) -> None:
    job = await house.ingest(THREE + "\n\nsecret:one")
    target: Any = house.store if step == "store" else getattr(house.parts, step)
    raise_once(target, name, after=False)
    with pytest.raises(RuntimeError):
        await house.parts.ingestion.delete(ANN, job.document_id)
    assert await house.texts() == []
    receipt = await house.parts.ingestion.delete(ANN, job.document_id)
    assert set(receipt.left.values()) == {0}
    assert (await house.stored(), house.originals()) == (0, [])
    assert (await house.ingest(THREE)).state == "succeeded"


async def test_pipeline_delete_that_failed_is_finished_by_the_next_start(house: House) -> None:
    job = await house.ingest(THREE)
    raise_once(house.store, "delete", after=False)
    with pytest.raises(RuntimeError):
        await house.parts.ingestion.delete(ANN, job.document_id)
    await house.parts.worker.run_until_idle()
    assert (await house.stored(), house.originals()) == (0, [])


@pytest.mark.parametrize("step", ["parse", "cut", "encode", "publish"])
async def test_pipeline_delete_while_it_is_taken_in_leaves_nothing(house: House, step: str) -> None:
    target, name = breaking(house)[step]
    real = getattr(target, name)
    loop = asyncio.get_running_loop()
    job = await house.submit(THREE + "\n\nsecret:one")

    async def delete() -> None:
        await house.parts.ingestion.delete(ANN, job.document_id)

    if asyncio.iscoroutinefunction(real):

        async def slow_async(*args: Any, **options: Any) -> Any:
            await delete()
            return await real(*args, **options)

        setattr(target, name, slow_async)
    else:

        def slow(*args: Any) -> Any:
            asyncio.run_coroutine_threadsafe(delete(), loop).result()
            return real(*args)

        setattr(target, name, slow)
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, job.job_id).state == "cancelled"
    assert (await house.texts(), await house.stored(), house.originals(), house.states()) == ([], 0, [], [])


async def test_pipeline_tells_of_pages_while_it_parses_and_keeps_them_through_a_restart(house: House) -> None:
    real, seen = house.parsers.parse, asyncio.Event()
    leases: Any = house.parts.worker._leases  # type: ignore[attr-defined]
    pipeline: Any = house.parts.worker._pipeline  # type: ignore[attr-defined]
    pipeline._progress_s = 0.01
    checkpoint, loop, stop = leases.checkpoint, asyncio.get_running_loop(), asyncio.Event()

    def watched(*args: Any, **progress: Any) -> None:
        checkpoint(*args, **progress)
        if progress.get("pages_done") == 7:
            loop.call_soon_threadsafe(seen.set)

    async def paged(path: Path, name: str, *, on_page: Any, **options: Any) -> Any:
        await asyncio.to_thread(on_page, 7, 12)
        await seen.wait()
        stop.set()
        await asyncio.Event().wait()

    leases.checkpoint, house.parsers.parse = watched, paged  # type: ignore[method-assign]
    job = await house.submit(THREE)
    await house.parts.worker.run_forever(stop)
    stopped = house.parts.ingestion.get_job(ANN, job.job_id)
    assert (stopped.state, stopped.stage, stopped.pages_done, stopped.pages_total) == ("queued", "parsing", 7, 12)

    async def again(path: Path, name: str, *, on_page: Any, **options: Any) -> Any:
        on_page(1, 12)
        leases.checkpoint(claims[0], stage="parsing", pages_done=1, pages_total=12)
        now = house.parts.ingestion.get_job(ANN, job.job_id)
        assert (now.pages_done, now.pages_total) == (7, 12)
        return await real(path, name, on_page=on_page, **options)

    claims: list[Any] = []
    claim = leases.claim

    def claiming(owner: str) -> Any:
        claims.append(claim(owner))
        return claims[-1]

    leases.claim, house.parsers.parse = claiming, again  # type: ignore[method-assign]
    await house.parts.worker.run_until_idle()
    done = house.parts.ingestion.get_job(ANN, job.job_id)
    assert (done.state, done.pages_done, done.chunks_done, done.chunks_total) == ("succeeded", 7, 3, 3)


async def test_pipeline_cancel_ends_a_parse_that_would_go_on(house: House) -> None:
    pipeline: Any = house.parts.worker._pipeline  # type: ignore[attr-defined]
    pipeline._progress_s = 0.01
    ended = asyncio.Event()
    job = await house.submit(THREE)

    async def endless(path: Path, name: str, **options: Any) -> Any:
        try:
            # The parse may be ended before this returns.
            await house.parts.ingestion.cancel(ANN, job.job_id)
            await asyncio.Event().wait()
        finally:
            ended.set()

    house.parsers.parse = endless  # type: ignore[method-assign]
    await house.parts.worker.run_until_idle()
    assert ended.is_set()
    assert house.parts.ingestion.get_job(ANN, job.job_id).state == "cancelled"
    assert (house.originals(), house.states(), list(house.folder.rglob("*.plain"))) == ([], [], [])


async def test_pipeline_cancelled_job_drops_its_document(house: House) -> None:
    job = await house.submit(THREE)
    assert (await house.parts.ingestion.cancel(ANN, job.job_id)).state == "cancelled"
    await house.parts.worker.run_until_idle()
    assert (house.parsers.parsed, house.originals(), house.states()) == ([], [], [])
    done = await house.ingest(THREE)
    assert (await house.parts.ingestion.cancel(ANN, done.job_id)).state == "succeeded"
    assert house.states() == ["ready"]


async def test_pipeline_rights_and_strangers(house: House) -> None:
    reader = Principal(tenant="acme", user="ann", rights=frozenset({"search"}))
    with pytest.raises(NotPermittedError):
        await house.submit(THREE, who=reader)
    job = await house.ingest(THREE, access={"user:ann"})
    with pytest.raises(NotPermittedError):
        await house.parts.ingestion.delete(reader, job.document_id)
    for stranger in (BOB, EVE):
        with pytest.raises(UnknownDocumentError):
            await house.parts.ingestion.delete(stranger, job.document_id)
        for call in (house.parts.ingestion.cancel, house.parts.ingestion.retry):
            with pytest.raises(UnknownJobError):
                await call(stranger, job.job_id)
    assert house.states() == ["ready"]


async def test_pipeline_upload_above_the_limit_leaves_nothing(house: House) -> None:
    small = IngestSettings(parser=ParserSettings(max_bytes=10))
    other = build(house.engine, house.folder, house.store, small, house.encoder, house.thread)
    with pytest.raises(DocumentTooLargeError):
        await other.submit(THREE)
    other.parts.close()
    assert (house.states(), house.originals(), list(house.folder.rglob("*.part"))) == ([], [], [])


async def test_pipeline_upload_that_breaks_off_leaves_nothing(house: House) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await house.parts.ingestion.submit(ANN, "a.txt", broken(), DocumentMeta())
    assert (house.states(), house.originals(), list(house.folder.rglob("*.part"))) == ([], [], [])


async def test_pipeline_takes_a_file_by_its_path(house: House, tmp_path: Path) -> None:
    file = tmp_path / "given.txt"
    file.write_text(THREE, encoding="utf-8")
    await house.parts.ingestion.submit(ANN, "given.txt", file, DocumentMeta())
    await house.parts.worker.run_until_idle()
    assert len(await house.texts()) == 3
    with pytest.raises(SourceUnavailableError):
        await house.parts.ingestion.submit(ANN, "x", tmp_path / "missing", DocumentMeta())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceUnavailableError, match="not a regular file"):
        await house.parts.ingestion.submit(ANN, "x", tmp_path / "pipe", DocumentMeta())


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a\x00b\n.txt", "x" * 4000, "\u202etxt.exe", "", "\ud800", "报告.pdf"]
)
async def test_pipeline_source_name_is_text_only(house: House, name: str) -> None:
    before = {path for path in house.folder.parent.rglob("*") if "originals" not in path.parts}
    job = await house.ingest(THREE, name)
    assert job.state == "succeeded"
    assert 0 < len(job.source) <= 255
    assert job.source.isprintable()
    assert {path for path in house.folder.parent.rglob("*") if "originals" not in path.parts} == before
    assert house.originals() == [job.document_id]


async def test_pipeline_long_names_that_differ_at_their_end_stay_two(house: House) -> None:
    one, two = await house.ingest(THREE, "x" * 300 + "1"), await house.ingest(THREE, "x" * 300 + "2")
    assert one.source != two.source
    assert len(house.states()) == 2


async def test_pipeline_batches_are_shared_between_small_documents(house: House) -> None:
    sizes: list[int] = []
    parsed = threading.Event()
    encode, parse = house.encoder.encode_documents, house.parsers.parse

    def watch(texts: Any) -> Encoding:
        # The encoder is busy with the first document until the next four are prepared.
        assert parsed.wait(timeout=30)
        sizes.append(len(texts))
        return encode(texts)

    async def count(path: Path, name: str, **options: Any) -> Any:
        if len(house.parsers.parsed) == 5:
            parsed.set()
        return await parse(path, name, **options)

    house.encoder.encode_documents = watch  # type: ignore[method-assign]
    house.parsers.parse = count  # type: ignore[method-assign]
    for n in range(6):
        await house.submit(f"single {n}", f"{n}.txt")
    await house.parts.worker.run_until_idle()
    assert sum(sizes) == 6
    assert sizes[:3] == [1, 2, 2]


async def test_pipeline_worker_stops_when_told_and_the_rest_stays_queued(house: House) -> None:
    stop = asyncio.Event()
    real = house.parsers.parse
    for n in range(3):
        await house.submit(THREE, f"{n}.txt")

    async def stopping(path: Path, name: str, **options: Any) -> Any:
        if name == "1.txt":
            stop.set()
            await asyncio.Event().wait()
        return await real(path, name, **options)

    house.parsers.parse = stopping  # type: ignore[method-assign]
    await house.parts.worker.run_forever(stop)
    house.parsers.parse = real  # type: ignore[method-assign]
    jobs = house.parts.ingestion.list_jobs(ANN)
    assert {job.state for job in jobs} <= {"queued", "succeeded"}
    assert next(job for job in jobs if job.source == "1.txt").attempts == 0
    assert list(house.folder.rglob("*.plain")) == []
    await house.parts.worker.run_until_idle()
    assert {job.state for job in house.parts.ingestion.list_jobs(ANN)} == {"succeeded"}
    assert await house.stored() == 9


async def test_pipeline_job_whose_claim_was_under_way_when_the_worker_stops_is_released(house: House) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    leases: Any = house.parts.worker._leases  # type: ignore[attr-defined]
    real = leases.claim
    job = await house.submit(THREE)

    async def stopped() -> None:
        stop.set()
        for _ in range(20):  # rounds of the loop, in which the worker is cancelled
            await asyncio.sleep(0)

    def claim(owner: str) -> Any:
        taken = real(owner)
        asyncio.run_coroutine_threadsafe(stopped(), loop).result()
        return taken

    leases.claim = claim
    await house.parts.worker.run_forever(stop)
    left = house.parts.ingestion.get_job(ANN, job.job_id)
    assert (left.state, left.attempts) == ("queued", 0)


async def test_pipeline_worker_survives_a_database_that_is_away(house: House) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    leases: Any = house.parts.worker._leases  # type: ignore[attr-defined]
    raised = raise_once(leases, "claim", after=False)
    real = leases.succeed

    def succeed(*args: Any) -> bool:
        done: bool = real(*args)
        loop.call_soon_threadsafe(stop.set)
        return done

    leases.succeed = succeed
    job = await house.submit(THREE)
    await house.parts.worker.run_forever(stop)
    assert house.parts.ingestion.get_job(ANN, job.job_id).state == "succeeded"
    assert raised() >= 2


async def test_pipeline_document_that_keeps_killing_its_worker_is_given_up(house: House) -> None:
    job = await house.submit(THREE)
    leases: Any = house.parts.worker._leases  # type: ignore[attr-defined]
    for _ in range(MAX_TAKEOVERS + 1):
        assert leases.claim("another worker") is not None
        leases.expire(lambda _owner: True)
    await house.parts.worker.run_until_idle()
    given_up = house.parts.ingestion.get_job(ANN, job.job_id)
    assert (given_up.state, given_up.error_code) == ("failed", "worker_died")
    await house.parts.ingestion.retry(ANN, job.job_id)
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, job.job_id).state == "succeeded"


async def test_pipeline_long_work_keeps_its_lease(house: House) -> None:
    brief = IngestSettings(lease_s=0.3)
    other = build(house.engine, house.folder, house.store, brief, house.encoder, house.thread)
    job = await other.submit(THREE)
    leases: Any = other.parts.worker._leases  # type: ignore[attr-defined]
    renewed, loop = asyncio.Event(), asyncio.get_running_loop()
    real_renew, real_parse = leases.renew, other.parsers.parse
    count = 0

    def renew(owner: str, job_ids: Any) -> int:
        nonlocal count
        kept: int = real_renew(owner, job_ids)
        count += kept
        if count == 3:
            loop.call_soon_threadsafe(renewed.set)
        return kept

    async def slow(path: Path, name: str, **options: Any) -> Any:
        await renewed.wait()
        assert leases.claim("thief") is None
        return await real_parse(path, name, **options)

    leases.renew, other.parsers.parse = renew, slow  # type: ignore[method-assign]
    await other.parts.worker.run_until_idle()
    assert other.parts.ingestion.get_job(ANN, job.job_id).state == "succeeded"
    other.parts.close()


async def test_pipeline_lease_that_could_not_be_renewed_once_is_renewed_the_next_time(house: House) -> None:
    brief = IngestSettings(lease_s=0.3)
    other = build(house.engine, house.folder, house.store, brief, house.encoder, house.thread)
    leases: Any = other.parts.worker._leases  # type: ignore[attr-defined]
    loop, renewed, real_parse = asyncio.get_running_loop(), asyncio.Event(), other.parsers.parse
    raised = raise_once(leases, "renew", after=False, error=OperationalError("UPDATE jobs", {}, Exception("locked")))
    real_renew = leases.renew

    def renew(owner: str, job_ids: Any) -> int:
        kept: int = real_renew(owner, job_ids)
        loop.call_soon_threadsafe(renewed.set)
        return kept

    async def slow(path: Path, name: str, **options: Any) -> Any:
        await renewed.wait()
        return await real_parse(path, name, **options)

    leases.renew, other.parsers.parse = renew, slow  # type: ignore[method-assign]
    job = await other.submit(THREE)
    await other.parts.worker.run_until_idle()
    assert other.parts.ingestion.get_job(ANN, job.job_id).state == "succeeded"
    assert raised() >= 2
    other.parts.close()


async def test_pipeline_original_of_a_killed_upload_is_swept_when_it_is_old(house: House) -> None:
    old, young = "a" * 32, "b" * 32
    for document_id in (old, young):
        with house.parts.originals.writing("acme", document_id, 100) as writer:
            writer.commit()
    age = time.time() - 25 * 3600
    os.utime(next(house.folder.rglob(f"{old}.original")), (age, age))
    kept = await house.ingest(THREE)
    os.utime(next(house.folder.rglob(f"{kept.document_id}.original")), (age, age))
    await house.parts.worker.run_until_idle()
    assert house.originals() == sorted([young, kept.document_id])


@pytest.mark.parametrize(
    ("given", "title"),
    [(None, "a.txt"), ("  ", "a.txt"), ("Tab\there\nand\x00there", "Tab here and_there"), ("x" * 400, "x" * 299 + "…")],
)
async def test_pipeline_title_is_one_line_of_text(house: House, given: str | None, title: str) -> None:
    job = await house.ingest(THREE, title=given)
    assert house.parts.ingestion.get_document(ANN, job.document_id).title == title


async def test_pipeline_log_of_an_internal_error_quotes_no_text(house: House, caplog: pytest.LogCaptureFixture) -> None:
    def leaky(parsed: Any, _document: Any) -> Any:
        raise ValueError(parsed.blocks[0].text)

    pipeline: Any = house.parts.worker._pipeline  # type: ignore[attr-defined]
    pipeline._cutter.cut = leaky
    job = await house.ingest("salary of Mr Li")
    assert job.error_code == "internal"
    assert "ValueError" in caplog.text
    assert "salary" not in caplog.text + str(job)
