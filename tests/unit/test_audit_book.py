"""What is kept of audits: figures, references and hashes; what a deleted document leaves; stale answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, select
from sqlalchemy.pool import StaticPool

from agent.audit.verdicts import Audit, SentenceVerdict
from agent.audits import AuditBook
from agent.errors import UnknownRunError
from agent.events import RunCompleted, RunStarted
from agent.fakes import fake_chunk
from agent.journal import Journal
from agent.tables import audit_sources, audits, metadata
from retrieval.passages import make_passage
from retrieval.types import Principal

OWNER = Principal(tenant="acme", user="wu")
OTHER = Principal(tenant="acme", user="li")
STRANGER = Principal(tenant="evil", user="wu")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
BRIEF, BOOK = "7f3a" + "0" * 28, "beef" + "0" * 28


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine)
    yield engine
    engine.dispose()


def keep(
    engine: Engine,
    run_id: str,
    principal: Principal = OWNER,
    *,
    at: datetime = START,
    risk: Any = "low",
    kinds: Sequence[Any] = ("supported",),
    document_id: str = BRIEF,
    **audit: Any,
) -> None:
    """Journal a run whose answer cites one passage of a document."""
    passage = make_passage("doc_7f3a_p5", fake_chunk("Revenue was 5.", document_id=document_id), 0.9, (), ())
    beside = make_passage("doc_7f3a_p6", fake_chunk("Costs were 2.", document_id=BOOK, ordinal=1), 0.9, (), ())
    base: dict[str, Any] = {"run_id": run_id, "trace_id": "t", "at": at}
    verdicts = tuple(
        SentenceVerdict(index=index, start=0, end=5, text="Revenue was 5.", kind=kind)
        for index, kind in enumerate(kinds)
    )
    done = RunCompleted(
        **base,
        seq=1,
        status="answered",
        answer="Revenue was 5 [SOURCE: doc_7f3a_p5].",
        audit=Audit(risk=risk, sentences=verdicts, **audit),
        passages=(passage, beside),
        tier="strong",
        model="m",
        encoder="e",
        steps=1,
        prompt_tokens=1,
        completion_tokens=1,
        latency_ms=1.0,
    )
    Journal(engine).append([RunStarted(**base, seq=0, question="Revenue?", model="m", encoder="e"), done], principal)


def test_an_audit_is_kept_in_figures_and_its_evidence_by_reference_and_hash(engine: Engine) -> None:
    keep(engine, "r1", risk="high", kinds=["supported", "contradicted", "uncited"], violations=("x",))
    (row,) = AuditBook(engine).rows("acme")
    assert (row.run_id, row.user, row.at, row.risk) == ("r1", "wu", START, "high")
    assert (row.sentences, row.supported, row.contradicted, row.uncited, row.violations) == (3, 1, 1, 1, 1)
    (source,) = row.sources
    assert (source.label, source.document_id) == ("doc_7f3a_p5", BRIEF)
    assert source.text_sha256 == hashlib.sha256(b"Revenue was 5.").hexdigest()
    with engine.connect() as connection:
        for table in (audits, audit_sources):
            assert "Revenue" not in repr(connection.execute(select(table)).all())


def test_audits_belong_to_their_tenant_and_user(engine: Engine) -> None:
    keep(engine, "r1")
    keep(engine, "r2", OTHER, at=START + timedelta(hours=1))
    keep(engine, "r3", STRANGER)
    book = AuditBook(engine)
    assert [each.run_id for each in book.rows("acme")] == ["r2", "r1"]
    assert [each.run_id for each in book.rows("acme", user="wu")] == ["r1"]
    assert [each.run_id for each in book.rows("acme", after="r2")] == ["r1"]
    assert book.row("r2", "acme").user == "li"
    for wrong in ({"tenant": "evil"}, {"tenant": "acme", "user": "wu"}):
        with pytest.raises(UnknownRunError):
            book.row("r2", **wrong)
    with pytest.raises(UnknownRunError):
        book.rows("acme", user="wu", after="r2")


def test_rows_are_filtered_by_risk_and_day(engine: Engine) -> None:
    keep(engine, "r1", risk="high")
    keep(engine, "r2", at=START + timedelta(days=1))
    book = AuditBook(engine)
    assert [each.run_id for each in book.rows("acme", risk="high")] == ["r1"]
    assert [each.run_id for each in book.rows("acme", since=date(2026, 3, 2))] == ["r2"]


def test_risk_figures_are_summed_by_day(engine: Engine) -> None:
    keep(engine, "r1", risk="high", kinds=["contradicted", "supported"], action="withheld")
    keep(engine, "r2", risk="low", action="repaired")
    keep(engine, "r3", OTHER, at=START + timedelta(days=1), risk="medium", kinds=["uncited"])
    later, first = AuditBook(engine).days("acme", date(2026, 3, 1))
    assert (later.day, later.answers, later.medium, later.uncited) == (date(2026, 3, 2), 1, 1, 1)
    assert (first.answers, first.low, first.medium, first.high) == (2, 1, 0, 1)
    assert (first.repaired, first.withheld, first.sentences, first.contradicted) == (1, 1, 3, 1)
    assert [each.answers for each in AuditBook(engine).days("acme", date(2026, 3, 1), user="wu")] == [2]


def test_answers_that_relied_on_a_document_are_marked_once(engine: Engine) -> None:
    keep(engine, "r1")
    keep(engine, "r2", document_id=BOOK)
    keep(engine, "r3", STRANGER)
    book = AuditBook(engine)
    assert book.relied_on("acme") == [BRIEF, BOOK]
    assert book.mark_stale("acme", {BRIEF: "replaced"}, START) == ["r1"]
    assert book.mark_stale("acme", {BRIEF: "deleted"}, START) == []
    assert book.relied_on("acme") == [BOOK]
    (row,) = book.rows("acme", stale=True)
    assert (row.run_id, row.stale_at, row.sources[0].stale) == ("r1", START, "replaced")
    assert Journal(engine).run("r1", OWNER).stale == row.sources
    assert Journal(engine).run("r2", OWNER).stale == ()
    assert book.row("r3", "evil").stale_at is None
