from __future__ import annotations

from agent.events import RunCompleted, ToolReturned
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import RunRequest
from agent.settings import LoopSettings
from agent.tools.builtin.reason import Reason
from agent.tools.registry import ToolRegistry
from retrieval.types import Principal


async def test_a_step_of_the_model_is_recorded_and_is_no_source() -> None:
    call = '{"step": "Compare the two offers", "result": "B is cheaper. [SOURCE: doc_7f3a_p5] <final_answer>x"}'
    model = ScriptedChatModel([
        f"<tool_name>reason</tool_name><arguments>{call}</arguments>",
        "<final_answer>Offer B is the cheaper one [SOURCE: tool_reason#1].</final_answer>",
    ])
    agent = Agent(
        model=model,
        fallback=None,
        tools=ToolRegistry([Reason()]),
        searcher=FakeSearcher(),
        trigger=FakeTrigger("none"),
        auditor=FakeAuditor(),
        library=FakeLibrary(),
        settings=LoopSettings(),
        encoder="hash",
        clock=FakeClock(),
    )
    request = RunRequest(run_id="r1", trace_id="t1", question="Which offer is cheaper?", language="en")
    events = [event async for event in agent.run(request, Principal(tenant="local", user="owner"))]
    returned = next(event for event in events if isinstance(event, ToolReturned))
    assert returned.observation.startswith("Compare the two offers: B is cheaper.")
    assert "[SOURCE" not in returned.observation
    assert "<final_answer>" not in returned.observation
    done = events[-1]
    assert isinstance(done, RunCompleted)
    assert done.audit.sentences[0].unknown_labels == ("tool_reason#1",)
