"""Runs whose model fails as endpoints fail: over a real socket, through the real client, into the events of the run."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import pytest

from agent.events import Event, FormatError, ModelUsed, Notice, RunCompleted, RunFailed, TerminalEvent
from agent.fake_endpoint import EndpointReply, FakeEndpoint
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.loop import Agent
from agent.models.openai import OpenAIChatModel
from agent.models.scripted import ScriptedChatModel
from agent.run import RunRequest
from agent.settings import LoopSettings, TierSettings
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from retrieval.types import ALL_RIGHTS, Principal

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
CHUNKS = [fake_chunk("Revenue in Q3 2024 was 238 million.", page=5)]
GOOD = "Thought: stated\n<final_answer>Revenue was 238 million [SOURCE: doc_7f3a_p5].</final_answer>"
AT_ONCE = {"retry-after-ms": "1"}
CUT = EndpointReply("Thought: rev", ending="no_finish")


async def run(
    replies: list[EndpointReply | str], *, small: list[EndpointReply | str] | None = None, **tier: Any
) -> tuple[list[Event], int, int]:
    """Ask one question; return the events, and how often each endpoint was asked."""
    async with AsyncExitStack() as stack:
        large = stack.enter_context(FakeEndpoint(replies))
        other = stack.enter_context(FakeEndpoint(small or [GOOD]))
        values: dict[str, Any] = {"model": "large-1", "max_retries": 0, "timeout_s": 5.0} | tier
        model = OpenAIChatModel(TierSettings(base_url=large.base_url, **values))
        spare = OpenAIChatModel(TierSettings(base_url=other.base_url, model="small-1", max_retries=0))
        stack.push_async_callback(model.close)
        stack.push_async_callback(spare.close)
        agent = Agent(
            model=model,
            spares=[spare] if small is not None else [],
            fallback=ScriptedChatModel([GOOD] * 3, name="extractive"),
            tools=ToolRegistry([SearchKnowledge(), Finish()]),
            searcher=FakeSearcher(CHUNKS),
            trigger=FakeTrigger("strong"),
            auditor=FakeAuditor(),
            library=FakeLibrary(CHUNKS),
            encoder="embedded",
            settings=LoopSettings(),
            clock=FakeClock(),
        )
        asked = RunRequest(run_id="r1", trace_id="t1", question="What was revenue?", language="en")
        events = [event async for event in agent.run(asked, OWNER)]
        assert [e.seq for e in events] == list(range(len(events)))
        assert sum(isinstance(e, TerminalEvent) for e in events) == 1
        return events, len(large.requests), len(other.requests)


def notices(events: list[Event]) -> list[str]:
    return [e.code for e in events if isinstance(e, Notice)]


def answered_by(events: list[Event]) -> str:
    last = events[-1]
    assert isinstance(last, RunCompleted), last
    assert last.answer == "Revenue was 238 million [SOURCE: doc_7f3a_p5]."
    return last.model


@pytest.mark.parametrize("headers", [AT_ONCE, {"retry-after": "0.01"}], ids=["milliseconds", "seconds"])
@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_passing_refusal_is_waited_out_and_no_reader_hears_of_it(status: int, headers: dict[str, str]) -> None:
    refused = EndpointReply(status=status, headers=headers)
    events, asked, _ = await run([refused, refused, GOOD], max_retries=2)
    assert (answered_by(events), asked, notices(events)) == ("large-1", 3, [])


@pytest.mark.parametrize("status", [429, 500])
async def test_lasting_refusal_hands_over_and_says_so(status: int) -> None:
    events, asked, _ = await run([EndpointReply(status=status, headers=AT_ONCE)], max_retries=1)
    assert (answered_by(events), asked, notices(events)) == ("extractive", 2, ["model_fallback"])


async def test_chain_goes_to_the_small_tier_first() -> None:
    events, _, small = await run([EndpointReply(status=500)], small=[GOOD])
    assert (answered_by(events), small, notices(events)) == ("small-1", 1, ["model_fallback"])


async def test_chain_goes_on_where_the_small_tier_is_down_too() -> None:
    events, large, small = await run([EndpointReply(status=500)], small=[EndpointReply(status=500)])
    assert (answered_by(events), large, small) == ("extractive", 1, 1)
    assert notices(events) == ["model_fallback", "model_fallback"]


async def test_cut_stream_is_asked_for_again_once() -> None:
    events, asked, _ = await run([CUT, GOOD])
    assert (answered_by(events), asked, notices(events)) == ("large-1", 2, ["reply_cut"])


@pytest.mark.parametrize("ending", ["no_finish", "dropped"])
async def test_stream_that_is_cut_again_hands_over(ending: Any) -> None:
    events, asked, _ = await run([EndpointReply("Thought: rev", ending=ending)])
    assert (answered_by(events), asked, notices(events)) == ("extractive", 2, ["reply_cut", "model_fallback"])


async def test_what_a_cut_reply_cost_is_counted() -> None:
    events, _, _ = await run([CUT, GOOD])
    used = [e for e in events if isinstance(e, ModelUsed)]
    assert [e.model for e in used] == ["large-1", "large-1"]
    last = events[-1]
    assert isinstance(last, RunCompleted)
    assert last.prompt_tokens == sum(e.prompt_tokens for e in used)


async def test_answer_whose_counts_never_come_is_whole() -> None:
    body = b'data: {"choices": [{"delta": {"content": "%s"}, "finish_reason": "stop"}]}\n\ndata: {broken\n\n'
    reply = EndpointReply(body=body % GOOD.replace("\n", "\\n").encode(), headers={"content-type": "text/event-stream"})
    events, asked, _ = await run([reply])
    assert (answered_by(events), asked, notices(events)) == ("large-1", 1, [])


async def test_first_token_has_a_limit_of_its_own() -> None:
    events, asked, _ = await run([EndpointReply("", ending="pings")], first_token_timeout_s=0.2)
    assert (answered_by(events), asked, notices(events)) == ("extractive", 1, ["model_fallback"])


@pytest.mark.parametrize("ending", ["hang", "pings"])
async def test_silence_between_tokens_is_a_cut(ending: Any) -> None:
    events, asked, _ = await run([EndpointReply("Thought: rev", ending=ending), GOOD], between_tokens_timeout_s=0.2)
    assert (answered_by(events), asked, notices(events)) == ("large-1", 2, ["reply_cut"])


async def test_empty_reply_is_a_broken_form_that_the_model_is_told_of() -> None:
    events, asked, _ = await run(["", GOOD])
    assert (answered_by(events), asked, notices(events)) == ("large-1", 2, [])
    assert sum(isinstance(e, FormatError) for e in events) == 1


async def test_endpoint_that_says_nothing_again_and_again_is_replaced() -> None:
    events, asked, _ = await run([""])
    assert (answered_by(events), asked, notices(events)) == ("extractive", 2, ["model_fallback"])


@pytest.mark.parametrize("body", [b'data: {"choices": [{\n\n', b"event: x\ndata: 3\n\n", b"\x80\x81"])
async def test_stream_that_is_no_stream_hands_over(body: bytes) -> None:
    events, _, _ = await run([EndpointReply(body=body, headers={"content-type": "text/event-stream"})])
    assert answered_by(events) == "extractive"


async def test_malformed_event_in_the_middle_is_a_cut() -> None:
    body = b'data: {"choices": [{"delta": {"content": "Thought: a"}}]}\n\ndata: {"choi\n\n'
    broken = EndpointReply(body=body, headers={"content-type": "text/event-stream"})
    events, asked, _ = await run([broken, GOOD])
    assert (answered_by(events), asked, notices(events)) == ("large-1", 2, ["reply_cut"])


async def test_no_endpoint_text_reaches_the_reader() -> None:
    secret = EndpointReply(status=500, body=b'{"error": {"message": "host-7 says no"}}')
    events, _, _ = await run([secret])
    assert not any("host-7" in e.model_dump_json() for e in events)
    assert not isinstance(events[-1], RunFailed)
