"""Documents that are read again under other rules, in place: what changes, what stays, and what a crash leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.exc import OperationalError

from ingest.assembly import IngestParts, assemble
from ingest.errors import NotPermittedError, UnknownDocumentError
from ingest.fakes import InProcessParsers, ParagraphCutter, parcel
from ingest.settings import IngestSettings
from ingest.tables import documents, jobs, vault, vault_uses
from ingest.types import Document, DocumentMeta, Job
from retrieval.encoder import ModelThread
from retrieval.errors import StoreUnavailableError
from retrieval.fakes import HashEncoder
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.types import ALL_RIGHTS, Encoding, Principal, Scope

ANN = Principal(tenant="acme", user="ann", rights=ALL_RIGHTS)
BOB = Principal(tenant="acme", user="bob", rights=frozenset({"search", "ingest"}))
EVE = Principal(tenant="other", user="ann", rights=ALL_RIGHTS)
TEXT = "alpha falcon one\n\nbeta two\n\ngamma secret:osprey three"


class CountingEncoder(HashEncoder):
    def __init__(self) -> None:
        super().__init__(dim=16)
        self.texts: list[str] = []

    def encode_documents(self, texts: Any) -> Encoding:
        self.texts += texts
        return super().encode_documents(texts)


@dataclass
class Copies:
    """Texts that another room keeps."""

    texts: list[str] = field(default_factory=list)
    asked: list[tuple[str, str | None, str | None]] = field(default_factory=list)

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        self.asked.append((tenant, document_id, revision))
        before = self.texts
        self.texts = [change(text) for text in before]
        return sum(a != b for a, b in zip(before, self.texts, strict=True))


@dataclass
class House:
    engine: Engine
    folder: Path
    store: InMemoryVectorStore
    encoder: CountingEncoder
    cutter: ParagraphCutter
    parsers: InProcessParsers
    copies: Copies
    parts: IngestParts

    async def ingest(self, content: str, source: str = "a.txt", who: Principal = ANN, **meta: Any) -> Document:
        async def pieces() -> AsyncIterator[bytes]:
            yield content.encode()

        job = await self.parts.ingestion.submit(who, source, pieces(), DocumentMeta.model_validate(meta))
        await self.parts.worker.run_until_idle()
        done = self.parts.ingestion.get_job(who, job.job_id)
        assert done.state == "succeeded", done
        return self.document(done.document_id, who)

    def document(self, document_id: str, who: Principal = ANN) -> Document:
        return self.parts.ingestion.get_document(who, document_id)

    async def texts(self, who: Principal = ANN) -> list[str]:
        chunks = [chunk async for batch in self.store.scan(Scope.of(who)) for chunk in batch]
        live = self.parts.catalog.live(who.tenant, {chunk.document_id for chunk in chunks})
        return [chunk.text for chunk in sorted(chunks, key=lambda c: c.ordinal) if chunk.document_id in live]

    def everything(self) -> str:
        """All that lies in the store, staged chunks included, and in SQL."""
        with self.engine.connect() as connection:
            rows = [
                connection.execute(select(*(c for c in table.c if c.name != "ciphertext"))).all()
                for table in documents.metadata.sorted_tables
            ]
        return repr(self.store._points) + repr(rows)

    def kept(self) -> list[str]:
        with self.engine.connect() as connection:
            return sorted(connection.execute(select(vault.c.pseudonym)).scalars())

    async def again(self, document_id: str | None = None, who: Principal = ANN) -> list[Job]:
        queued = await self.parts.resymbolisation.queue(who, document_id)
        await self.parts.worker.run_until_idle()
        return [self.parts.ingestion.get_job(who, job.job_id) for job in queued.jobs]


@pytest.fixture
async def house(tmp_path: Path, engine: Engine) -> AsyncIterator[House]:
    store, encoder, thread = InMemoryVectorStore(), CountingEncoder(), ModelThread("encoder")
    await store.open(encoder.info)
    cutter, parsers, copies = ParagraphCutter(), InProcessParsers(), Copies()
    parts = assemble(
        engine=engine,
        folder=tmp_path / "originals",
        key=bytes(range(32)),
        parsers=parsers,
        cutter=cutter,
        encoder=encoder,
        encoder_thread=thread,
        store=store,
        settings=IngestSettings(encode_batch=2, encode_batch_s=3600),
        copies=[copies],
        poll_s=0.01,
        retry_delay_s=lambda _attempt: 0.0,
    )
    yield House(engine, tmp_path, store, encoder, cutter, parsers, copies, parts)
    parts.close()
    thread.close()


async def test_newly_hidden_secret_is_gone_and_the_document_stays_the_same(house: House) -> None:
    before = await house.ingest(TEXT)
    house.copies.texts = ["an answer on the falcon"]
    version = house.parts.catalog.knowledge_version("acme")
    house.encoder.texts.clear()
    house.cutter.hidden = ("falcon",)
    (job,) = await house.again()
    assert (job.kind, job.state, job.outcome) == ("resymbolise", "succeeded", "resymbolised")
    after = house.document(before.document_id)
    assert (after.document_id, after.version, after.state) == (before.document_id, before.version, "ready")
    assert (after.created_at, after.content_hash) == (before.created_at, before.content_hash)
    assert await house.texts() == ["alpha [SECRET_noclaf] one", "beta two", "gamma [SECRET_yerpso] three"]
    assert "falcon" not in house.everything()
    assert house.copies.texts == ["an answer on the [SECRET_noclaf]"]
    assert house.kept() == ["[SECRET_noclaf]", "[SECRET_yerpso]"]
    assert house.encoder.texts == ["alpha [SECRET_noclaf] one"]
    assert house.parts.catalog.knowledge_version("acme") == version + 1


async def test_secret_that_is_none_any_more_stands_in_the_text_and_leaves_the_vault(house: House) -> None:
    house.cutter.hidden = ("falcon",)
    await house.ingest(TEXT)
    assert "[SECRET_noclaf]" in house.kept()
    house.cutter.hidden = ()
    await house.again()
    assert (await house.texts())[0] == "alpha falcon one"
    assert house.kept() == ["[SECRET_yerpso]"]


async def test_value_that_another_document_carries_stays_in_the_vault(house: House) -> None:
    house.cutter.hidden = ("falcon",)
    one = await house.ingest(TEXT)
    await house.ingest("the falcon too", "b.txt")
    house.cutter.hidden = ()
    await house.again(one.document_id)
    assert "[SECRET_noclaf]" in house.kept()
    await house.again()
    assert "[SECRET_noclaf]" not in house.kept()


async def test_name_meta_and_title_lose_the_secret_too(house: House) -> None:
    document = await house.ingest(TEXT, "falcon list.txt", title="All of falcon", issuer="falcon inc")
    house.cutter.hidden = ("falcon",)
    await house.again()
    after = house.document(document.document_id)
    assert after.source == "[SECRET_noclaf] list.txt"
    assert (after.title, after.meta.issuer) == ("All of [SECRET_noclaf]", "[SECRET_noclaf] inc")
    assert "falcon" not in house.everything()
    follower = await house.ingest("a new text", "falcon list.txt")
    assert (follower.source, follower.version) == (after.source, 2)


async def test_names_that_become_equal_stay_two_lines(house: House) -> None:
    house.cutter.hidden = ("falcon",)
    await house.ingest("one", "falcon.txt")
    house.cutter.hidden = ()
    other = await house.ingest("two", "falcon.txt")
    house.cutter.hidden = ("falcon",)
    await house.again(other.document_id)
    assert house.document(other.document_id).source == "[SECRET_noclaf] (2).txt"


async def test_documents_inside_documents_are_read_again_with_their_parent(house: House) -> None:
    document = await house.ingest(parcel("outside", **{"falcon.txt": "a falcon inside"}))
    house.cutter.hidden = ("falcon",)
    done = await house.again(document.document_id)
    assert [job.state for job in done] == ["succeeded", "succeeded"]
    (child,) = house.parts.ingestion.list_documents(ANN, parent_id=document.document_id)
    assert child.source == "a.txt/[SECRET_noclaf].txt"
    assert "falcon" not in house.everything()


async def test_superseded_edition_is_read_again(house: House) -> None:
    old = await house.ingest("the old falcon", effective_from="2024-01-01")
    await house.ingest("the new one", effective_from="2024-02-01")
    house.cutter.hidden = ("falcon",)
    await house.again()
    assert house.document(old.document_id).state == "superseded"
    assert "falcon" not in house.everything()


async def test_document_of_these_rules_is_not_read_again(house: House) -> None:
    await house.ingest(TEXT)
    assert await house.again() == []
    house.cutter.hidden = ("falcon",)
    assert house.parts.resymbolisation.outdated(ANN) == 1
    assert len(await house.again()) == 1
    assert house.parts.resymbolisation.outdated(ANN) == 0
    assert await house.again() == []


async def test_reading_again_under_the_same_rules_encodes_and_changes_nothing(house: House) -> None:
    document = await house.ingest(TEXT)
    points = dict(house.store._points)
    house.encoder.texts.clear()
    queued = await house.parts.resymbolisation.queue(ANN, document.document_id)
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, queued.jobs[0].job_id).state == "succeeded"
    assert house.encoder.texts == []
    assert house.store._points == points


async def test_asking_twice_queues_one_job(house: House) -> None:
    await house.ingest(TEXT)
    house.cutter.hidden = ("falcon",)
    first = await house.parts.resymbolisation.queue(ANN)
    second = await house.parts.resymbolisation.queue(ANN)
    assert [job.job_id for job in first.jobs] == [job.job_id for job in second.jobs]


async def test_rules_that_change_on_the_way_in_bring_a_second_reading(house: House) -> None:
    document = await house.ingest("first")
    cut = house.cutter.cut

    def changing(parsed: Any, document: Document) -> Any:
        made = cut(parsed, document)
        house.cutter.hidden = ("falcon",)
        return made

    house.cutter.cut = changing  # type: ignore[method-assign]
    follower = await house.ingest(TEXT)
    assert follower.document_id != document.document_id
    assert "falcon" not in house.everything()
    assert house.parts.resymbolisation.outdated(ANN) == 0


STEPS = [
    ("_vault", "write"),
    ("_store", "write"),
    ("_store", "publish"),
    ("_store", "prune"),
    ("_lifecycle", "reread"),
    ("_copies", "rewrite"),
    ("_vault", "keep_only"),
    ("_leases", "succeed"),
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("part", "name"), STEPS, ids=[f"{part[1:]}-{name}" for part, name in STEPS])
async def test_interrupted_reading_is_done_again_and_ends_the_same(
    house: House, part: str, name: str, after: bool
) -> None:
    await house.ingest(TEXT)
    house.copies.texts = ["an answer on the falcon"]
    house.cutter.hidden = ("falcon",)
    resymboliser = house.parts.worker._pipeline._resymboliser
    target = house.copies if part == "_copies" else getattr(resymboliser, part)
    whole = getattr(target, name)
    seen: list[list[str]] = []
    error = StoreUnavailableError("gone") if part in {"_store", "_copies"} else OperationalError("x", {}, Exception())

    async def asynchronous(*args: Any, **named: Any) -> Any:
        setattr(target, name, whole)
        result = await whole(*args, **named) if after else None
        seen.append(await house.texts())
        raise error from None
        return result

    def blocking(*args: Any, **named: Any) -> Any:
        setattr(target, name, whole)
        if after:
            whole(*args, **named)
        raise error

    setattr(target, name, asynchronous if part in {"_store", "_copies"} else blocking)
    (job,) = await house.again()
    assert job.state == "succeeded"
    assert job.attempts == 2
    for texts in seen:
        assert any(text.startswith("alpha") for text in texts)
        assert any(text.startswith("beta") for text in texts)
    assert await house.texts() == ["alpha [SECRET_noclaf] one", "beta two", "gamma [SECRET_yerpso] three"]
    assert "falcon" not in house.everything() + repr(house.copies.texts)
    assert house.kept() == ["[SECRET_noclaf]", "[SECRET_yerpso]"]


async def test_document_that_is_deleted_meanwhile_leaves_nothing(house: House) -> None:
    document = await house.ingest(TEXT)
    house.cutter.hidden = ("falcon",)
    publish = house.store.publish

    async def deleting(tenant: str, document_id: str) -> int:
        await house.parts.ingestion.delete(ANN, document_id)
        house.store.publish = publish  # type: ignore[method-assign]
        return await publish(tenant, document_id)

    house.store.publish = deleting  # type: ignore[method-assign]
    queued = await house.parts.resymbolisation.queue(ANN, document.document_id)
    await house.parts.worker.run_until_idle()
    with house.engine.connect() as connection:
        state = connection.execute(select(jobs.c.state).where(jobs.c.job_id == queued.jobs[0].job_id)).scalar_one()
        assert connection.execute(select(vault_uses)).all() == []
    assert state == "cancelled"
    assert house.store._points == {}
    assert house.kept() == []


async def test_document_that_cannot_be_read_any_more_stays_as_it_is(house: House) -> None:
    document = await house.ingest(TEXT)
    house.cutter.hidden = ("falcon",)
    for path in house.folder.rglob("*.original"):
        path.unlink()
    (job,) = await house.again()
    assert (job.state, job.error_code) == ("failed", "damaged_original")
    assert house.document(document.document_id).state == "ready"
    assert len(await house.texts()) == 3
    assert house.parts.resymbolisation.outdated(ANN) == 1


async def test_cancelled_reading_leaves_the_document_as_it_was(house: House) -> None:
    document = await house.ingest(TEXT)
    house.cutter.hidden = ("falcon",)
    queued = await house.parts.resymbolisation.queue(ANN, document.document_id)
    await house.parts.ingestion.cancel(ANN, queued.jobs[0].job_id)
    await house.parts.worker.run_until_idle()
    assert house.document(document.document_id).state == "ready"
    assert len(await house.texts()) == 3


async def test_running_job_that_is_cancelled_leaves_the_document_as_it_was(house: House) -> None:
    document = await house.ingest(TEXT)
    house.cutter.hidden = ("falcon",)
    queued = await house.parts.resymbolisation.queue(ANN, document.document_id)
    with house.engine.begin() as connection:
        connection.execute(update(jobs).where(jobs.c.job_id == queued.jobs[0].job_id).values(cancel_requested=True))
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, queued.jobs[0].job_id).state == "cancelled"
    assert len(await house.texts()) == 3


async def test_who_may_have_documents_read_again(house: House) -> None:
    document = await house.ingest(TEXT, access={"user:ann"})
    with pytest.raises(NotPermittedError):
        await house.parts.resymbolisation.queue(BOB)
    with pytest.raises(UnknownDocumentError):
        await house.parts.resymbolisation.queue(BOB, document.document_id)
    with pytest.raises(UnknownDocumentError):
        await house.parts.resymbolisation.queue(EVE, document.document_id)
    house.cutter.hidden = ("falcon",)
    assert (await house.parts.resymbolisation.queue(EVE)).count == 0
    admin = Principal(tenant="acme", user="root", rights=frozenset({"admin"}))
    queued = await house.parts.resymbolisation.queue(admin)
    assert (queued.count, queued.jobs) == (1, ())
    reader = Principal(tenant="acme", user="ann", rights=frozenset({"search"}))
    with pytest.raises(NotPermittedError):
        await house.parts.resymbolisation.queue(reader, document.document_id)
