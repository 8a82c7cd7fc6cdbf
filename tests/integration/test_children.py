"""Documents found inside documents: their rows, versions, deletes and failures, over a crash too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from ingest.assembly import IngestParts, assemble
from ingest.fakes import InProcessParsers, ManualClock, ParagraphCutter, parcel, parcel_of
from ingest.settings import IngestSettings, ParserSettings
from ingest.tables import metadata
from ingest.types import Document, DocumentMeta, Job
from retrieval.encoder import ModelThread
from retrieval.fakes import HashEncoder
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.types import ALL_RIGHTS, Principal, Scope

ANN = Principal(tenant="acme", user="ann", rights=ALL_RIGHTS)
BOB = Principal(tenant="acme", user="bob", rights=ALL_RIGHTS)
EVE = Principal(tenant="other", user="ann", rights=ALL_RIGHTS)
KEY = bytes(range(32))
PASSWORD = "correct horse battery"


@dataclass
class House:
    engine: Engine
    folder: Path
    store: InMemoryVectorStore
    parsers: InProcessParsers
    parts: IngestParts

    async def submit(self, content: str, source: str = "m", password: str | None = None, **meta: Any) -> Job:
        async def pieces() -> AsyncIterator[bytes]:
            yield content.encode("utf-8", "surrogateescape")

        given = DocumentMeta.model_validate(meta)
        return await self.parts.ingestion.submit(ANN, source, pieces(), given, password=password)

    async def ingest(self, content: str, source: str = "m", password: str | None = None, **meta: Any) -> Job:
        job = await self.submit(content, source, password, **meta)
        await self.parts.worker.run_until_idle()
        return self.parts.ingestion.get_job(ANN, job.job_id)

    def documents(self, *, states: Any = ("ready",), **filters: Any) -> dict[str, Document]:
        found = self.parts.ingestion.list_documents(ANN, states=states, limit=500, **filters)
        assert len({each.source for each in found}) == len(found)
        return {each.source: each for each in found}

    def all(self) -> list[tuple[str, int, str]]:
        found = self.parts.ingestion.list_documents(ANN, limit=500)
        return sorted((each.source, each.version, each.state) for each in found)

    async def texts(self, who: Principal = ANN) -> list[str]:
        chunks = [chunk async for batch in self.store.scan(Scope.of(who)) for chunk in batch]
        live = self.parts.catalog.live(who.tenant, {chunk.document_id for chunk in chunks})
        return sorted(chunk.text for chunk in chunks if chunk.document_id in live)

    def originals(self) -> list[str]:
        return sorted(path.stem for path in self.folder.rglob("*.original"))

    def plain_files(self) -> list[Path]:
        scratch = self.folder / "scratch"
        return [path for path in scratch.rglob("*") if path.is_file() and path.suffix != ".lock"]

    def notes(self, document_id: str) -> tuple[str, ...]:
        report = self.parts.ingestion.get_report(ANN, document_id)
        assert report is not None
        return report.notes


@pytest.fixture
async def build(engine: Engine, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    encoder, thread, store = HashEncoder(dim=16), ModelThread("encoder"), InMemoryVectorStore()
    await store.open(encoder.info)
    parts: list[IngestParts] = []
    clock = ManualClock()

    def build_one(parser: dict[str, Any] | None = None, **settings: Any) -> House:
        parsers = InProcessParsers()
        built = assemble(
            engine=engine,
            folder=tmp_path / "originals",
            key=KEY,
            parsers=parsers,
            cutter=ParagraphCutter(),
            encoder=encoder,
            encoder_thread=thread,
            store=store,
            settings=IngestSettings(parser=ParserSettings(**(parser or {})), **settings),
            clock=clock,
            poll_s=0.01,
            retry_delay_s=lambda _attempt: 0.0,
        )
        parts.append(built)
        return House(engine, tmp_path / "originals", store, parsers, built)

    yield build_one
    for each in parts:
        each.close()
    thread.close()


@pytest.fixture
def house(build: Callable[..., House]) -> House:
    return build()


async def test_children_are_documents_of_their_own(house: House) -> None:
    mail = parcel_of("hello", [("a.txt", "alpha"), ("b.txt", "beta\n\nmore beta")])
    meta = {"title": "Mail", "issuer": "Acme", "authority": "official", "labels": {"hr"}, "access": {"user:ann"}}
    job = await house.ingest(mail, **meta, effective_from=date(2024, 1, 1), language="en")
    assert job.state == "succeeded"
    documents = house.documents()
    assert sorted(documents) == ["m", "m/a.txt", "m/b.txt"]
    child = documents["m/b.txt"]
    assert (child.parent_id, documents["m"].parent_id) == (job.document_id, None)
    assert (child.chunk_count, child.version, child.title) == (2, 1, "m/b.txt")
    inherited = (child.meta.issuer, child.meta.authority, child.meta.labels, child.meta.access)
    assert inherited == ("Acme", "official", {"hr"}, {"user:ann"})
    assert (child.meta.effective_from, child.meta.title, child.meta.language) == (date(2024, 1, 1), None, None)
    assert sorted(house.documents(parent_id=job.document_id)) == ["m/a.txt", "m/b.txt"]
    assert await house.texts() == ["alpha", "beta", "hello", "more beta"]
    assert await house.texts(BOB) == []
    assert house.parts.ingestion.list_documents(EVE, parent_id=job.document_id) == []
    assert len(house.originals()) == 3
    assert house.plain_files() == []
    assert not any(folder.exists() for folder in house.parsers.folders)


async def test_children_names_are_text_and_doubles_are_numbered(house: House) -> None:
    names = [
        "../../etc/x",
        "/etc/x",
        "C:\\docs\\y.txt",
        "z.txt",
        "z.txt",
        "z.txt",
        "a\x00b\u202egpj.txt",
        "..",
        "n" * 4000,
    ]
    await house.ingest(parcel_of("hello", [(name, f"text {at}") for at, name in enumerate(names)]))
    sources = set(house.documents())
    expected = {"m", "m/etc/x", "m/etc/x (2)", "m/C:/docs/y.txt", "m/z.txt", "m/z (2).txt", "m/z (3).txt"}
    assert expected | {"m/a_b_gpj~6685ec0e.txt", "m/unnamed"} <= sources
    assert len(sources) == len(names) + 1
    assert max(map(len, sources)) == 255
    outside = [path for path in house.folder.parent.rglob("*") if path.name in {"x", "y.txt", "z.txt"}]
    assert outside == []


async def test_children_of_the_same_bytes_are_unchanged_and_of_others_new_versions(house: House) -> None:
    first = await house.ingest(parcel_of("one", [("same", "same"), ("changed", "old"), ("gone", "gone")]))
    before = house.documents()
    second = await house.ingest(parcel_of("two", [("same", "same"), ("changed", "new"), ("added", "added")]))
    assert second.outcome == "new_version"
    after = house.documents()
    assert sorted(after) == ["m", "m/added", "m/changed", "m/same"]
    assert after["m/same"].document_id == before["m/same"].document_id
    assert (after["m/changed"].version, after["m/added"].version) == (2, 1)
    assert {each.parent_id for name, each in after.items() if name != "m"} == {second.document_id}
    assert await house.texts() == ["added", "new", "same", "two"]
    assert sorted(house.originals()) == sorted(each.document_id for each in after.values())
    assert first.document_id not in house.originals()
    assert len(house.store._points) == 4
    again = await house.ingest(parcel_of("two", [("same", "same"), ("changed", "new"), ("added", "added")]))
    assert again.outcome == "unchanged"
    assert house.documents() == after


async def test_children_of_a_later_edition_supersede_and_those_without_one_end_with_it(house: House) -> None:
    await house.ingest(parcel_of("one", [("a", "a one"), ("gone", "gone")]), effective_from=date(2024, 1, 1))
    await house.ingest(parcel_of("two", [("a", "a two")]), effective_from=date(2024, 7, 1))
    chunks = {chunk.document_id: chunk.text async for batch in house.store.scan(Scope.of(ANN)) for chunk in batch}

    def seen(day: date) -> list[str]:
        return sorted(chunks[each] for each in house.parts.catalog.live("acme", set(chunks), day))

    assert seen(date(2024, 3, 1)) == ["a one", "gone", "one"]
    assert seen(date(2024, 8, 1)) == ["a two", "two"]
    # An edition that comes between the two only later.
    await house.ingest(parcel_of("mid", [("b", "b mid")]), effective_from=date(2024, 4, 1))
    chunks |= {chunk.document_id: chunk.text async for batch in house.store.scan(Scope.of(ANN)) for chunk in batch}
    assert seen(date(2024, 3, 1)) == ["a one", "gone", "one"]
    assert seen(date(2024, 8, 1)) == ["a two", "two"]


async def test_an_upload_and_a_child_of_one_name_are_two_lines(house: House) -> None:
    own = await house.ingest("mine", "m/a.txt")
    failed = await house.ingest("\udcff", "m/b.txt")
    mail = await house.ingest(parcel("hello", **{"a.txt": "theirs", "b.txt": "beta"}))
    assert (own.outcome, failed.state, mail.state) == ("new", "failed", "succeeded")
    assert await house.texts() == ["beta", "hello", "mine", "theirs"]
    found = house.parts.ingestion.list_documents(ANN, source="m/a.txt")
    assert {(each.parent_id, each.version, each.state) for each in found} == {
        (None, 1, "ready"),
        (mail.document_id, 2, "ready"),
    }
    for each in found:
        assert house.parts.ingestion.list_versions(ANN, each.document_id) == [each]
    # A failed upload waits for its retry, whatever an archive holds.
    failures = house.parts.ingestion.list_documents(ANN, states=("failed",))
    assert [(each.source, each.version) for each in failures] == [("m/b.txt", 1)]
    # The next versions follow each in its own line.
    assert (await house.ingest("mine, again", "m/a.txt")).outcome == "new_version"
    await house.ingest(parcel("hello", **{"a.txt": "theirs, again"}))
    assert await house.texts() == ["hello", "mine, again", "theirs, again"]
    await house.parts.ingestion.delete(ANN, house.documents(source="m")["m"].document_id)
    assert await house.texts() == ["mine, again"]


async def test_secrets_in_names_of_children_are_pseudonyms_and_no_name_stays_after_a_delete(
    house: House, engine: Engine
) -> None:
    inside = [("secret:phone/secret:mail.txt", "alpha"), ("secret:odd.bin", b"%UNSUPPORTED"), ("plain.txt", "beta")]
    job = await house.ingest(parcel_of("hello", [*inside, ("secret:cal.ics", "BEGIN:VCALENDAR\nEND:VCALENDAR")]))
    assert sorted(house.documents()) == ["m", "m/[SECRET_enohp]/[SECRET_liam].txt", "m/plain.txt"]
    assert house.notes(job.document_id) == (
        "[SECRET_lac].ics was not read: it is a calendar entry",
        "[SECRET_ddo].bin was not read: this is of no use; supported is text",
    )
    everything = _everything(engine)
    assert not any(word in everything for word in ("phone", "mail", "odd.bin", "secret:"))
    vault = house.parts.vault
    assert vault.reveal(ANN, "[SECRET_enohp]", "a test") == "phone"
    await house.ingest("stays", "other")
    # The next version of the parent finds them under the same names.
    await house.ingest(parcel_of("hello again", inside))
    assert (await house.texts(), vault.reveal(ANN, "[SECRET_liam]", "a test")) == (
        ["alpha", "beta", "hello again", "stays"],
        "mail",
    )
    await house.parts.ingestion.delete(ANN, house.documents()["m"].document_id)
    everything = _everything(engine)
    assert not any(word in everything for word in ("enohp", "liam", "ddo", "lac", "plain", "alpha")), everything
    # Names that the uploader gave stay.
    assert {each.source for each in house.parts.ingestion.list_jobs(ANN)} >= {"m", "other"}
    tombstones = house.parts.ingestion.list_documents(ANN, states=("deleted",))
    assert {each.source == each.document_id for each in tombstones if each.parent_id is not None} == {True}
    assert {each.source for each in tombstones if each.parent_id is None} == {"m"}


def _everything(engine: Engine) -> str:
    """All rows of documents, their access and jobs, as text."""
    with engine.connect() as connection:
        return "\n".join(
            str(row)
            for table in ("documents", "document_access", "jobs")
            for row in connection.execute(metadata.tables[table].select())
        )


async def test_children_go_with_their_parent(house: House) -> None:
    inner = parcel("inner", deep="deep")
    job = await house.ingest(parcel_of("hello", [("in", inner), ("b", "beta")]), password=PASSWORD)
    other = await house.ingest("stays", "other")
    assert len(list(house.folder.rglob("*.password"))) == 4
    receipt = await house.parts.ingestion.delete(ANN, job.document_id)
    assert (receipt.deleted_chunks, receipt.deleted_children) == (4, 3)
    assert set(receipt.left.values()) == {0}
    assert house.originals() == [other.document_id]
    assert list(house.folder.rglob("*.password")) == []
    assert house.all() == [("other", 1, "ready")]
    assert len(house.store._points) == 1
    again = await house.parts.ingestion.delete(ANN, job.document_id)
    assert (again.deleted_chunks, again.deleted_children) == (0, 0)
    # F6: the same again is new.
    await house.ingest(parcel_of("hello", [("in", inner), ("b", "beta")]))
    assert await house.texts() == ["beta", "deep", "hello", "inner", "stays"]


async def test_a_child_can_be_deleted_alone(house: House) -> None:
    job = await house.ingest(parcel("hello", a="alpha", b="beta"))
    child = house.documents()["m/a"]
    receipt = await house.parts.ingestion.delete(ANN, child.document_id)
    assert (receipt.deleted_chunks, receipt.deleted_children) == (1, 0)
    assert sorted(house.documents()) == ["m", "m/b"]
    receipt = await house.parts.ingestion.delete(ANN, job.document_id)
    assert receipt.deleted_children == 1
    assert house.originals() == []


async def test_a_child_that_fails_leaves_its_parent_and_is_tried_again_with_it(house: House) -> None:
    mail = parcel_of("hello", [("bad.txt", b"\xff\xfe\xfa"), ("good.txt", "good")])
    job = await house.ingest(mail)
    assert job.state == "succeeded"
    assert house.all() == [("m", 1, "ready"), ("m/bad.txt", 1, "failed"), ("m/good.txt", 1, "ready")]
    parsed = len(house.parsers.parsed)
    again = await house.ingest(mail)
    assert again.outcome == "unchanged"
    assert house.parsers.parsed[parsed:] == ["m/bad.txt"]
    # F8: the next version mends it.
    await house.ingest(parcel_of("hello", [("bad.txt", "mended"), ("good.txt", "good")]))
    assert house.all() == [("m", 2, "ready"), ("m/bad.txt", 2, "ready"), ("m/good.txt", 1, "ready")]
    assert len(house.originals()) == 3


async def test_a_child_that_nobody_reads_is_noted_and_leaves_nothing(house: House) -> None:
    calendar = "BEGIN:VCALENDAR\nEND:VCALENDAR"
    inside = [("odd.bin", b"%UNSUPPORTED"), ("logo.png", b"\x89PNG\r\n\x1a\n" + b" " * 40), ("meet.ics", calendar)]
    job = await house.ingest(parcel_of("hello", [*inside, ("a.txt", "alpha")]))
    assert house.all() == [("m", 1, "ready"), ("m/a.txt", 1, "ready"), ("m/logo.png", 1, "failed")]
    notes = house.notes(job.document_id)
    assert "meet.ics was not read: it is a calendar entry" in notes
    assert "odd.bin was not read: this is of no use; supported is text" in notes
    noted = [each for each in house.parts.ingestion.list_jobs(ANN) if each.outcome == "noted"]
    assert [(each.state, each.document_id) for each in noted] == [("succeeded", job.document_id)]


async def test_a_picture_without_text_is_noted(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.children._PICTURES", (b"  ",))
    job = await house.ingest(parcel_of("hello", [("logo", "  \n"), ("blank", "\n\n")]))
    assert house.all() == [("m", 1, "ready"), ("m/blank", 1, "failed")]
    assert house.notes(job.document_id) == ("logo was not read: 'm/logo': no text",)


async def test_a_child_that_turns_unreadable_takes_its_former_version_with_it(house: House) -> None:
    await house.ingest(parcel_of("one", [("a", parcel("alpha", deep="deep"))]))
    await house.ingest(parcel_of("two", [("a", b"%UNSUPPORTED")]))
    assert house.all() == [("m", 2, "ready")]
    assert await house.texts() == ["two"]
    assert len(house.originals()) == 1


async def test_children_are_taken_out_down_to_the_third_depth(house: House) -> None:
    nested = "at the bottom"
    for number in range(6, 0, -1):
        nested = parcel_of(f"level {number}", [("in", nested)])
    await house.ingest(nested)
    assert sorted(house.documents()) == ["m", "m/in", "m/in/in", "m/in/in/in"]


async def test_children_of_one_upload_are_limited_in_number_and_bytes(build: Callable[..., House]) -> None:
    house = build({"max_attachments": 4})
    bomb = parcel_of("inner", [(f"{number}", "x") for number in range(3)])
    job = await house.ingest(parcel_of("hello", [("a", bomb), ("b", "beta")]))
    assert job.state == "succeeded"
    assert house.all() == [("m", 1, "ready"), ("m/a", 1, "failed"), ("m/b", 1, "ready")]
    failed = house.documents(states=("failed",))["m/a"]
    assert failed.error_code == "document_too_large"
    house = build({"max_attachments_bytes": 10})
    job = await house.ingest(parcel_of("hello", [("a", "x" * 6), ("b", "y" * 6)]), "n")
    assert (job.state, job.error_code) == ("failed", "document_too_large")


async def test_a_failed_parent_has_no_children_and_leaves_no_originals(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.ingest(parcel("hello", a="old"))
    monkeypatch.setattr(house.parts.worker._pipeline._encoding, "encode", _broken)
    job = await house.ingest(parcel("hello", a="new", b="beta"))
    assert job.state == "failed"
    assert await house.texts() == ["hello", "old"]
    # Kept for a retry, and gone when the failed version gives way.
    assert len(house.originals()) == 5
    monkeypatch.undo()
    await house.ingest(parcel("hello", c="gamma"))
    assert await house.texts() == ["gamma", "hello"]
    assert len(house.originals()) == 2


async def _broken(group: object) -> None:
    raise RuntimeError("broken")


async def test_cancelling_a_parent_removes_what_was_stored_of_its_children(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = house.parts.worker._pipeline._children.store

    def cancelled_after(*arguments: Any) -> Any:
        stored = store(*arguments)
        asyncio.run(house.parts.ingestion.cancel(ANN, job.job_id))
        return stored

    monkeypatch.setattr(house.parts.worker._pipeline._children, "store", cancelled_after)
    job = await house.submit(parcel("hello", a="alpha", b="beta"))
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, job.job_id).state == "cancelled"
    assert (house.originals(), house.all()) == ([], [])


@pytest.mark.parametrize("step", ["store", "register", "switched"])
async def test_children_are_neither_lost_nor_doubled_by_a_crash(
    build: Callable[..., House], engine: Engine, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that dies at a step, its temporary files and all; another takes over."""
    dying = build()
    content = parcel_of("hello", [("a", "alpha"), ("b", parcel("beta", deep="deep")), ("odd", b"%UNSUPPORTED")])
    pipeline = dying.parts.worker._pipeline
    owner, name = {
        "store": (pipeline._children, "_store"),
        "register": (pipeline._children, "register"),
        "switched": (pipeline._lifecycle, "unpurged"),
    }[step]
    calls = 0
    original = getattr(owner, name)

    def die(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2 or step == "switched":
            raise _Death
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, die)
    await dying.submit(content)
    with contextlib.suppress(_Death):
        while (claim := dying.parts.worker._leases.claim("dead worker")) is not None:
            await pipeline.run(claim)
    assert calls == (1 if step == "switched" else 2)
    house = build()
    with engine.begin() as connection:
        connection.execute(metadata.tables["jobs"].update().values(lease_until=None))
    await house.parts.worker.run_until_idle()
    assert house.all() == [("m", 1, "ready"), ("m/a", 1, "ready"), ("m/b", 1, "ready"), ("m/b/deep", 1, "ready")]
    assert await house.texts() == ["alpha", "beta", "deep", "hello"]
    assert len(house.store._points) == 4
    assert len(house.originals()) == 4
    jobs = house.parts.ingestion.list_jobs(ANN)
    assert sorted(job.state for job in jobs) == ["succeeded"] * 5


class _Death(BaseException):
    """Ends a worker in the midst of a step."""


async def test_a_password_is_kept_sealed_used_for_children_and_deleted(house: House, engine: Engine) -> None:
    locked = parcel_of("locked", [], PASSWORD)
    mail = parcel_of("hello", [("in", locked)])
    job = await house.ingest(mail, password=PASSWORD)
    assert sorted(house.documents()) == ["m", "m/in"]
    files = [path for path in house.folder.parent.rglob("*") if path.is_file()]
    database = Path(str(engine.url.database))
    for path in [*files, database, database.with_name(database.name + "-wal")]:
        assert PASSWORD.encode() not in path.read_bytes(), path
    shown = [job, house.documents(), house.notes(job.document_id)]
    assert PASSWORD not in repr(shown)
    await house.parts.ingestion.delete(ANN, job.document_id)
    assert list(house.folder.rglob("*.password")) == []


async def test_a_wrong_password_fails_with_its_code_and_a_retry_may_bring_the_right_one(house: House) -> None:
    locked = parcel_of("locked", [], PASSWORD)
    job = await house.ingest(locked)
    assert (job.state, job.error_code) == ("failed", "encrypted_document")
    again = await house.ingest(locked, password="wrong")
    assert (again.state, again.error_code) == ("failed", "encrypted_document")
    assert "wrong" not in repr(again).replace("missing or wrong", "")
    await house.parts.ingestion.retry(ANN, again.job_id, password=PASSWORD)
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, again.job_id).state == "succeeded"
    assert house.all() == [("m", 2, "ready")]


async def test_the_same_bytes_again_with_a_password_open_what_failed_inside(house: House) -> None:
    locked = parcel_of("locked", [("deep", parcel_of("deep", [], PASSWORD))], PASSWORD)
    mail = parcel_of("hello", [("in", locked), ("open", parcel("open", shut=parcel_of("shut", [], PASSWORD)))])
    job = await house.ingest(mail)
    assert [source for source, _, state in house.all() if state == "failed"] == ["m/in", "m/open/shut"]
    for password, texts in (("wrong", ["hello", "open"]), (PASSWORD, ["deep", "hello", "locked", "open", "shut"])):
        again = await house.ingest(mail, password=password)
        assert (again.outcome, again.document_id) == ("unchanged", job.document_id)
        assert await house.texts() == texts
    await house.parts.ingestion.delete(ANN, job.document_id)
    assert list(house.folder.rglob("*.password")) == []


async def test_the_same_bytes_again_do_not_replace_the_password_that_opened_them(house: House) -> None:
    locked = parcel_of("locked", [], PASSWORD)
    job = await house.ingest(locked, password=PASSWORD)
    assert (await house.ingest(locked, password="wrong")).outcome == "unchanged"
    assert house.parts.originals.password("acme", job.document_id) == PASSWORD


async def test_passwords_of_two_documents_are_sealed_apart(house: House) -> None:
    one = await house.submit("one", "one", PASSWORD)
    two = await house.submit("two", "two", PASSWORD)
    sealed = [next(house.folder.rglob(f"{each.document_id}.password")) for each in (one, two)]
    assert sealed[0].read_bytes() != sealed[1].read_bytes()
    sealed[0].write_bytes(sealed[1].read_bytes())
    await house.parts.worker.run_until_idle()
    assert house.parts.ingestion.get_job(ANN, one.job_id).error_code == "damaged_original"
    assert house.parts.ingestion.get_job(ANN, two.job_id).state == "succeeded"


async def test_a_document_below_the_policy_is_warned_of_or_rejected_and_the_old_version_stays(
    build: Callable[..., House],
) -> None:
    garbled = "secret:phone \ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"
    lenient = build()
    first = await lenient.ingest("fine")
    warned = await lenient.ingest(garbled)
    assert (warned.state, len(warned.warnings)) == ("succeeded", 1)
    assert lenient.documents()["m"].warnings == warned.warnings
    assert first.warnings == ()
    strict = build(admission="reject")
    await strict.ingest("fine again", "n")
    rejected = await strict.ingest(parcel(garbled, a="alpha"), "n")
    assert (rejected.state, rejected.error_code, rejected.children) == ("failed", "admission_rejected", 0)
    assert rejected.error is not None
    assert "50% of its characters are garbled, the most is 30%" in rejected.error
    assert strict.all() == [("m", 2, "ready"), ("n", 1, "ready"), ("n", 2, "failed")]
    assert len(strict.store._points) == 2
    assert "fine again" in await strict.texts()


async def test_chunks_staged_under_a_lenient_policy_go_when_a_strict_one_rejects(
    build: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    lenient = build()
    monkeypatch.setattr(lenient.parts.worker._pipeline, "finish", _broken)
    job = await lenient.ingest("secret:phone \ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd")
    assert (job.state, len(lenient.store._points)) == ("failed", 1)
    strict = build(admission="reject")
    await strict.parts.ingestion.retry(ANN, job.job_id)
    await strict.parts.worker.run_until_idle()
    assert strict.parts.ingestion.get_job(ANN, job.job_id).error_code == "admission_rejected"
    assert len(strict.store._points) == 0
    assert strict.parts.vault.count("acme", job.document_id) == 0


async def test_deleting_a_parent_stops_the_jobs_of_children_that_wait(house: House) -> None:
    job = await house.submit(parcel("hello", a="alpha", b="beta"))
    claim = house.parts.worker._leases.claim("one")
    assert claim is not None
    await house.parts.worker._pipeline.run(claim)
    assert len(house.documents(states=("pending",))) == 2
    receipt = await house.parts.ingestion.delete(ANN, job.document_id)
    assert receipt.deleted_children == 2
    await house.parts.worker.run_until_idle()
    assert (house.parsers.parsed, house.all(), house.originals()) == (["m"], [], [])
    states = {each.state for each in house.parts.ingestion.list_jobs(ANN) if each.document_id != job.document_id}
    assert states == {"cancelled"}


async def test_a_new_version_waits_for_the_child_that_is_at_work(house: House) -> None:
    """The first version's child is still to be done when the second version is ready."""
    await house.submit(parcel("one", a="old", gone="gone"))
    claim = house.parts.worker._leases.claim("one")
    assert claim is not None
    await house.parts.worker._pipeline.run(claim)
    second = await house.ingest(parcel("two", a="new"))
    assert second.state == "succeeded"
    assert await house.texts() == ["new", "two"]
    assert house.all() == [("m", 2, "ready"), ("m/a", 2, "ready")]
    assert len(house.originals()) == 2
