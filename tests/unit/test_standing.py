"""What became of documents that others relied on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from ingest.fakes import ManualClock, sqlite_engine
from ingest.lifecycle import Lifecycle
from ingest.standing import Standing
from ingest.types import DocumentMeta
from retrieval.types import Principal

ANN = Principal(tenant="acme", user="ann")
BOB = Principal(tenant="acme", user="bob")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = sqlite_engine(tmp_path)
    yield engine
    engine.dispose()


def ready(engine: Engine, who: Principal = ANN, source: str = "a.txt", **meta: Any) -> str:
    lifecycle = Lifecycle(engine, clock=ManualClock())
    with engine.begin() as connection:
        made = lifecycle.register(
            connection, who, lifecycle.new_document_id(), source, DocumentMeta.model_validate(meta), 5
        )
    assert lifecycle.switch(made.document_id)
    return made.document_id


def delete(engine: Engine, document_id: str, who: Principal = ANN) -> None:
    lifecycle = Lifecycle(engine)
    with engine.begin() as connection:
        lifecycle.delete(connection, who, document_id)
    lifecycle.purged(document_id)


def test_a_document_is_current_until_it_is_replaced_or_deleted(engine: Engine) -> None:
    first, other = ready(engine), ready(engine, source="b.txt")
    standing = Standing(engine)
    assert standing.gone("acme", [first, other]) == {}
    second = ready(engine)
    assert standing.gone("acme", [first, second, other]) == {first: "replaced"}
    assert (standing.successor("acme", first), standing.successor("acme", second)) == (second, second)
    delete(engine, other)
    assert standing.gone("acme", [first, other]) == {first: "replaced", other: "deleted"}
    assert standing.successor("acme", other) is None
    delete(engine, second)
    assert standing.gone("acme", [first, second]) == {first: "deleted", second: "deleted"}


def test_a_later_edition_replaces_one_that_is_still_found_as_of_its_time(engine: Engine) -> None:
    first = ready(engine, effective_from="2024-01-01")
    second = ready(engine, effective_from="2025-01-01")
    assert Standing(engine).gone("acme", [first, second]) == {first: "replaced"}


def test_documents_of_others_are_no_versions_and_those_of_other_tenants_unknown(engine: Engine) -> None:
    first = ready(engine)
    ready(engine, BOB)
    assert Standing(engine).gone("acme", [first]) == {}
    assert Standing(engine).gone("evil", [first]) == {first: "deleted"}
    assert Standing(engine).successor("evil", first) is None


def test_a_document_uploaded_again_after_its_deletion_takes_its_place(engine: Engine) -> None:
    first = ready(engine)
    delete(engine, first)
    again = ready(engine)
    assert Standing(engine).gone("acme", [first]) == {first: "replaced"}
    assert Standing(engine).successor("acme", first) == again
