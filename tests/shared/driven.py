"""Runs of scripted models with people who interfere: what tests of control, tape and chaos share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from agent.control import RunControl
from agent.events import Event
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import RunRequest
from agent.settings import LoopSettings
from agent.tape import Entry, Tape
from agent.tools.base import Tool, ToolContext, ToolResult, ToolSpec
from agent.tools.builtin.ask_user import AskUser
from agent.tools.builtin.calculate import Calculate
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.hand_over import HandOver
from agent.tools.builtin.list_documents import ListDocuments
from agent.tools.builtin.plan import PlanCreate, PlanUpdate
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from retrieval.types import ALL_RIGHTS, Principal

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
CHUNKS = [
    fake_chunk("Revenue in Q3 2024 was 238 million.", page=5, ordinal=0),
    fake_chunk("Costs fell by 3 %.", page=6, ordinal=1),
]
ANSWER = "Revenue was 238 million [SOURCE: doc_7f3a_p5]."
GOOD = f"Thought: stated\n<final_answer>{ANSWER}</final_answer>"
TASK = "First look up revenue in Q3 2024. Then look up costs. Then compare the two."
People = Callable[[Event, RunControl], None]


class SendMail:
    """A tool with side effects that counts how often it acted."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="send_mail",
            description="Send a mail.",
            arguments={"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
            side_effects=True,
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Act."""
        self.sent.append(arguments)
        return ToolResult(text="sent")


def call(tool: str, arguments: str = "{}") -> str:
    """Write a reply that calls a tool."""
    return f"Thought: next\n<tool_name>{tool}</tool_name><arguments>{arguments}</arguments>"


def make_agent(
    model: Any,
    *,
    tier: Any = "strong",
    fallback: Any = None,
    tools: Sequence[Tool] = (),
    searcher: Any = None,
    trigger: Any = None,
    **settings: Any,
) -> Agent:
    """Make an agent with all tools of a run, and more."""
    own = [PlanCreate(), PlanUpdate(), AskUser(), HandOver(), Finish()]
    return Agent(
        model=model if hasattr(model, "stream") else ScriptedChatModel(model),
        fallback=fallback,
        tools=ToolRegistry([SearchKnowledge(), ListDocuments(), Calculate(), *tools, *own]),
        searcher=searcher or FakeSearcher(CHUNKS),
        trigger=trigger or FakeTrigger(tier),
        auditor=FakeAuditor(),
        library=FakeLibrary(CHUNKS),
        encoder="embedded",
        settings=LoopSettings(**settings),
        clock=FakeClock(),
    )


def request(question: str = TASK, *, attended: bool = True, run_id: str = "r1") -> RunRequest:
    """Ask."""
    return RunRequest(run_id=run_id, trace_id="t1", question=question, language="en", attended=attended)


async def drive(
    agent: Agent,
    asked: RunRequest | None = None,
    *,
    people: People = lambda event, control: None,
    stored: Sequence[Event] = (),
    entries: Sequence[Entry] = (),
    stop_after: int | None = None,
) -> tuple[list[Event], list[Entry]]:
    """Run, or go on with what was stored; return all events and all that was recorded.

    Args:
        agent: runs.
        asked: the question.
        people: is told each new event, and acts on the controls when the run waits.
        stored: the events of a former start.
        entries: what it had recorded.
        stop_after: break off, as a process that is killed, once so many new events are written.
    """
    control, tape = RunControl(), Tape(stored, entries)
    events, kept = list(stored), list(entries)
    run = agent.run(asked or request(), OWNER, control=control, tape=tape)
    attending = asyncio.create_task(_attend(events, control, people))
    try:
        new = 0
        async for event in run:
            events.append(event)
            if not event.kind.endswith("_delta"):
                kept += tape.drain()
            new += 1
            if new == stop_after:
                break
            if event.kind not in _WAITS:
                people(event, control)
    finally:
        attending.cancel()
        await asyncio.wait([attending])
        await run.aclose()
    return events, kept


_WAITS = {"approval_requested": "approval", "question_asked": "answer", "run_paused": "paused"}


async def _attend(events: list[Event], control: RunControl, people: People) -> None:
    """Let people see what the run waits for, also where it has waited since before a restart."""
    while True:
        told = next((event for event in reversed(events) if event.kind in _WAITS), None)
        if told is not None and _WAITS[told.kind] == control.waiting:
            people(told, control)
        await asyncio.sleep(0.001)
