"""The journal: what was streamed is what is stored, for its owner alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import StaticPool

from agent.audit.verdicts import Audit
from agent.emitter import Emitter
from agent.errors import AgentError, UnknownRunError
from agent.events import (
    Event,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunStarted,
    StepStarted,
    TextDelta,
    ThoughtDelta,
)
from agent.fakes import FakeClock
from agent.journal import Journal
from agent.run import collect, record
from agent.tables import metadata
from retrieval.types import Principal

OWNER = Principal(tenant="local", user="owner")
COMPLETED: dict[str, Any] = {
    **{"status": "answered", "answer": "2.38 亿元", "audit": Audit(risk="low"), "passages": (), "tier": "strong"},
    **{"model": "m", "encoder": "e", "steps": 1, "prompt_tokens": 1, "completion_tokens": 1, "latency_ms": 1.0},
}


@pytest.fixture
def engine() -> Any:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def journal(engine: Engine) -> Journal:
    return Journal(engine)


def script(run_id: str = "r1", clock: FakeClock | None = None) -> list[Event]:
    emit = Emitter(run_id, "t1", clock or FakeClock())
    return [
        emit(RunStarted, question="多少？", model="m", encoder="e"),
        emit(StepStarted, step=1),
        *(emit(ThoughtDelta, step=1, text=text) for text in "想一想"),
        *(emit(TextDelta, text=text) for text in ("2.38 ", "亿元")),
        emit(RunCompleted, **COMPLETED),
    ]


async def stream(events: list[Event]) -> AsyncGenerator[Event, None]:
    for event in events:
        yield event


async def passed(events: AsyncIterator[Event], journal: Journal) -> list[Event]:
    return [event async for event in record(events, journal, OWNER, clock=FakeClock())]


async def test_a_recorded_run_is_read_back_as_it_was_streamed(journal: Journal) -> None:
    events = script()
    assert await passed(stream(events), journal) == events
    assert journal.events("r1", OWNER) == events
    assert journal.events("r1", OWNER, after_seq=5) == events[6:]
    stored = journal.run("r1", OWNER)
    assert stored.completed == events[-1]
    assert (stored.state, stored.question, stored.started_at) == ("completed", "多少？", events[0].at)
    assert stored.ended_at == events[-1].at


async def test_every_event_but_text_is_stored_before_it_is_passed_on(journal: Journal) -> None:
    async for event in record(stream(script()), journal, OWNER):
        if not isinstance(event, TextDelta | ThoughtDelta):
            assert journal.events("r1", OWNER)[-1] == event


async def test_a_run_of_another_user_or_tenant_does_not_exist(journal: Journal) -> None:
    await passed(stream(script()), journal)
    for stranger in (Principal(tenant="local", user="other"), Principal(tenant="other", user="owner")):
        assert journal.list_runs(stranger) == []
        messages: set[str] = set()
        for run_id in ("r1", "nope"):
            with pytest.raises(UnknownRunError) as caught:
                journal.run(run_id, stranger)
            messages.add(str(caught.value).replace(run_id, "X"))
            with pytest.raises(UnknownRunError):
                journal.events(run_id, stranger)
        assert len(messages) == 1
        with pytest.raises(UnknownRunError):
            journal.list_runs(stranger, after="r1")


async def test_runs_are_listed_newest_first_and_in_pages(journal: Journal) -> None:
    clock = FakeClock()
    for n in range(5):
        await passed(stream(script(f"r{n}", clock)), journal)
    assert [r.run_id for r in journal.list_runs(OWNER, limit=2)] == ["r4", "r3"]
    assert [r.run_id for r in journal.list_runs(OWNER, limit=2, after="r3")] == ["r2", "r1"]
    assert [r.run_id for r in journal.list_runs(OWNER, after="r0")] == []


async def test_a_failed_run_is_stored_with_its_reason(journal: Journal) -> None:
    emit = Emitter("r1", "t1", FakeClock())
    events = [
        emit(RunStarted, question="q", model="m", encoder="e"),
        emit(RunFailed, code="model_unavailable", message="no answer"),
    ]
    await passed(stream(events), journal)
    stored = journal.run("r1", OWNER)
    assert (stored.state, stored.error_code, stored.error, stored.completed) == (
        *("failed", "model_unavailable", "no answer", None),
    )


async def test_a_reader_who_leaves_ends_the_run_and_its_journal_says_so(journal: Journal) -> None:
    inner = stream(script())
    recorded = record(inner, journal, OWNER, clock=FakeClock())
    async for event in recorded:
        if isinstance(event, TextDelta):
            break
    await recorded.aclose()
    stored = journal.events("r1", OWNER)
    assert isinstance(stored[-1], RunCancelled)
    assert [e.seq for e in stored] == list(range(len(stored)))
    assert journal.run("r1", OWNER).state == "cancelled"
    with pytest.raises(StopAsyncIteration):
        await anext(inner)


async def test_a_cancelled_reader_leaves_a_cancelled_run(journal: Journal) -> None:
    reached = asyncio.Event()

    async def hanging() -> AsyncGenerator[Event, None]:
        for event in script()[:3]:
            yield event
        reached.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(passed(hanging(), journal))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [e.kind for e in journal.events("r1", OWNER)] == [
        *("run_started", "step_started", "thought_delta", "run_cancelled"),
    ]


async def test_cancelling_during_a_write_keeps_the_order(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    append = journal.append

    def slow(events: Any, principal: Principal, **more: Any) -> None:
        if not go_on.is_set():
            loop.call_soon_threadsafe(begun.set)
            go_on.wait(5)
        append(events, principal, **more)

    monkeypatch.setattr(journal, "append", slow)
    task = asyncio.create_task(passed(stream(script()), journal))
    await begun.wait()
    task.cancel()
    loop.call_soon(go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert journal.run("r1", OWNER).state == "cancelled"
    assert [e.kind for e in journal.events("r1", OWNER)] == ["run_started", "run_cancelled"]


async def test_runs_that_a_crash_left_behind_are_ended_once(journal: Journal) -> None:
    journal.append(script()[:3], OWNER)
    await passed(stream(script("r2")), journal)
    now = FakeClock().now()
    assert journal.end_broken_runs(now) == 1
    assert journal.end_broken_runs(now) == 0
    stored = journal.run("r1", OWNER)
    assert (stored.state, stored.error_code) == ("failed", "interrupted")
    assert [e.seq for e in journal.events("r1", OWNER)] == [0, 1, 2, 3]
    assert journal.run("r2", OWNER).state == "completed"


async def test_collect_returns_the_terminal_event_and_nothing_else_ends_a_run() -> None:
    events = script()
    assert await collect(stream(events)) == events[-1]
    with pytest.raises(AgentError):
        await collect(stream(events[:-1]))
    with pytest.raises(AgentError):
        await collect(stream([*events, events[1]]))


def test_nothing_is_emitted_after_a_terminal_event() -> None:
    emit = Emitter("r1", "t1", FakeClock())
    emit(RunCancelled)
    with pytest.raises(AssertionError):
        emit(StepStarted, step=1)
