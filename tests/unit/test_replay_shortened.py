"""A run whose results were shortened is replayed to the same events, without model and without tools."""

from __future__ import annotations

from typing import Any

import pytest

from agent.events import ToolReturned
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.replay import replay
from agent.run import RunRequest
from agent.settings import LoopSettings
from agent.tape import Tape
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.builtin.read_artifact import ReadArtifact
from agent.tools.builtin.write_document import WriteDocument
from agent.tools.registry import ToolRegistry
from agent.windows import Window
from retrieval.types import Principal

OWNER = Principal(tenant="local", user="owner")
REPLIES = [
    '<tool_name>report</tool_name><arguments>{"n": 1}</arguments>',
    '<tool_name>read_artifact</tool_name><arguments>{"artifact": "original_1", "from": 9000}</arguments>',
    '<tool_name>write_document</tool_name><arguments>{"title": "T", "text": "all of it"}</arguments>',
    '<tool_name>report</tool_name><arguments>{"n": 2, "from": "artifact_1"}</arguments>',
    "<final_answer>Done.</final_answer>",
]


class Report:
    """Gives ten thousand characters."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name="report", description="A report.", arguments={"type": "object"})

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(text="".join(f"Line {i} of {arguments}. " for i in range(500))[:10_000])


@pytest.mark.parametrize("shortening", [False, True])
async def test_shortened_results_are_the_same_when_a_run_is_replayed(shortening: bool) -> None:
    small = ScriptedChatModel(["Line 1."] * 2, name="small")

    def agent() -> Agent:
        return Agent(
            model=ScriptedChatModel(REPLIES, window=Window(8192, 1024)),
            fallback=None,
            tools=ToolRegistry([Report(), WriteDocument(), ReadArtifact()]),
            searcher=FakeSearcher(),
            trigger=FakeTrigger("weak"),
            auditor=FakeAuditor(),
            library=FakeLibrary(),
            encoder="embedded",
            settings=LoopSettings(observation_chars=1000),
            clock=FakeClock(),
            shortening=small if shortening else None,
        )

    tape, request = Tape(), RunRequest(run_id="r1", trace_id="t1", question="What is line 7?", language="en")
    events = [event async for event in agent().run(request, OWNER, tape=tape)]
    returned = [event for event in events if isinstance(event, ToolReturned)]
    assert [event.shortened_from is not None for event in returned] == [True, False, False, True]
    assert "all of it" in returned[3].observation or shortening, "the artifact's text was the argument"
    replayed = await replay(agent(), request, OWNER, events, tape.drain())
    assert replayed.differences == ()
    assert len(small.requests) == (2 if shortening else 0)
