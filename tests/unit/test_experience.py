"""What finished tasks tell new ones: those of the same person, from the journal, to models that read prompts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import StaticPool

from agent.experience import JournalExperience
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.journal import Journal
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import Exchange, RunRequest
from agent.settings import LoopSettings
from agent.tables import metadata
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from retrieval.types import Principal

OWNER, OTHER = Principal(tenant="local", user="owner"), Principal(tenant="local", user="other")
SEARCH = 'Thought: x\n<tool_name>search_knowledge</tool_name><arguments>{"query": "revenue"}</arguments>'
GOOD = "<final_answer>Revenue was 5 [SOURCE: doc_7f3a_p5].</final_answer>"


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine)
    yield engine
    engine.dispose()


async def run(engine: Engine, model: ScriptedChatModel, run_id: str, question: str, **more: Any) -> None:
    page = fake_chunk("Revenue in Q3 2024 was 5.")
    agent = Agent(
        model=model,
        fallback=None,
        tools=ToolRegistry([SearchKnowledge()]),
        searcher=FakeSearcher([page]),
        trigger=FakeTrigger("strong"),
        auditor=FakeAuditor(),
        library=FakeLibrary([page]),
        encoder="embedded",
        settings=LoopSettings(),
        clock=FakeClock(),
        experience=JournalExperience(engine),
    )
    asked = RunRequest(run_id=run_id, trace_id="t1", question=question, language="en", **more)
    events = [event async for event in agent.run(asked, OWNER)]
    Journal(engine).append(events, OWNER)


async def test_a_task_is_told_how_one_like_it_was_done(engine: Engine) -> None:
    first, second = ScriptedChatModel([SEARCH, GOOD]), ScriptedChatModel([GOOD, GOOD])
    await run(engine, first, "r1", "What was revenue of the bank in Q3 2024?")
    await run(engine, second, "r2", "What was revenue of the bank in Q4 2024?")
    await run(engine, second, "r3", "How many days of leave are there?")
    assert all("<experience>" not in message.content for message in first.requests[0].messages)
    told = second.requests[0].messages[-1].content
    assert "- What was revenue of the bank in Q3 2024? → search_knowledge; 2 steps; audit risk low" in told
    assert "<experience>" not in second.requests[1].messages[-1].content
    past = JournalExperience(engine)
    assert {task.run_id for task in past.similar("Revenue of the bank in Q1 2024?", OWNER)} == {"r1", "r2"}
    assert past.similar("Revenue of the bank in Q1 2024?", OTHER) == []
    assert past.similar("的", OWNER) == []


async def test_the_model_is_shown_the_conversation_with_the_newest_turns_first(engine: Engine) -> None:
    model = ScriptedChatModel([GOOD])
    before = (Exchange(question="First?", answer="[SOURCE: doc_x] one"), Exchange(question="Second?", answer=""))
    await run(engine, model, "r1", "Third?", before=before)
    said = model.requests[0].messages[-1].content
    assert said.index("User: First?") < said.index("User: Second?") < said.index("Question: Third?")
    assert "[SOURCE: doc_x]" not in said, "labels of other runs are inert"
