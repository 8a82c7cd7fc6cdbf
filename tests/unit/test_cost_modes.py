"""Brief answers to long prompts, the small model for simple questions, and what each step used."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent.cost import Price, PriceTable
from agent.events import Event, ModelUsed, Notice, RunCompleted
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.routing import is_simple
from agent.run import RunRequest
from agent.settings import LoopSettings
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from agent.usage import steps_of
from retrieval.types import Principal

GOOD = "<final_answer>Revenue was 5 [SOURCE: doc_7f3a_p5].</final_answer>"
PAGE = fake_chunk("Revenue in Q3 2024 was 5.")


async def run(
    large: ScriptedChatModel, question: str, *, small: ScriptedChatModel | None = None, **settings: Any
) -> list[Event]:
    agent = Agent(
        model=large,
        fallback=None,
        small=small,
        tools=ToolRegistry([SearchKnowledge()]),
        searcher=FakeSearcher([PAGE]),
        trigger=FakeTrigger("strong"),
        auditor=FakeAuditor(),
        library=FakeLibrary([PAGE]),
        encoder="embedded",
        settings=LoopSettings(**settings),
        clock=FakeClock(),
        prices=PriceTable({"large": Price(prompt=Decimal(10), completion=Decimal(20))}),
    )
    request = RunRequest(run_id="r1", trace_id="t1", question=question, language="en")
    return [event async for event in agent.run(request, Principal(tenant="local", user="owner"))]


def codes(events: list[Event]) -> list[str]:
    return [event.code for event in events if isinstance(event, Notice)]


async def test_a_long_prompt_asks_for_a_brief_answer_and_says_so() -> None:
    long, short, off = (ScriptedChatModel([GOOD]) for _ in range(3))
    assert codes(await run(long, "What was revenue?", concise_above_tokens=100)) == ["concise"]
    assert "Be brief" in long.requests[0].messages[-1].content
    assert codes(await run(short, "What was revenue?", concise_above_tokens=50_000)) == []
    assert codes(await run(off, "What was revenue?", concise_above_tokens=None)) == []
    assert all("Be brief" not in model.requests[0].messages[-1].content for model in (short, off))


async def test_a_simple_question_goes_to_the_small_model_and_the_large_one_takes_over() -> None:
    large, small = ScriptedChatModel([GOOD, GOOD], name="large"), ScriptedChatModel([GOOD], name="small")
    events = await run(large, "What was revenue in Q3 2024?", small=small)
    done = events[-1]
    assert isinstance(done, RunCompleted)
    assert (done.model, codes(events), len(large.requests)) == ("small", ["routed_small"], 0)
    hard = await run(large, "Compare revenue in Q3 2024 with Q3 2023 and explain why it fell", small=small)
    assert [event.model for event in hard if isinstance(event, ModelUsed)] == ["large"]
    weak = ScriptedChatModel(["rubbish"] * 3, name="small")
    rescued = await run(large, "What was revenue in Q3 2024?", small=weak)
    last = rescued[-1]
    assert isinstance(last, RunCompleted)
    assert (last.model, codes(rescued)) == ("large", ["routed_small", "model_fallback"])
    steps = steps_of(rescued)
    assert [step.models for step in steps][-1] == ("large",)
    assert steps[0].money is None
    assert steps[-1].money is not None
    assert sum(step.prompt_tokens for step in steps) == last.prompt_tokens


@pytest.mark.parametrize(("question", "tier", "simple"), [
    ("What was revenue in Q3 2024?", "strong", True),
    ("年假有几天？", "strong", True),
    ("比较两年的营业收入", "strong", False),
    ("年假有几天？病假呢？", "strong", False),
    ("What was revenue? And costs?", "strong", False),
    ("How do I apply for AWS access?", "weak", False),
    ("Tell me a joke", "none", True),
    ("你好", "none", True),
])  # fmt: skip
def test_what_is_simple(question: str, tier: Any, simple: bool) -> None:
    assert is_simple(question, tier) is simple
