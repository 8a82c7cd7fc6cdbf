"""A run that broke off anywhere goes on from its journal and tape; a replay makes the same events."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from driven import ANSWER, CHUNKS, GOOD, OWNER, SendMail, call, drive, make_agent, request

from agent.control import RunControl
from agent.errors import ModelUnavailableError
from agent.events import (
    ApprovalRequested,
    Event,
    Notice,
    QuestionAsked,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPaused,
    TextDelta,
    ToolCalled,
    ToolReturned,
)
from agent.fakes import FakeSearcher, FakeTrigger
from agent.llm import ChatRequest
from agent.models.scripted import ScriptedChatModel
from agent.replay import replay
from agent.tape import Tape
from retrieval.errors import StoreUnavailableError

PLAN = call("plan_create", '{"items": [{"text": "Look up revenue"}]}')
SCRIPT: list[Any] = [
    PLAN,
    call("search_knowledge", '{"query": "revenue"}') + "\n" + call("calculate", '{"expression": "1+1"}'),
    "no form at all",
    [ModelUnavailableError("http://10.0.0.9 refused")],
    call("ask_user", '{"question": "Which year?"}'),
    call("send_mail", '{"to": "a"}'),
    call("plan_update", '{"item": "1", "state": "done"}'),
    call("finish"),
    ANSWER,
]


class Model:
    """Says what the script has for as many replies as the conversation holds: as a real model would after a restart."""

    def __init__(self, script: list[Any], name: str = "scripted") -> None:
        self._script, self.name = script, name
        self.asked = 0
        self._down = False

    def stream(self, request: ChatRequest) -> Any:
        self.asked += 1
        replies = sum(m.role == "assistant" for m in request.messages[3:])
        index = len(self._script) - 1 if request.purpose == "finish" else replies
        return ScriptedChatModel([self._script[min(index, len(self._script) - 1)]]).stream(request)


PLAIN = [item for item in SCRIPT if not isinstance(item, list)]


def people(event: Event, control: RunControl) -> None:
    match event:
        case ApprovalRequested():
            control.decide(approved=True)
        case QuestionAsked():
            control.answer("2024")
        case ToolCalled(tool="calculate"):
            control.pause()
        case RunPaused():
            control.resume()
        case _:
            pass


def make(mail: SendMail, **more: Any) -> Any:
    return make_agent(Model(PLAIN), tools=[mail], **more)


def check(events: list[Event]) -> None:
    assert [e.seq for e in events] == list(range(len(events)))
    assert [isinstance(e, RunCompleted | RunFailed | RunCancelled) for e in events].index(True) == len(events) - 1
    called = [e.call_id for e in events if isinstance(e, ToolCalled)]
    assert len(set(called)) == len(called)
    assert [e.call_id for e in events if isinstance(e, ToolReturned)] == called


def answer(events: list[Event]) -> str:
    last = events[-1]
    assert isinstance(last, RunCompleted), last
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == last.answer
    return last.answer


async def test_run_broken_off_after_any_event_goes_on_to_the_same_end() -> None:
    mail = SendMail()
    whole, _ = await drive(make(mail), people=people)
    check(whole)
    assert answer(whole) == ANSWER
    assert len(mail.sent) == 1
    writing = next(e.seq for e in whole if isinstance(e, TextDelta))
    for stop in range(1, len(whole)):
        mail = SendMail()
        stored, entries = await drive(make(mail), people=people, stop_after=stop)
        events, _ = await drive(make(mail), people=people, stored=stored, entries=entries)
        check(events)
        assert len(mail.sent) <= 1, stop
        last = events[-1]
        if isinstance(last, RunFailed):
            assert last.code == "interrupted"
            assert stop > writing
        else:
            assert answer(events) == ANSWER, stop


async def test_run_broken_off_again_and_again_goes_on() -> None:
    for stop in (12, 20):
        mail, events, entries = SendMail(), list[Event](), []
        for _ in range(200):
            events, entries = await drive(make(mail), people=people, stored=events, entries=entries, stop_after=stop)
            if isinstance(events[-1], RunCompleted | RunFailed):
                break
        check(events)
        assert len(mail.sent) <= 1


async def test_replay_makes_the_same_events_without_model_tools_or_search() -> None:
    mail = SendMail()
    events, entries = await drive(make(mail), people=people)
    nothing = make_agent(
        ScriptedChatModel([]),
        tools=[SendMail()],
        searcher=FakeSearcher(CHUNKS, error=StoreUnavailableError("down")),
        trigger=FakeTrigger("none", error=StoreUnavailableError("down")),
    )
    found = await replay(nothing, request(), OWNER, events, entries)
    assert found.differences == ()
    assert found.events == len(events)


async def test_replay_of_a_resumed_run_makes_the_same_events() -> None:
    mail = SendMail()
    whole, _ = await drive(make(mail), people=people)
    for stop in range(3, len(whole), 4):
        stored, entries = await drive(make(SendMail()), people=people, stop_after=stop)
        events, entries = await drive(make(SendMail()), people=people, stored=stored, entries=entries)
        found = await replay(make_agent(ScriptedChatModel([]), tools=[mail]), request(), OWNER, events, entries)
        if isinstance(events[-1], RunCompleted):
            assert found.differences == (), stop


async def test_replay_finds_where_changed_code_differs() -> None:
    events, entries = await drive(make(SendMail()), people=people)
    changed = make_agent(ScriptedChatModel([]), tools=[SendMail()], max_steps=2)
    found = await replay(changed, request(), OWNER, events, entries)
    first = found.differences[0]
    assert (first.stored, first.made) == ("step_started", "guard_fired")
    assert events[first.seq].kind == "step_started"


async def test_failures_of_models_are_replayed_and_name_no_host() -> None:
    script = [call("calculate", '{"expression": "1"}'), ["Thought: x", ModelUnavailableError("http://10.0.0.9 no")]]
    fallback = ScriptedChatModel([GOOD], name="fb")
    events, entries = await drive(make_agent(script, fallback=fallback))
    assert [e.code for e in events if isinstance(e, Notice)] == ["model_fallback"]
    assert not any("10.0.0.9" in entry.model_dump_json() for entry in entries)
    spare = ScriptedChatModel([], name="fb")
    found = await replay(make_agent(ScriptedChatModel([]), fallback=spare), request(), OWNER, events, entries)
    assert found.differences == ()


async def test_tape_that_is_gone_ends_the_resumed_run_as_interrupted() -> None:
    stored, _ = await drive(make(SendMail()), people=people, stop_after=20)
    events, _ = await drive(make(SendMail()), people=people, stored=stored)
    check_end = events[-1]
    assert isinstance(check_end, RunFailed)
    assert check_end.code == "interrupted"
    assert [e.seq for e in events] == list(range(len(events)))


async def test_approval_is_asked_for_again_after_a_restart() -> None:
    mail = SendMail()

    agent = make_agent([call("send_mail", '{"to": "a"}'), GOOD], tools=[mail])
    stored: list[Event] = []
    entries: list[Any] = []
    control, tape = RunControl(), Tape()
    run = agent.run(request(), OWNER, control=control, tape=tape)
    async for event in run:
        stored.append(event)
        entries += tape.drain()
        if isinstance(event, ApprovalRequested):
            break
    await run.aclose()
    assert mail.sent == []
    events, _ = await drive(make_agent([GOOD], tools=[mail]), people=people, stored=stored, entries=entries)
    assert len(mail.sent) == 1
    assert answer(events) == ANSWER


async def test_call_that_may_have_acted_is_not_made_again() -> None:
    mail = SendMail()
    stored, entries = await drive(make_agent([call("send_mail", '{"to": "a"}'), GOOD], tools=[mail]), people=people)
    decided = next(e.seq for e in stored if e.kind == "approval_decided")
    entries = [entry for entry in entries if entry.kind != "tool"][:2]
    agent = make_agent([GOOD], tools=[mail])
    events, _ = await drive(agent, people=people, stored=stored[: decided + 1], entries=entries)
    assert len(mail.sent) == 1
    returned = next(e for e in events if isinstance(e, ToolReturned))
    assert not returned.ok
    assert "not known" in returned.observation
    assert answer(events) == ANSWER


async def test_run_left_by_its_process_has_no_end() -> None:
    control, tape = RunControl(), Tape()
    agent = make_agent([call("ask_user", '{"question": "Which?"}'), GOOD])
    events: list[Event] = []
    asked = asyncio.Event()

    async def read() -> None:
        async for event in agent.run(request(), OWNER, control=control, tape=tape):
            events.append(event)
            if isinstance(event, QuestionAsked):
                asked.set()

    task = asyncio.create_task(read())
    await asked.wait()
    control.leaving = True
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(events[-1], QuestionAsked)
