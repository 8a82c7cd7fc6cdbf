"""A deleted document leaves tombstones in the runs that used it: place and hash, no text."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, select
from sqlalchemy.pool import StaticPool

from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.emitter import Emitter
from agent.events import (
    CitationAdded,
    Event,
    PassagesRetrieved,
    RunCompleted,
    RunStarted,
    SentenceAudited,
    ToolReturned,
)
from agent.fakes import FakeClock
from agent.journal import Journal
from agent.remains import RunRemains
from agent.tables import metadata, run_events
from retrieval.types import Chunk, Passage, Principal

OWNER = Principal(tenant="acme", user="wu")
GONE, KEPT = "a" * 32, "b" * 32
SECRET_TEXT, OTHER_TEXT = "Revenue of the north was 238 million.", "Costs were 12 million."


@pytest.fixture
def engine() -> Any:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine)
    yield engine
    engine.dispose()


def passage(label: str, document_id: str, text: str) -> Passage:
    chunk = Chunk(
        chunk_id=f"00000000-0000-0000-0000-{document_id[:12]}",
        tenant="acme",
        document_id=document_id,
        ordinal=0,
        text=text,
        index_text=text,
        heading_path=(f"Heading of {document_id[:2]}",),
        page_start=3,
        page_end=3,
        start_char=0,
        end_char=len(text),
        title=f"Title {document_id[:2]}",
    )
    around = {"context_before": f"before {chunk.title}", "context_after": f"after {chunk.title}"}
    return Passage(label=label, chunk=chunk, score=0.9, confidence="high", **around)


def script(run_id: str = "r1") -> list[Event]:
    emit = Emitter(run_id, "t1", FakeClock())
    passages = (passage("doc_aaaa_p3", GONE, SECRET_TEXT), passage("doc_bbbb_p3", KEPT, OTHER_TEXT))
    evidence = tuple(
        Evidence(rule="figure", passed=True, detail=f"compared with {text}", label=label, source_value=text)
        for label, text in (("doc_aaaa_p3", SECRET_TEXT), ("doc_bbbb_p3", OTHER_TEXT))
    )
    verdict = SentenceVerdict(index=0, start=0, end=5, text="x", kind="supported", evidence=evidence)
    returned = {"step": 1, "call_id": "c", "tool": "search_knowledge", "ok": True, "quality_score": 1, "latency_ms": 1}
    return [
        emit(RunStarted, question="Revenue?", model="m", encoder="e"),
        emit(PassagesRetrieved, question="Revenue?", passages=passages),
        emit(ToolReturned, observation=f"[doc_aaaa_p3] {SECRET_TEXT}", **returned),
        emit(ToolReturned, observation=f"[doc_bbbb_p3] {OTHER_TEXT}", **returned),
        emit(CitationAdded, label="doc_aaaa_p3", document_id=GONE, title="Title aa", page=3),
        emit(SentenceAudited, verdict=verdict),
        emit(
            RunCompleted,
            status="answered",
            answer="It was 238 million. [SOURCE: doc_aaaa_p3]",
            audit=Audit(risk="low", sentences=(verdict,)),
            passages=passages,
            tier="strong",
            model="m",
            encoder="e",
            steps=1,
            prompt_tokens=1,
            completion_tokens=1,
            latency_ms=1.0,
        ),
    ]


def stored(engine: Engine) -> str:
    with engine.connect() as connection:
        return "\n".join(connection.scalars(select(run_events.c.body)))


async def test_erased_document_leaves_place_and_hash_and_no_text(engine: Engine) -> None:
    journal, remains = Journal(engine), RunRemains(engine)
    journal.append(script(), OWNER)
    assert await remains.left("acme", GONE) == 5
    assert await remains.erase("acme", GONE) == 5
    assert (await remains.left("acme", GONE), await remains.erase("acme", GONE)) == (0, 0)
    body = stored(engine)
    assert [trace for trace in (SECRET_TEXT, "Heading of aa", "Title aa") if trace in body] == []
    assert hashlib.sha256(SECRET_TEXT.encode()).hexdigest() in body
    assert OTHER_TEXT in body
    completed = journal.run("r1", OWNER).completed
    assert completed is not None
    assert completed.answer == "It was 238 million. [SOURCE: doc_aaaa_p3]"
    first, second = completed.passages
    assert (first.label, first.chunk.document_id, first.chunk.page_start) == ("doc_aaaa_p3", GONE, 3)
    assert first.chunk.text.startswith("[deleted; SHA-256")
    assert second.chunk.text == OTHER_TEXT
    assert [each.source_value for each in completed.audit.sentences[0].evidence] == [None, OTHER_TEXT]


async def test_run_under_way_does_not_bring_an_erased_document_back(engine: Engine) -> None:
    journal, remains = Journal(engine), RunRemains(engine)
    events = script()
    journal.append(events[:2], OWNER)
    await remains.erase("acme", GONE)
    journal.append(events[2:], OWNER)
    assert SECRET_TEXT not in stored(engine)
    assert OTHER_TEXT in stored(engine)
    assert await remains.left("acme", GONE) == 0


async def test_erasing_touches_no_other_tenant(engine: Engine) -> None:
    journal, remains = Journal(engine), RunRemains(engine)
    journal.append(script(), OWNER)
    assert await remains.erase("rival", GONE) == 0
    assert SECRET_TEXT in stored(engine)
