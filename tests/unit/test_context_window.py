"""Long runs stay inside the model's window, and what was shortened stays citable and readable."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.artifacts import Artifact, MemoryOriginals, RunArtifacts
from agent.compression import shorten
from agent.errors import ModelUnavailableError
from agent.events import CitationAdded, Event, ModelUsed, RunCompleted, ToolReturned
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.llm import ChatRequest
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.protocols.reasons import Form
from agent.run import RunRequest
from agent.settings import LoopSettings
from agent.tokens import estimate_tokens
from agent.tools.base import Tool, ToolContext, ToolResult, ToolSpec
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.read_artifact import ReadArtifact
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.builtin.write_document import WriteDocument
from agent.tools.registry import ToolRegistry
from agent.windows import Window
from retrieval.types import ALL_RIGHTS, Chunk, Principal

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
WINDOW = Window(8192, 1024)
EN = "Branch {i} of region {n} closed the quarter with revenue of {i}.4 million dollars. "
_PARTS = st.lists(st.sampled_from(["营业收入3.2亿元。", "Costs rose. ", "a\n"]), max_size=80).map("".join)
ZH = "第{i}号网点（{n}区）本季度营业收入为{i}.4亿元，同比增长百分之五。"


def long_text(n: int, line: str, size: int = 50_000) -> str:
    return "".join(line.format(i=i, n=n) for i in range(size // len(line) + 1))[:size]


class Report:
    """Gives fifty thousand characters, citable."""

    def __init__(self, line: str) -> None:
        self.line = line

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name="report", description="A region's report.", arguments={"type": "object"})

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        text = long_text(int(arguments["n"]), self.line)
        return ToolResult(text=text, label=context.reserve("report", text))


class Post:
    """Remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []

    @property
    def spec(self) -> ToolSpec:
        arguments = {"type": "object", "properties": {"body": {"type": "string"}}, "required": ["body"]}
        return ToolSpec(name="post", description="Posts.", arguments=arguments)

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        self.given.append(arguments)
        return ToolResult(text="posted")


def make_agent(
    model: ScriptedChatModel,
    *tools: Tool,
    chunks: tuple[Chunk, ...] = (),
    shortening: ScriptedChatModel | None = None,
    **settings: Any,
) -> Agent:
    return Agent(
        model=model,
        fallback=None,
        tools=ToolRegistry([*tools, SearchKnowledge(), WriteDocument(), ReadArtifact(), Finish()]),
        searcher=FakeSearcher(chunks),
        trigger=FakeTrigger("strong"),
        auditor=FakeAuditor(),
        library=FakeLibrary(chunks),
        encoder="embedded",
        settings=LoopSettings(max_steps=101, **settings),
        clock=FakeClock(),
        shortening=shortening,
    )


async def run(agent: Agent, question: str, language: Literal["zh", "en"] = "en") -> list[Event]:
    request = RunRequest(run_id="r1", trace_id="t1", question=question, language=language)
    return [event async for event in agent.run(request, OWNER)]


def call(tool: str, arguments: str) -> str:
    return f"Thought: next\n<tool_name>{tool}</tool_name><arguments>{arguments}</arguments>"


def tokens_of(request: ChatRequest) -> int:
    return sum(
        estimate_tokens(m.content) + sum(estimate_tokens(c.name + c.arguments) for c in m.calls)
        for m in request.messages
    )


@pytest.mark.parametrize(("steps", "line", "question", "language", "form"), [
    (100, EN, "What was revenue of branch 317?", "en", "xml"),
    (25, ZH, "第317号网点的营业收入是多少？", "zh", "json"),
])  # fmt: skip
async def test_a_hundred_steps_of_fifty_kilobytes_stay_inside_the_window(
    steps: int, line: str, question: str, language: Literal["zh", "en"], form: Form
) -> None:
    asked = 0

    def reply(request: ChatRequest) -> str:
        nonlocal asked
        asked += 1
        if asked == steps + 1:
            return written("finish", "{}")
        if request.purpose == "finish":
            return f"Revenue was 317.4 [SOURCE: tool_report#{steps}]."
        return written("report", f'{{"n": {asked}}}')

    def written(tool: str, arguments: str) -> str:
        if form == "json":
            return f'{{"thought": "next", "action": "{tool}", "action_input": {arguments}}}'
        return call(tool, arguments)

    model = ScriptedChatModel(reply, form=form, window=WINDOW)
    page = fake_chunk(long_text(0, line))
    events = await run(make_agent(model, Report(line), chunks=(page,)), question, language)
    sizes = [tokens_of(request) for request in model.requests]
    assert len(sizes) == steps + 2
    assert max(sizes) + WINDOW.reply_tokens <= WINDOW.tokens
    returned = [event for event in events if isinstance(event, ToolReturned)]
    shown = [event for event in returned if event.tool == "report"]
    assert len(shown) == steps
    assert all("317.4" in event.observation and event.shortened_from for event in shown)
    assert all(f"[SOURCE: tool_report#{n}]" in event.observation for n, event in enumerate(shown, 1))
    late = model.requests[steps - 1].messages
    told = "".join(message.content for message in late)
    assert "[SOURCE: doc_7f3a_p5]" in told
    assert f"[SOURCE: tool_report#{steps - 12}]" in told, "folded steps keep their labels"
    assert all(one.role != other.role for one, other in pairwise(late))
    last = events[-1]
    assert isinstance(last, RunCompleted)
    assert f"tool_report#{steps}" in last.answer


async def test_native_calls_stay_in_pairs_when_early_turns_are_folded() -> None:
    from agent.llm import ChatPiece
    from agent.protocols.pieces import CallDelta

    asked = 0

    def reply(request: ChatRequest) -> Any:
        nonlocal asked
        asked += 1
        if asked > 30:
            return "Done [SOURCE: tool_report#1]."
        return [ChatPiece(calls=(CallDelta(0, "c", "report", f'{{"n": {asked}}}'),), finish_reason="tool_calls")]

    model = ScriptedChatModel(reply, form="native", window=WINDOW)
    await run(make_agent(model, Report(EN)), "What was revenue of branch 317?")
    assert len(model.requests) == 31
    for request in model.requests:
        assert tokens_of(request) + WINDOW.reply_tokens <= WINDOW.tokens
        open_calls: set[str | None] = set()
        for message in request.messages:
            open_calls |= {each.id for each in message.calls}
            if message.role == "tool":
                assert message.call_id in open_calls
                open_calls.discard(message.call_id)
        assert not open_calls


async def test_a_shortened_passage_keeps_its_label_and_the_audit_sees_the_original() -> None:
    page = fake_chunk(long_text(0, EN) + "The auditor of region 0 is Meier & Partner.")
    answer = "Thought: x\n<final_answer>It is Meier & Partner [SOURCE: doc_7f3a_p5].</final_answer>"
    model = ScriptedChatModel([answer], window=WINDOW)
    events = await run(make_agent(model, chunks=(page,)), "Who is the auditor of region 0?")
    prompt = "".join(message.content for message in model.requests[0].messages)
    assert "Meier & Partner" in prompt
    assert "[SOURCE: doc_7f3a_p5]" in prompt
    assert [event.label for event in events if isinstance(event, CitationAdded)] == ["doc_7f3a_p5"]
    last = events[-1]
    assert isinstance(last, RunCompleted)
    assert last.passages[0].chunk.text == page.text


async def test_the_whole_of_what_was_shortened_can_be_read() -> None:
    class Noise:
        @property
        def spec(self) -> ToolSpec:
            return ToolSpec(name="noise", description="Noise.", arguments={"type": "object"})

        async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
            return ToolResult(text=long_text(7, EN) + "The door code is blue.")

    replies = [
        call("noise", "{}"),
        call("read_artifact", '{"artifact": "original_1", "about": "door code"}'),
        call("read_artifact", '{"artifact": "original_1", "from": 48000}'),
        call("read_artifact", '{"artifact": "original_9"}'),
        "<final_answer>Done.</final_answer>",
    ]
    events = await run(make_agent(ScriptedChatModel(replies, window=WINDOW), Noise()), "What did region 7 earn?")
    noise, about, rest, none = [event for event in events if isinstance(event, ToolReturned)]
    assert 'read_artifact {"artifact": "original_1"}' in noise.observation
    assert "door code is blue" not in noise.observation
    assert "door code is blue" in about.observation
    assert "door code is blue" in rest.observation
    assert not none.ok


async def test_an_argument_that_names_an_artifact_becomes_the_whole_text() -> None:
    post = Post()
    text = "word " * 400
    replies = [
        call("write_document", f'{{"title": "Report", "text": "{text}"}}'),
        call("post", '{"body": "artifact_1"}'),
        "<final_answer>Posted.</final_answer>",
    ]
    model = ScriptedChatModel(replies, window=WINDOW)
    events = await run(make_agent(model, post), "Write and post the report")
    assert post.given == [{"body": text}]
    kept = next(event for event in events if isinstance(event, ToolReturned))
    assert "artifact_1" in kept.observation
    assert len(re.findall("word", kept.observation)) <= 40
    assert "word " * 100 not in model.requests[1].messages[-2].content, "its own long text is not shown again"


def test_artifacts_go_when_there_are_too_many() -> None:
    store = MemoryOriginals(most_chars=100)
    artifacts = RunArtifacts(store)
    first, second = artifacts.keep_original("a", "x" * 60), artifacts.keep_original("b", "y" * 60)
    assert (artifacts.get(first.name), artifacts.get(second.name)) == (None, second)
    assert artifacts.expand({"a": ["original_2", {"b": "original_1"}], "n": 1}) == {
        "a": ["y" * 60, {"b": "original_1"}],
        "n": 1,
    }
    assert len(Artifact("n", "t", "long " * 100).summary) <= 200


@given(
    text=st.text(max_size=600) | _PARTS,
    question=st.text(max_size=40),
    room=st.integers(1, 200),
)  # fmt: skip
@settings(deadline=None)
def test_a_shortened_text_fits_and_says_nothing_new(text: str, question: str, room: int) -> None:
    short = shorten(text, question, len, room)
    assert len(short) <= max(room, 0)
    if len(text) <= room:
        assert short == text
    for part in re.split(r"\s*…\s*", short):
        assert part.strip() in text


@pytest.mark.parametrize(("reply", "expected"), [
    ("Branch 317 had 317.4 million.", "Branch 317 had 317.4 million."),
    (ModelUnavailableError("down"), "…"),
])  # fmt: skip
async def test_the_small_model_may_shorten_and_sentences_do_where_it_cannot(reply: Any, expected: str) -> None:
    small = ScriptedChatModel([reply], name="small", window=Window(4096, 512))
    model = ScriptedChatModel([call("report", '{"n": 1}'), "<final_answer>Done.</final_answer>"], window=WINDOW)
    events = await run(make_agent(model, Report(EN), shortening=small), "What was revenue of branch 317?")
    shown = next(event for event in events if isinstance(event, ToolReturned))
    assert expected in shown.observation
    assert "317.4" in shown.observation
    assert "[SOURCE: tool_report#1]" in shown.observation
    assert tokens_of(small.requests[0]) <= 4096 - 512
    used = [event.model for event in events if isinstance(event, ModelUsed)]
    assert used == ["scripted", "small", "scripted"]
    assert [event.seq for event in events] == list(range(len(events)))
