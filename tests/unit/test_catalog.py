"""Documents, versions, access and liveness."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import Engine

from ingest.catalog import Catalog
from ingest.errors import UnknownDocumentError
from ingest.fakes import ManualClock, sqlite_engine
from ingest.lifecycle import Lifecycle
from ingest.types import Document, DocumentMeta
from retrieval.types import Principal

ANN = Principal(tenant="acme", user="ann")
BOB = Principal(tenant="acme", user="bob", groups=frozenset({"finance"}))
EVE = Principal(tenant="other", user="ann")


class House:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.clock = ManualClock()
        self.catalog = Catalog(engine, clock=self.clock)
        self.lifecycle = Lifecycle(engine, clock=self.clock)

    def pending(self, who: Principal = ANN, source: str = "a.txt", **meta: object) -> Document:
        with self.engine.begin() as connection:
            return self.lifecycle.register(
                connection, who, self.lifecycle.new_document_id(), source, DocumentMeta.model_validate(meta), 5
            )

    def ready(self, who: Principal = ANN, source: str = "a.txt", **meta: object) -> Document:
        document = self.pending(who, source, **meta)
        assert self.lifecycle.switch(document.document_id)
        return self.lifecycle.load(document.document_id)

    def fail(self, document_id: str, code: str, message: str) -> None:
        with self.engine.begin() as connection:
            self.lifecycle.fail(connection, document_id, code, message)

    def delete(self, who: Principal, document_id: str) -> Document:
        with self.engine.begin() as connection:
            return self.lifecycle.delete(connection, who, document_id)

    def record_hash(self, document_id: str, content_hash: str) -> None:
        with self.engine.begin() as connection:
            self.lifecycle.record_hash(connection, document_id, content_hash)

    def state(self, document: Document) -> str:
        return self.lifecycle.load(document.document_id).state

    def live(self, *documents: Document, as_of: date | None = None) -> set[str]:
        return self.catalog.live("acme", [each.document_id for each in documents], as_of)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    engine = sqlite_engine(tmp_path)
    yield House(engine)
    engine.dispose()


@pytest.mark.parametrize("stranger", [EVE, Principal(tenant="acme", user="carl")])
def test_catalog_answers_a_stranger_like_a_missing_document(house: House, stranger: Principal) -> None:
    document = house.ready(access={"group:finance"})
    assert house.catalog.get(BOB, document.document_id).state == "ready"
    with pytest.raises(UnknownDocumentError) as theirs:
        house.catalog.get(stranger, document.document_id)
    with pytest.raises(UnknownDocumentError) as missing:
        house.catalog.get(stranger, "0" * 32)
    assert str(theirs.value).replace(document.document_id, "0" * 32) == str(missing.value)
    assert house.catalog.list(stranger) == []
    with pytest.raises(UnknownDocumentError):
        house.delete(stranger, document.document_id)


def test_catalog_shows_the_uploader_an_upload_that_admits_nobody(house: House) -> None:
    document = house.ready(access=set())
    assert [each.document_id for each in house.catalog.list(ANN)] == [document.document_id]
    assert house.catalog.list(BOB) == []


def test_catalog_pages_cover_every_document_once(house: House) -> None:
    made = [house.ready(source=f"{n}.txt").document_id for n in range(7)]
    seen: list[str] = []
    while page := house.catalog.list(ANN, limit=3, offset=len(seen)):
        seen += [each.document_id for each in page]
    assert seen == made[::-1]


def test_catalog_counts_versions_per_line(house: House) -> None:
    first, second = house.ready(), house.ready()
    other_name, other_user = house.ready(source="b.txt"), house.ready(BOB)
    assert [each.version for each in (first, second, other_name, other_user)] == [1, 2, 1, 1]
    assert house.state(first) == "deleted"
    assert {house.state(each) for each in (second, other_name, other_user)} == {"ready"}


def test_catalog_knowledge_version_moves_with_switch_and_delete_per_tenant(house: House) -> None:
    assert house.catalog.knowledge_version("acme") == 0
    document = house.pending()
    assert house.catalog.knowledge_version("acme") == 0
    house.lifecycle.switch(document.document_id)
    assert house.catalog.knowledge_version("acme") == 1
    house.lifecycle.switch(document.document_id)
    assert house.catalog.knowledge_version("acme") == 1
    house.delete(ANN, document.document_id)
    house.delete(ANN, document.document_id)
    assert house.catalog.knowledge_version("acme") == 2
    assert house.catalog.knowledge_version("other") == 0


def test_catalog_live_excludes_pending_failed_deleted_and_foreign(house: House) -> None:
    ready, pending = house.ready(source="r"), house.pending(source="p")
    failed, deleted, foreign = house.pending(source="f"), house.ready(source="d"), house.ready(EVE, source="x")
    house.fail(failed.document_id, "no_text", "nothing")
    house.delete(ANN, deleted.document_id)
    assert house.live(ready, pending, failed, deleted, foreign) == {ready.document_id}
    assert house.catalog.live("acme", []) == set()


def test_catalog_later_edition_supersedes_and_the_old_one_stays_live_as_of_its_time(house: House) -> None:
    old = house.ready(effective_from=date(2023, 1, 1))
    new = house.ready(effective_from=date(2024, 1, 1))
    assert (house.state(old), house.state(new)) == ("superseded", "ready")
    assert house.live(old, new) == {new.document_id}
    assert house.live(old, new, as_of=date(2023, 12, 31)) == {old.document_id}
    assert house.live(old, new, as_of=date(2024, 1, 1)) == {new.document_id}


def test_catalog_edition_of_the_future_is_not_live_before_its_day(house: House) -> None:
    old = house.ready(effective_from=date(2024, 1, 1))
    new = house.ready(effective_from=date(2025, 1, 1))
    assert house.live(old, new) == {old.document_id}
    house.clock.advance(100 * 24 * 3600)
    assert house.live(old, new) == {new.document_id}


def test_catalog_same_dates_correct_in_the_middle_of_the_line(house: House) -> None:
    first = house.ready(effective_from=date(2022, 1, 1))
    middle = house.ready(effective_from=date(2023, 1, 1))
    last = house.ready(effective_from=date(2024, 1, 1))
    better = house.ready(effective_from=date(2023, 1, 1))
    assert [house.state(each) for each in (first, middle, last, better)] == [
        "superseded",
        "deleted",
        "ready",
        "superseded",
    ]
    every = (first, middle, last, better)
    assert house.live(*every, as_of=date(2022, 6, 1)) == {first.document_id}
    assert house.live(*every, as_of=date(2023, 6, 1)) == {better.document_id}
    assert house.live(*every) == {last.document_id}


def test_catalog_undated_correction_keeps_the_time_of_the_one_it_corrects(house: House) -> None:
    old = house.ready(effective_from=date(2023, 1, 1))
    dated = house.ready(effective_from=date(2024, 1, 1))
    undated = house.ready()
    assert (house.state(old), house.state(dated), house.state(undated)) == ("superseded", "deleted", "ready")
    assert house.live(old, dated, undated, as_of=date(2023, 6, 1)) == {old.document_id}
    assert house.live(old, dated, undated) == {undated.document_id}


def test_catalog_deleting_an_edition_does_not_bring_the_older_one_back(house: House) -> None:
    old = house.ready(effective_from=date(2022, 1, 1))
    new = house.ready(effective_from=date(2023, 1, 1))
    house.delete(ANN, new.document_id)
    assert house.live(old, new) == set()
    newest = house.ready(effective_from=date(2024, 1, 1))
    assert house.live(old, new, newest, as_of=date(2023, 6, 1)) == set()
    assert house.live(old, new, newest, as_of=date(2022, 6, 1)) == {old.document_id}


def test_catalog_switch_refuses_a_document_deleted_meanwhile(house: House) -> None:
    document = house.pending()
    house.delete(ANN, document.document_id)
    assert not house.lifecycle.switch(document.document_id)
    assert house.live(document) == set()


def test_catalog_failed_version_gives_way_to_the_next_upload(house: House) -> None:
    failed = house.pending()
    house.fail(failed.document_id, "no_text", "nothing")
    again = house.pending()
    assert again.version == 2
    assert house.lifecycle.unpurged() == [("acme", failed.document_id)]
    assert [each.document_id for each in house.catalog.list(ANN)] == [again.document_id]


def test_catalog_tombstone_keeps_ids_and_hash_but_no_words(house: House) -> None:
    document = house.ready(title="Salary of Mr Li", labels={"hr"}, access={"group:finance"})
    house.record_hash(document.document_id, "ab" * 32)
    house.delete(ANN, document.document_id)
    house.lifecycle.purged(document.document_id)
    tombstone = house.lifecycle.load(document.document_id)
    assert (tombstone.title, tombstone.meta.labels, tombstone.content_hash) == ("", frozenset(), "ab" * 32)
    assert house.lifecycle.unpurged() == []
    with pytest.raises(UnknownDocumentError):
        house.catalog.get(ANN, document.document_id)
    assert house.delete(BOB, document.document_id).state == "deleted"
