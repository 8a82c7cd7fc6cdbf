"""What a change of the pseudonym key waits for, whom it keeps out meanwhile, and where former names lead."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, update
from sqlalchemy.exc import IntegrityError

from ingest.catalog import select_documents
from ingest.errors import KeyChangingError
from ingest.fakes import ManualClock, ParagraphCutter, sqlite_engine
from ingest.jobs import Jobs
from ingest.lifecycle import Lifecycle
from ingest.name_gate import NameGate
from ingest.renames import Renames
from ingest.retrying import once_more
from ingest.rotation import Rotation
from ingest.tables import documents, jobs
from ingest.types import DocumentMeta
from ingest.vault import Vault
from retrieval.symbols.pseudonyms import erased, pseudonym
from retrieval.types import Principal

ANN = Principal(tenant="acme", user="ann")
GONE = erased("phone")
A, B, C = (pseudonym(bytes([number]) * 32, "phone", "13812345678") for number in range(3))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = sqlite_engine(tmp_path)
    yield engine
    engine.dispose()


class TwoRevisions(ParagraphCutter):
    """A cutter whose rules were edited, under a new key."""

    def revision(self, tenant: str) -> str:
        return "edited/newkey"


class NothingWaits:
    """Stands for the door to readings: no job waits."""

    def count_waiting(self, tenant: str) -> int:
        return 0


def rotation(engine: Engine, clock: ManualClock) -> Rotation:
    return Rotation(
        engine=engine,
        vault=Vault(engine, bytes(32)),
        renames=Renames(engine),
        resymbolisation=NothingWaits(),  # type: ignore[arg-type]
        cutter=TwoRevisions(),
        copies=(),
        clock=clock,
    )


def document(engine: Engine, clock: ManualClock, state: str, revision: str | None, tenant: str = "acme") -> str:
    lifecycle = Lifecycle(engine, clock=clock)
    document_id = lifecycle.new_document_id()
    who = ANN.model_copy(update={"tenant": tenant})
    with engine.begin() as connection:
        lifecycle.register(connection, who, document_id, f"{document_id}.txt", DocumentMeta(), 1)
        values = {"state": state, "symbols_revision": revision}
        connection.execute(update(documents).where(documents.c.document_id == document_id).values(values))
    return document_id


@pytest.mark.parametrize(
    ("state", "revision", "counted"),
    [
        ("ready", "edited/newkey", 0),
        ("ready", "rules/newkey", 0),  # outdated by an edit of rules alone
        ("ready", "rules/oldkey", 1),
        ("superseded", "edited/oldkey", 1),
        ("ready", None, 1),
        ("pending", "rules/newkey", 0),
        ("pending", "rules/oldkey", 1),
        ("pending", None, 1),
        ("failed", "rules/oldkey", 0),
    ],
)
def test_change_waits_for_what_needs_the_former_key(
    engine: Engine, state: str, revision: str | None, counted: int
) -> None:
    clock = ManualClock()
    document(engine, clock, state, revision)
    document(engine, clock, "ready", "rules/oldkey", tenant="other")
    change = rotation(engine, clock)
    change.changed()
    assert change.progress("acme").outdated == counted
    assert change.progress().outdated == counted + 1


@pytest.mark.parametrize(("state", "failed"), [("queued", 0), ("running", 0), ("failed", 1), ("cancelled", 1)])
def test_document_on_its_way_in_is_no_failed_one(engine: Engine, state: str, failed: int) -> None:
    clock = ManualClock()
    document_id = document(engine, clock, "pending", None)
    with engine.begin() as connection:
        (found,) = select_documents(connection, documents.c.document_id == document_id)
        job = Jobs(engine, clock=clock).add(connection, found, "")
        connection.execute(update(jobs).where(jobs.c.job_id == job.job_id).values(state=state))
    change = rotation(engine, clock)
    change.changed()
    assert (change.progress().outdated, change.progress().failed) == (1, failed)


def test_change_does_not_wait_for_what_comes_in_after_it(engine: Engine) -> None:
    clock = ManualClock()
    change = rotation(engine, clock)
    change.changed()
    document(engine, clock, "pending", None)
    assert change.progress().done


async def test_gate_refuses_while_names_are_made_and_waits_for_who_is_inside() -> None:
    gate = NameGate()
    async with gate.passing():
        closing_it = asyncio.create_task(gate.close())
        await asyncio.sleep(0)
        assert not closing_it.done()
        with pytest.raises(KeyChangingError):
            async with gate.passing():
                raise AssertionError("nobody gets in")
    await closing_it
    gate.open()
    async with gate.passing():
        assert gate.is_open


def test_former_names_lead_to_the_present_one(engine: Engine) -> None:
    renames = Renames(engine)
    renames.add("acme", {A: B})
    renames.add("acme", {B: C})
    assert renames.present("acme", [A, B, C]) == {A: C, B: C}


def test_a_key_that_comes_back_is_the_present_one(engine: Engine) -> None:
    renames = Renames(engine)
    renames.add("acme", {A: B})
    renames.add("acme", {B: A})
    assert renames.present("acme", [A, B]) == {B: A}


@pytest.mark.parametrize("erased_ones", [{A}, {B}, {A, B}])
def test_no_name_of_an_erased_value_leads_to_a_value_again(engine: Engine, erased_ones: set[str]) -> None:
    renames = Renames(engine)
    renames.add("acme", dict.fromkeys(erased_ones, GONE))
    renames.add("acme", {A: B})
    assert renames.present("acme", [A])[A] == GONE
    assert renames.rename("acme", f"call {A}") == f"call {GONE}"


def test_two_processes_may_note_the_same_name_at_once(tmp_path: Path, engine: Engine) -> None:
    other = [True]

    def comes_in_between(*args: object) -> None:
        if other and str(args[2]).startswith("INSERT INTO pseudonym_renames"):
            other.clear()
            with closing(sqlite3.connect(tmp_path / "ingest.db")) as database, database:
                database.execute("INSERT INTO pseudonym_renames (tenant, old, new) VALUES ('acme', ?, ?)", (A, B))

    event.listen(engine, "before_cursor_execute", comes_in_between)
    renames = Renames(engine)
    renames.add("acme", {A: B})
    assert not other
    assert renames.present("acme", [A]) == {A: B}


def test_write_that_fails_twice_is_told() -> None:
    def write() -> None:
        raise IntegrityError("", None, ValueError())

    with pytest.raises(IntegrityError):
        once_more(write)
