"""Stored runs under other symbol rules: no text keeps what is secret now, and all stays consistent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, select
from sqlalchemy.pool import StaticPool

from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.copies import RunCopies
from agent.emitter import Emitter
from agent.events import (
    CitationAdded,
    Event,
    Notice,
    PassagesRetrieved,
    RunCompleted,
    RunStarted,
    SentenceAudited,
    TextDelta,
    ThoughtDelta,
    ToolCalled,
    ToolReturned,
)
from agent.fakes import FakeClock
from agent.journal import Journal
from agent.remains import RunRemains
from agent.rewriting import rewrite
from agent.tables import metadata, runs
from retrieval.types import Chunk, Passage, Principal, SearchFilter

OWNER, OTHER = Principal(tenant="acme", user="wu"), Principal(tenant="rival", user="wu")
DOCUMENT = "a" * 32
ANSWER = "The falcon costs 5. Ask falcon later [SOURCE: d1]."


def hide(text: str) -> str:
    return text.replace("falcon", "[SECRET_x]")


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine)
    yield engine
    engine.dispose()


def script(run_id: str = "r1", answer: str = ANSWER) -> list[Event]:
    chunk = Chunk(
        chunk_id="00000000-0000-0000-0000-000000000000",
        tenant="acme",
        document_id=DOCUMENT,
        ordinal=0,
        text="A falcon costs 5.",
        index_text="A falcon costs 5.",
        heading_path=("On the falcon",),
        start_char=0,
        end_char=17,
        title="falcon list",
    )
    passage = Passage(
        label="d1", chunk=chunk, score=0.9, confidence="high", context_before="A falcon flew.", context_after="falcon"
    )
    evidence = Evidence(
        rule="figure",
        passed=True,
        detail="falcon 5 = 5",
        label="d1",
        answer_span=(17, 18),
        source_span=(15, 16),
        answer_value="falcon 5",
    )
    first = SentenceVerdict(
        index=0, start=0, end=19, text="The falcon costs 5.", kind="supported", evidence=(evidence,)
    )
    second = SentenceVerdict(index=1, start=20, end=50, text="Ask falcon later.", kind="supported")
    audit = Audit(risk="low", sentences=(first, second), violations=("falcon",))
    emit = Emitter(run_id, "t", FakeClock())
    return [
        emit(RunStarted, question="What does the falcon cost?", model="m", encoder="e"),
        emit(
            PassagesRetrieved,
            question="falcon",
            filter=SearchFilter(labels=frozenset({"falcon"})),
            passages=(passage,),
        ),
        emit(ThoughtDelta, step=1, text="The fal"),
        emit(ThoughtDelta, step=1, text="con?"),
        emit(ToolCalled, step=1, call_id="c", tool="s", arguments={"q": ["falcon"]}, requested_name="s"),
        emit(
            ToolReturned, step=1, call_id="c", tool="s", ok=True, observation="falcon", quality_score=1, latency_ms=1.0
        ),
        emit(Notice, code="n", message="falcon"),
        emit(TextDelta, text=answer[:7]),
        emit(TextDelta, text=answer[7:]),
        emit(CitationAdded, label="d1", document_id=DOCUMENT, title="falcon list", page=None),
        emit(SentenceAudited, verdict=first),
        emit(
            RunCompleted,
            status="answered",
            answer=answer,
            audit=audit,
            passages=(passage,),
            tier="strong",
            model="m",
            encoder="e",
            steps=1,
            prompt_tokens=1,
            completion_tokens=1,
            latency_ms=1.0,
        ),
    ]


def text_of(events: list[Event]) -> str:
    return "\n".join(event.model_dump_json() for event in events)


def test_no_text_keeps_the_secret_and_what_was_streamed_is_the_answer() -> None:
    events = rewrite(script(), hide)
    assert "falcon" not in text_of(events)
    last = events[-1]
    assert isinstance(last, RunCompleted)
    assert last.answer == hide(ANSWER)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == last.answer
    assert "".join(e.text for e in events if isinstance(e, ThoughtDelta)) == "The [SECRET_x]?"
    assert [e.seq for e in events] == list(range(len(events)))


def test_spans_point_at_the_same_words() -> None:
    last = rewrite(script(), hide)[-1]
    assert isinstance(last, RunCompleted)
    first, second = last.audit.sentences
    assert last.answer[first.start : first.end] == "The [SECRET_x] costs 5."
    assert last.answer[second.start : second.end] == "Ask [SECRET_x] later [SOURCE: d1]."
    evidence = first.evidence[0]
    assert evidence.answer_span is not None
    assert last.answer[slice(*evidence.answer_span)] == "5"
    assert evidence.source_span is not None
    assert last.passages[0].chunk.text[slice(*evidence.source_span)] == "5"


def test_what_holds_no_secret_stays_the_same_object() -> None:
    events = script()
    assert all(a is b for a, b in zip(events, rewrite(events, lambda text: text), strict=True))
    once = rewrite(events, hide)
    assert all(a is b for a, b in zip(once, rewrite(once, hide), strict=True))


async def test_runs_of_one_tenant_are_rewritten_once(engine: Engine) -> None:
    journal, copies = Journal(engine), RunCopies(engine)
    journal.append(script("r1"), OWNER)
    journal.append(script("r2"), OTHER)
    assert await copies.rewrite("acme", hide) > 0
    assert await copies.rewrite("acme", hide) == 0
    assert "falcon" not in text_of(journal.events("r1", OWNER)) + journal.run("r1", OWNER).question
    assert "falcon" in text_of(journal.events("r2", OTHER))
    assert copies.tenants() == ["acme", "rival"]


async def test_revision_passes_over_what_was_done_but_not_over_a_document(engine: Engine) -> None:
    journal, copies = Journal(engine), RunCopies(engine)
    journal.append(script("r1"), OWNER)
    asked: list[str] = []

    def counting(text: str) -> str:
        asked.append(text)
        return text

    await copies.rewrite("acme", counting, revision="1")
    asked.clear()
    await copies.rewrite("acme", counting, revision="1")
    assert asked == []
    await copies.rewrite("acme", counting, document_id=DOCUMENT, revision="1")
    assert asked != []
    asked.clear()
    await copies.rewrite("acme", counting, document_id="b" * 32)
    assert asked == []
    assert await copies.rewrite("acme", hide, revision="2") > 0


async def test_run_that_goes_on_is_looked_at_again(engine: Engine) -> None:
    journal, copies = Journal(engine), RunCopies(engine)
    events = script("r1")
    journal.append(events[:-1], OWNER)
    await copies.rewrite("acme", hide, revision="1")
    journal.append(events[-1:], OWNER)
    await copies.rewrite("acme", hide, revision="1")
    assert "falcon" not in text_of(journal.events("r1", OWNER))
    with engine.connect() as connection:
        assert connection.scalar(select(runs.c.symbols_revision)) == "1"
    assert await copies.rewrite_run("r1", lambda text: text.replace("later", "soon")) > 0
    assert await copies.rewrite_run("missing", hide) == 0


async def test_tombstone_that_comes_meanwhile_is_not_undone(engine: Engine) -> None:
    journal, copies = Journal(engine), RunCopies(engine)
    journal.append(script("r1"), OWNER)
    erased: list[int] = []

    def slow(text: str) -> str:
        if not erased:
            erased.append(RunRemains(engine)._erase("acme", DOCUMENT))
        return hide(text)

    await copies.rewrite("acme", slow)
    text = text_of(journal.events("r1", OWNER))
    assert "A [SECRET_x] costs 5." not in text
    assert "[deleted" in text
    assert "falcon" not in text


async def test_failure_half_way_leaves_the_run_as_it_was(engine: Engine) -> None:
    journal, copies = Journal(engine), RunCopies(engine)
    journal.append(script("r1"), OWNER)
    before = text_of(journal.events("r1", OWNER))

    def failing(text: str) -> str:
        if text == "falcon":
            raise RuntimeError("no")
        return hide(text)

    with pytest.raises(RuntimeError):
        await copies.rewrite("acme", failing)
    assert text_of(journal.events("r1", OWNER)) == before
    await copies.rewrite("acme", hide)
    answer: Any = journal.run("r1", OWNER).completed
    assert answer.answer == hide(ANSWER)
