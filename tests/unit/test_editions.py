"""Versions of one line under random histories, against a model: one answer never mixes two of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from ingest.catalog import Catalog
from ingest.fakes import ManualClock, sqlite_engine
from ingest.lifecycle import Lifecycle
from ingest.tables import metadata
from ingest.types import Document, DocumentMeta
from retrieval.types import Principal

ANN = Principal(tenant="acme", user="ann")
DAYS = [date(year, 1, 1) for year in range(2020, 2026)]
"""First days of editions; the clock stands in October 2024."""
PROBES = [*[date(year, 1, 1) for year in range(2019, 2027)], date(2021, 12, 31)]

UPLOAD = st.tuples(st.just("upload"), st.none() | st.sampled_from(DAYS))
DELETE = st.tuples(st.just("delete"), st.integers(0, 9))
HISTORY = st.lists(UPLOAD | UPLOAD | UPLOAD | DELETE, max_size=12)


@dataclass
class Edition:
    """An edition of the model, and the days on which it is the one in force."""

    begins: date | None
    until: date | None = None
    document: str = ""


@dataclass
class Line:
    """What SPEC says of versions, as a list of editions in the order of their first days."""

    editions: list[Edition] = field(default_factory=list)

    def upload(self, edition: Edition) -> None:
        if edition.begins is None:
            # It corrects the edition without an end; else it comes after all that have one.
            last = [each for each in self.editions if each.until is None]
            self.editions = [each for each in self.editions if each.until is not None]
            ends = [each.until for each in self.editions if each.until is not None]
            edition.begins = last[0].begins if last else max(ends, default=None)
            self.editions.append(edition)
            return
        self.editions = [each for each in self.editions if each.begins != edition.begins]
        before = [each for each in self.editions if (each.begins or date.min) < edition.begins]
        after = [each for each in self.editions if (each.begins or date.min) > edition.begins]
        if before:
            before[-1].until = min(before[-1].until or edition.begins, edition.begins)
        if after:
            edition.until = after[0].begins
        self.editions = [*before, edition, *after]

    def in_force(self, day: date) -> set[str]:
        """Documents in force on a day."""
        found = [
            each.document
            for each in self.editions
            if (each.begins or date.min) <= day and (each.until is None or day < each.until)
        ]
        return set(found)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = sqlite_engine(tmp_path_factory.mktemp("editions"))
    yield engine
    engine.dispose()


def fresh(engine: Engine) -> tuple[Lifecycle, Catalog]:
    with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    clock = ManualClock()
    return Lifecycle(engine, clock=clock), Catalog(engine, clock=clock)


def upload(engine: Engine, lifecycle: Lifecycle, begins: date | None) -> Document:
    with engine.begin() as connection:
        meta = DocumentMeta(effective_from=begins)
        return lifecycle.register(connection, ANN, lifecycle.new_document_id(), "rules.txt", meta, 5)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=HISTORY)
def test_editions_one_line_shows_the_edition_of_the_day_and_never_two(
    engine: Engine, history: list[tuple[str, date | int | None]]
) -> None:
    lifecycle, catalog = fresh(engine)
    line, every = Line(), list[str]()
    for operation, value in history:
        if operation == "upload":
            assert not isinstance(value, int)
            document = upload(engine, lifecycle, value)
            assert lifecycle.switch(document.document_id)
            every.append(document.document_id)
            line.upload(Edition(value, document=document.document_id))
        elif line.editions:
            assert isinstance(value, int)
            gone = line.editions.pop(value % len(line.editions))
            with engine.begin() as connection:
                lifecycle.delete(connection, ANN, gone.document)
        for day in PROBES:
            assert catalog.live("acme", every, day) == line.in_force(day), day
        assert len(catalog.live("acme", every)) <= 1
    kept = {each.document_id for each in catalog.list(ANN)}
    assert kept == {each.document for each in line.editions}


@pytest.mark.parametrize("begins", [None, date(2024, 1, 1)])
def test_editions_failed_version_is_not_tried_again_beside_a_later_one(engine: Engine, begins: date | None) -> None:
    lifecycle, catalog = fresh(engine)
    old, new = upload(engine, lifecycle, begins), upload(engine, lifecycle, begins)
    with engine.begin() as connection:
        lifecycle.fail(connection, old.document_id, "parser_limit", "stopped")
    assert lifecycle.switch(new.document_id)
    with engine.begin() as connection:
        assert not lifecycle.reopen(connection, old.document_id)
    assert catalog.live("acme", [old.document_id, new.document_id]) == {new.document_id}


@pytest.mark.parametrize("begins", [None, date(2024, 1, 1)])
@pytest.mark.parametrize("later", [None, date(2024, 1, 1)])
def test_editions_version_that_comes_late_does_not_replace_a_later_one(
    engine: Engine, begins: date | None, later: date | None
) -> None:
    lifecycle, catalog = fresh(engine)
    old, new = upload(engine, lifecycle, begins), upload(engine, lifecycle, later)
    assert lifecycle.switch(new.document_id)
    stands = lifecycle.switch(old.document_id)
    # Without a date it has been in force until the later one was; else the later one corrects it.
    assert stands == (begins is None and later is not None)
    assert catalog.live("acme", [old.document_id, new.document_id]) == {new.document_id}
    before = catalog.live("acme", [old.document_id, new.document_id], date(2023, 1, 1))
    assert before == ({old.document_id} if stands else {new.document_id} if later is None else set())


def test_editions_say_from_when_a_later_one_takes_over(engine: Engine) -> None:
    lifecycle, catalog = fresh(engine)
    old, new = upload(engine, lifecycle, date(2023, 1, 1)), upload(engine, lifecycle, date(2024, 1, 1))
    for each in (old, new):
        assert lifecycle.switch(each.document_id)
    ids = [old.document_id, new.document_id]
    assert catalog.superseded_from("acme", ids) == {old.document_id: date(2024, 1, 1)}
    assert catalog.superseded_from("other", ids) == {}
    assert catalog.superseded_from("acme", []) == {}
