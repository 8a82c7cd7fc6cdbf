"""Limits of time by layer, on a clock that is made up: what the reader is told, and how each ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from driven import ANSWER, CHUNKS, GOOD, OWNER, SendMail, call, make_agent, request

from agent.control import RunControl
from agent.events import ApprovalRequested, Event, GuardFired, Notice, RunCompleted, RunFailed, ToolReturned
from agent.fakes import FakeSearcher
from agent.llm import ChatPiece, ChatRequest
from agent.models.scripted import ScriptedChatModel
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from virtual_time import now, run_virtual

DAY_S = 86_400.0


class SlowModel:
    """Waits before each reply."""

    name = "slow"

    def __init__(self, replies: list[str], seconds: float) -> None:
        self._model = ScriptedChatModel(replies)
        self._seconds = seconds

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatPiece]:
        """Wait, then reply."""
        await asyncio.sleep(self._seconds)
        async for piece in self._model.stream(request):
            yield piece


class SlowTool:
    """Waits before its result."""

    def __init__(self, seconds: float, timeout_ms: int = 30_000) -> None:
        self._seconds, self._timeout_ms = seconds, timeout_ms

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(name="slow", description="Slow.", arguments={"type": "object"}, timeout_ms=self._timeout_ms)

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Wait."""
        await asyncio.sleep(self._seconds)
        return ToolResult(text="at last")


class SlowSearcher(FakeSearcher):
    """Waits before it searches."""

    seconds = 5.0

    async def search(self, *arguments: Any, **more: Any) -> Any:
        """Wait."""
        await asyncio.sleep(self.seconds)
        return await super().search(*arguments, **more)


async def drain(agent: Any) -> tuple[list[Event], float, list[tuple[str, float]]]:
    """Return the events, how long the run took, and when the reader was told that something is slow."""
    events: list[Event] = []
    told: list[tuple[str, float]] = []
    begun = now()
    async for event in agent.run(request(attended=False), OWNER):
        events.append(event)
        if isinstance(event, Notice) and event.code == "taking_longer":
            told.append((event.message, now() - begun))
    assert [e.seq for e in events] == list(range(len(events)))
    return events, now() - begun, told


def test_reader_is_told_after_two_seconds_without_a_token() -> None:
    events, took, told = run_virtual(drain(make_agent(SlowModel([GOOD], 7.0))))
    assert isinstance(events[-1], RunCompleted)
    assert took == pytest.approx(7.0)
    assert [at for _, at in told] == [pytest.approx(2.0)]
    assert "The model takes longer than usual" in told[0][0]


def test_reader_is_told_after_three_seconds_of_a_tool_and_what_ends_in_time_is_used() -> None:
    agent = make_agent([call("slow"), GOOD], tools=[SlowTool(10.0)])
    events, _, told = run_virtual(drain(agent))
    assert [at for _, at in told] == [pytest.approx(3.0)]
    assert "at most 27 s more" in told[0][0]
    assert next(e for e in events if isinstance(e, ToolReturned)).observation == "at last"


def test_tool_that_hangs_is_ended_by_its_own_limit() -> None:
    agent = make_agent([call("slow"), GOOD], tools=[SlowTool(DAY_S, timeout_ms=3000)])
    events, took, _ = run_virtual(drain(agent))
    returned = next(e for e in events if isinstance(e, ToolReturned))
    assert not returned.ok
    assert "did not answer within 3 s" in returned.observation
    assert took == pytest.approx(3.0)
    assert isinstance(events[-1], RunCompleted)


def test_reader_is_told_after_one_and_a_half_seconds_of_search() -> None:
    _, _, told = run_virtual(drain(make_agent([GOOD], searcher=SlowSearcher(CHUNKS))))
    assert [at for _, at in told] == [pytest.approx(1.5)]


def test_search_that_hangs_fails_the_run_at_its_limit() -> None:
    searcher = SlowSearcher(CHUNKS)
    searcher.seconds = DAY_S
    events, took, _ = run_virtual(drain(make_agent([GOOD], searcher=searcher)))
    last = events[-1]
    assert isinstance(last, RunFailed)
    assert last.code == "retrieval_timeout"
    assert took == pytest.approx(10.0)


@pytest.mark.parametrize("hangs", ["model", "tool"])
def test_run_that_never_ends_is_answered_from_what_was_found(hangs: str) -> None:
    fallback = ScriptedChatModel([ANSWER], name="fb")
    if hangs == "model":
        agent = make_agent(SlowModel([GOOD], DAY_S), fallback=fallback)
    else:
        tool = SlowTool(DAY_S, timeout_ms=int(DAY_S * 1000))
        agent = make_agent([call("slow")], tools=[tool], fallback=fallback)
    events, took, _ = run_virtual(drain(agent))
    last = events[-1]
    assert [e.guard for e in events if isinstance(e, GuardFired)] == ["run_timeout"]
    assert isinstance(last, RunCompleted)
    assert (last.status, last.answer) == ("stopped_by_guard", ANSWER)
    assert took == pytest.approx(300.0)
    assert sum(e.kind == "tool_called" for e in events) == sum(e.kind == "tool_returned" for e in events)


def test_time_that_people_take_does_not_count() -> None:
    async def wait_a_day() -> list[Event]:
        control, mail = RunControl(), SendMail()
        events: list[Event] = []
        agent = make_agent([call("send_mail", '{"to": "a"}'), GOOD], tools=[mail])
        async for event in agent.run(request(), OWNER, control=control):
            events.append(event)
            if isinstance(event, ApprovalRequested):
                asyncio.get_running_loop().call_later(DAY_S, lambda: control.decide(approved=True))
        assert len(mail.sent) == 1
        assert now() >= DAY_S
        return events

    events = run_virtual(wait_a_day())
    assert isinstance(events[-1], RunCompleted)
    assert not any(isinstance(e, GuardFired) for e in events)
