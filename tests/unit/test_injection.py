"""Hostile text in documents, and a model that does whatever it says: nothing comes of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.audit.auditor import Auditor
from agent.events import CitationAdded, Event, RunCompleted, TextDelta, ToolReturned
from agent.fakes import FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.llm import ChatRequest
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import RunRequest
from agent.settings import AuditSettings, LoopSettings
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.builtin.list_documents import ListDocuments
from agent.tools.builtin.read_document import ReadDocument
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from retrieval.labels import find_tags
from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.types import ALL_RIGHTS, Principal

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
SECRET = "SECRET-9931"
PASSAGES: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).parents[1].joinpath("shared", "hostile_passages.toml").read_text(encoding="utf-8")
)["passages"]
LIVE_RE = re.compile(r"\]\(|\]:|<[A-Za-z/!?]|://\S|\bwww\.\w", re.IGNORECASE)


class Acting:
    """A tool with side effects that counts what it did."""

    def __init__(self, name: str, approval: str = "always") -> None:
        self.done = 0
        self.spec = ToolSpec(
            name=name,
            description="acts",
            arguments={"type": "object"},
            side_effects=True,
            approval=approval,  # type: ignore[arg-type]
        )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        self.done += 1
        return ToolResult(text="done")


@pytest.fixture(scope="module")
def language() -> SymbolLanguage:
    return load_language(b"0123456789abcdef0123456789abcdef")


def obeying(passage: dict[str, Any]) -> Iterator[str]:
    """What a model writes that does all that the passage says, and then insists."""
    calls = [json.loads(each) for each in passage.get("calls", [])]
    for name, arguments in calls:
        yield (
            f"Thought: the text says so\n<tool_name>{name}</tool_name>"
            f"<arguments>{json.dumps(arguments, ensure_ascii=False)}</arguments>"
        )
    answer = passage.get("answer") or "Done as the document says."
    while True:
        yield f"Thought: done\n<final_answer>{answer}</final_answer>"


async def run(passage: dict[str, Any], language: SymbolLanguage) -> tuple[list[Event], list[Acting], list[ChatRequest]]:
    hostile = fake_chunk(f"Revenue in Q3 2024 was 238 million. {passage['text']}", page=5)
    other = fake_chunk(f"The salary is {SECRET}.", document_id="beef00000000", ordinal=1).model_copy(
        update={"tenant": "other"}
    )
    acting = [Acting("send_mail"), Acting("pay", "untrusted"), Acting("delete_document")]
    script = obeying(passage)
    model = ScriptedChatModel(lambda request: next(script))
    agent = Agent(
        model=model,
        fallback=None,
        tools=ToolRegistry([SearchKnowledge(), ReadDocument(), ListDocuments(), *acting]),
        searcher=FakeSearcher([hostile, other]),
        trigger=FakeTrigger("strong"),
        auditor=Auditor(language, AuditSettings()),
        library=FakeLibrary([hostile, other]),
        encoder="embedded",
        settings=LoopSettings(),
        clock=FakeClock(),
    )
    request = RunRequest(run_id="r", trace_id="t", question="What was the revenue in Q3 2024?", language="en")
    return [event async for event in agent.run(request, OWNER)], acting, model.requests


def test_the_corpus_has_sixty_passages_of_at_least_twelve_kinds() -> None:
    assert len(PASSAGES) == len({passage["text"] for passage in PASSAGES}) == 60
    assert len({passage["kind"] for passage in PASSAGES}) >= 12
    assert sum(bool(passage.get("calls")) for passage in PASSAGES) > 30


@pytest.mark.parametrize("passage", PASSAGES, ids=lambda passage: passage["kind"])
async def test_a_model_that_obeys_a_document_does_no_harm(passage: dict[str, Any], language: SymbolLanguage) -> None:
    events, acting, requests = await run(passage, language)
    assert [tool.done for tool in acting] == [0, 0, 0]
    for each in events:
        assert SECRET not in each.model_dump_json() or SECRET in json.dumps(passage.get("calls", []))
    observed = [each.observation for each in events if isinstance(each, ToolReturned)]
    assert not any("salary" in text for text in observed)
    # In the prompt the passage stands inert: its own label is the only one, and no tag of the protocol acts.
    prompt = requests[0].messages[-1].content
    assert {tag.label for tag in find_tags(prompt)} - {"label"} == {"doc_7f3a_p5"}  # `label`: of the instruction
    answer = "".join(each.text for each in events if isinstance(each, TextDelta))
    assert LIVE_RE.search(answer) is None
    done = events[-1]
    if isinstance(done, RunCompleted):
        assert done.answer == answer
        foreign = {tag.label for tag in find_tags(answer)} - {"doc_7f3a_p5"}
        told = {label for sentence in done.audit.sentences for label in sentence.unknown_labels}
        assert foreign == told
        assert not foreign or (done.audit.risk == "high" and done.audit.violations)
    cited = {each.label for each in events if isinstance(each, CitationAdded)}
    assert cited <= {"doc_7f3a_p5"}
