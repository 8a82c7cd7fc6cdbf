"""People and plans in a run: approvals, questions, pauses, edits, handing over; what the plan asks for."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest
from driven import ANSWER, GOOD, OWNER, TASK, SendMail, call, drive, make_agent, request

from agent.control import Edit, RunControl
from agent.errors import RunConflictError
from agent.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    EventBase,
    HandedOver,
    Notice,
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    RunCompleted,
    RunPaused,
    ToolCalled,
    ToolReturned,
)
from agent.models.scripted import ScriptedChatModel
from agent.supervision import drifts, has_parts

E = TypeVar("E", bound=EventBase)
PLAN = call("plan_create", '{"items": [{"text": "Look up revenue"}, {"text": "Look up costs"}]}')


def of(events: list[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def completed(events: list[Event]) -> RunCompleted:
    assert [e.seq for e in events] == list(range(len(events)))
    last = events[-1]
    assert isinstance(last, RunCompleted), last
    return last


def done(item: str, state: str = "done", reason: str = "") -> str:
    return call("plan_update", f'{{"item": "{item}", "state": "{state}", "reason": "{reason}"}}')


async def test_each_update_of_the_plan_says_what_comes_next() -> None:
    model = ScriptedChatModel([PLAN, done("1"), done("item 2.", "dropped", "not asked"), GOOD])
    events, _ = await drive(make_agent(model))
    assert completed(events).status == "answered"
    assert [len([i for i in e.items if i.state == "open"]) for e in of(events, PlanChanged)] == [2, 1, 0]
    assert "Next: 2 Look up costs" in model.requests[2].messages[-1].content
    assert "Everything is done or dropped" in model.requests[3].messages[-1].content


async def test_answer_with_open_items_is_asked_for_once_more_and_then_accepted() -> None:
    model = ScriptedChatModel([PLAN, GOOD, GOOD])
    events, _ = await drive(make_agent(model))
    assert [e.code for e in of(events, Notice)] == ["plan_open"]
    assert "1 Look up revenue, 2 Look up costs" in model.requests[2].messages[-1].content
    assert completed(events).answer == ANSWER


async def test_finish_with_open_items_is_an_observation_once() -> None:
    events, _ = await drive(make_agent([PLAN, call("finish"), call("finish"), ANSWER]))
    assert [(e.tool, e.ok) for e in of(events, ToolReturned)][1:] == [("finish", False), ("finish", True)]
    assert completed(events).answer == ANSWER


async def test_step_that_serves_no_open_item_is_told_so() -> None:
    off = call("search_knowledge", '{"query": "weather tomorrow"}')
    on = call("search_knowledge", '{"query": "costs"}')
    model = ScriptedChatModel([PLAN, off, on, GOOD, GOOD])
    await drive(make_agent(model))
    assert "serves no open item" in model.requests[2].messages[-1].content
    assert "serves no open item" not in model.requests[3].messages[-1].content


async def test_what_was_done_is_opened_again_twice_at_most() -> None:
    again = [step for n in "abc" for step in (done("1", reason=n), done("1", "open", n))]
    events, _ = await drive(make_agent([PLAN, *again, GOOD, GOOD], max_steps=12))
    assert [e.ok for e in of(events, ToolReturned)][-1] is False
    assert "more than 2 times" in of(events, ToolReturned)[-1].observation


async def test_item_that_needs_confirmation_waits_for_a_person() -> None:
    plan = call("plan_create", '{"items": [{"text": "Tell the customer", "needs_confirmation": true}]}')

    def no(event: Event, control: RunControl) -> None:
        if isinstance(event, ApprovalRequested):
            assert (event.what, event.text) == ("plan_item", "Tell the customer")
            control.decide(approved=False)

    events, _ = await drive(make_agent([plan, done("1"), GOOD]), people=no)
    assert [e.approved for e in of(events, ApprovalDecided)] == [False]
    assert of(events, PlanChanged)[-1].items[0].state == "dropped"
    assert completed(events).status == "answered"


@pytest.mark.parametrize("approved", [True, False])
async def test_tool_with_side_effects_waits_for_a_person_and_the_time_does_not_count(approved: bool) -> None:
    mail = SendMail()

    def decide(event: Event, control: RunControl) -> None:
        if isinstance(event, ApprovalRequested):
            assert control.waiting == "approval"
            assert mail.sent == []
            control.decide(approved=approved)

    agent = make_agent([call("send_mail", '{"to": "a"}'), GOOD], tools=[mail])
    events, _ = await drive(agent, people=decide)
    assert [e.kind for e in events if "approval" in e.kind or e.kind.startswith("tool_")] == [
        *("tool_called", "approval_requested", "approval_decided", "tool_returned"),
    ]
    assert of(events, ToolReturned)[0].ok is approved
    assert len(mail.sent) == approved
    completed(events)


async def test_without_controls_nobody_is_asked_and_nothing_acts() -> None:
    mail = SendMail()
    agent = make_agent([call("send_mail", '{"to": "a"}'), GOOD], tools=[mail])
    events = [event async for event in agent.run(request(attended=False), OWNER)]
    assert of(events, ApprovalRequested) == []
    assert mail.sent == []
    completed(events)


async def test_two_questions_are_answered_and_the_third_becomes_an_assumption() -> None:
    ask = [call("ask_user", f'{{"question": "Which year, {n}?"}}') for n in range(3)]
    model = ScriptedChatModel([*ask, GOOD])

    def answer(event: Event, control: RunControl) -> None:
        if isinstance(event, QuestionAsked):
            control.answer("2024")

    events, _ = await drive(make_agent(model), people=answer)
    assert [e.text for e in of(events, QuestionAnswered)] == ["2024", "2024"]
    assert "The reader answers: 2024" in model.requests[1].messages[-1].content
    assert "state it in the answer" in model.requests[3].messages[-1].content
    completed(events)


async def test_handing_over_ends_the_steps_with_the_best_answer_and_the_reason() -> None:
    agent = make_agent([PLAN, call("hand_over", '{"reason": "needs a signature"}'), ANSWER])
    events, _ = await drive(agent)
    told = of(events, HandedOver)[0]
    assert (told.question, told.reason, len(told.plan)) == (TASK, "needs a signature", 2)
    assert (completed(events).status, completed(events).answer) == ("handed_over", ANSWER)


async def test_paused_run_takes_edits_and_goes_on() -> None:
    model = ScriptedChatModel([PLAN, call("calculate", '{"expression": "1+1"}'), GOOD, GOOD])

    def people(event: Event, control: RunControl) -> None:
        match event:
            case ToolCalled(tool="plan_create"):
                control.pause()
            case RunPaused(before="step"):
                control.edit(Edit(target="question", text="What were costs?"))
                control.edit(Edit(target="plan_item", item="2", text="Look up costs of Q3"))
                control.pause()
                control.resume()
                control.pause()
            case RunPaused(before="call"):
                control.edit(Edit(target="call", arguments={"expression": "2+2"}))
                control.resume()
            case _:
                pass

    events, _ = await drive(make_agent(model), people=people)
    assert [e.kind for e in events if e.kind in ("run_paused", "run_edited", "run_resumed")] == [
        *("run_paused", "run_edited", "run_edited", "run_resumed"),
        *("run_paused", "run_edited", "run_resumed"),
    ]
    shown = model.requests[1].messages[-1].content
    assert "What were costs?" in shown
    assert "Look up costs of Q3" in shown
    assert of(events, ToolCalled)[1].arguments == {"expression": "2+2"}
    assert "2+2 = 4" in of(events, ToolReturned)[1].observation
    completed(events)


def test_wishes_that_do_not_fit_the_state_are_conflicts() -> None:
    control = RunControl()
    wishes: list[Any] = [
        control.resume,
        lambda: control.decide(approved=True),
        lambda: control.answer("x"),
        lambda: control.edit(Edit(target="question", text="x")),
    ]
    for wish in wishes:
        with pytest.raises(RunConflictError):
            wish()


async def test_plan_tools_are_offered_for_tasks_and_questions_to_those_who_attend() -> None:
    async def offered(question: str, *, attended: bool) -> set[str]:
        model = ScriptedChatModel([GOOD])
        await drive(make_agent(model), request(question, attended=attended))
        return {"plan_create", "ask_user", "hand_over"} & set(model.requests[0].facts.tools)

    assert await offered("What was revenue?", attended=False) == set()
    assert await offered("What was revenue?", attended=True) == {"ask_user", "hand_over"}
    assert await offered(TASK, attended=False) == {"plan_create", "hand_over"}


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What was revenue in Q3 2024?", False),
        ("2024年第三季度收入是多少？", False),
        ("1. revenue 2. costs", True),
        ("先查收入，再查成本", True),
        ("请完成：一、收入；二、成本", True),
        ("What was revenue? And costs? And profit?", True),
        ("What is 1.5 million times 2.5?", False),
    ],
)
def test_tasks_of_several_parts_are_told_from_questions(question: str, parts: bool) -> None:
    assert has_parts(question) is parts


def test_call_without_a_plan_does_not_drift() -> None:
    from agent.plan import Plan

    assert not drifts(Plan(), "q", "search_knowledge", {"query": "weather"}, "look")
