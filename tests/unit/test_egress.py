"""Text under a label that must stay never stands in a prompt of a remote model, whichever way it comes in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.egress import UNLABELLED, Egress
from agent.errors import EgressRefusedError
from agent.events import Event, Notice, RunCompleted, RunFailed
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.llm import ChatModel, ChatPiece, ChatRequest, Message, RunFacts
from agent.loop import Agent
from agent.models.guarded import GuardedModel
from agent.models.scripted import ScriptedChatModel
from agent.run import Exchange, RunRequest
from agent.settings import LoopSettings
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.list_documents import ListDocuments
from agent.tools.builtin.read_document import ReadDocument
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from agent.windows import Window
from api.model_wiring import open_tiers
from api.settings import load_settings
from retrieval.types import ALL_RIGHTS, Chunk, Principal, Tier

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
SECRET, TITLE = "The merger price is 4,711 crowns", "Project Nightingale"
KEPT = fake_chunk(SECRET, document_id="5ec4e7000000", title=TITLE).model_copy(
    update={"labels": frozenset({"confidential", "finance"})}
)
OPEN = fake_chunk("Lunch is at noon in the canteen", document_id="09e400000000", title="House rules").model_copy(
    update={"labels": frozenset({"public"})}
)
RULE = Egress(stays=frozenset({"confidential"}))
SEARCH = '<tool_name>search_knowledge</tool_name><arguments>{"query": "merger price"}</arguments>'
READ = f'<tool_name>read_document</tool_name><arguments>{{"document": "{KEPT.document_id}"}}</arguments>'
LIST = "<tool_name>list_documents</tool_name><arguments>{}</arguments>"
FINISH = "<tool_name>finish</tool_name><arguments>{}</arguments>"
ANSWER = "<final_answer>It is in the files.</final_answer>"


def agent(
    remote: ScriptedChatModel,
    fallback: ChatModel | None,
    *,
    tier: Tier = "weak",
    candidates: Sequence[str] = (),
    rule: Egress = RULE,
    chunks: Sequence[Chunk] = (KEPT, OPEN),
) -> Agent:
    return Agent(
        model=GuardedModel(remote, rule),
        fallback=fallback,
        tools=ToolRegistry([SearchKnowledge(), ReadDocument(), ListDocuments(), Finish()]),
        searcher=FakeSearcher(chunks),
        trigger=FakeTrigger(tier, candidates),
        auditor=FakeAuditor(),
        library=FakeLibrary(chunks),
        settings=LoopSettings(),
        encoder="hash",
        clock=FakeClock(),
    )


async def run(a: Agent, question: str = "merger price") -> list[Event]:
    request = RunRequest(run_id="r1", trace_id="t1", question=question, language="en")
    return [event async for event in a.run(request, OWNER)]


def prompts(model: ScriptedChatModel) -> str:
    return "\n".join(message.content for request in model.requests for message in request.messages)


@pytest.mark.parametrize(
    ("tier", "candidates", "replies"),
    [
        ("strong", (), []),
        ("weak", (KEPT.document_id,), []),
        ("weak", (), [SEARCH]),
        ("weak", (), [READ]),
        ("weak", (), [LIST]),
        ("weak", (), [SEARCH + FINISH]),
        ("weak", (), ["no form at all", SEARCH]),
    ],
)
async def test_kept_text_reaches_the_local_model_alone(
    tier: Tier, candidates: Sequence[str], replies: list[str]
) -> None:
    remote, local = ScriptedChatModel(replies, name="far"), ScriptedChatModel([ANSWER], name="near")
    events = await run(agent(remote, local, tier=tier, candidates=candidates))
    assert len(remote.requests) == len(replies)
    assert SECRET not in prompts(remote)
    assert TITLE not in prompts(remote)
    assert SECRET in prompts(local) or TITLE in prompts(local)
    done = events[-1]
    assert isinstance(done, RunCompleted)
    assert done.model == "near"
    notices = [event.message for event in events if isinstance(event, Notice) and event.code == "model_fallback"]
    assert notices == [
        "the model far is on another machine, where some of the documents found must not go; near answers instead."
    ]


async def test_a_conversation_keeps_what_was_said_of_kept_text() -> None:
    remote, local = ScriptedChatModel([], name="far"), ScriptedChatModel([ANSWER, ANSWER], name="near")
    said = Exchange(question="price?", answer=SECRET, labels=frozenset({"confidential"}))
    for _ in range(2):
        request = RunRequest(run_id="r1", trace_id="t1", question="Say it again", language="en", before=(said,))
        events = [event async for event in agent(remote, local, tier="none").run(request, OWNER)]
        done = events[-1]
        assert isinstance(done, RunCompleted)
        assert done.model == "near"
        # The answer may repeat it: the next turn knows, though no passage was read in this one.
        said = Exchange(question=request.question, answer=done.answer, labels=frozenset(done.labels))
    assert remote.requests == []


async def test_other_text_leaves_as_before() -> None:
    remote, local = ScriptedChatModel([ANSWER], name="far"), ScriptedChatModel([], name="near")
    events = await run(agent(remote, local, tier="strong", chunks=[OPEN]), "lunch noon")
    assert OPEN.text in prompts(remote)
    assert not [event for event in events if isinstance(event, Notice)]


async def test_a_run_without_another_model_fails_and_says_why() -> None:
    remote = ScriptedChatModel([], name="far")
    events = await run(agent(remote, None, tier="strong"))
    failed = events[-1]
    assert isinstance(failed, RunFailed)
    assert failed.code == "egress_refused"
    assert remote.requests == []


async def test_a_remote_spare_is_passed_over() -> None:
    remote = ScriptedChatModel([], name="far")
    spare = GuardedModel(ScriptedChatModel([], name="far too"), RULE)
    events = await run(agent(remote, spare, tier="strong"))
    assert isinstance(events[-1], RunFailed)
    assert events[-1].code == "egress_refused"


def _request(labels: frozenset[str] | None, tenant: str = "local") -> ChatRequest:
    facts = RunFacts(question="q", language="en", tier="none")
    return ChatRequest((Message(role="user", content=SECRET),), facts, labels=labels, tenant=tenant)


async def _all(stream: AsyncIterator[ChatPiece]) -> str:
    return "".join([piece.text async for piece in stream])


@pytest.mark.parametrize("labels", [None, frozenset({"confidential"}), frozenset({"public", "confidential"})])
async def test_the_model_itself_refuses(labels: frozenset[str] | None) -> None:
    inner = ScriptedChatModel(["read"], name="far")
    with pytest.raises(EgressRefusedError):
        await _all(GuardedModel(inner, RULE).stream(_request(labels)))
    assert inner.requests == []
    assert await _all(GuardedModel(inner, RULE).stream(_request(frozenset({"public"})))) == "read"


@pytest.mark.parametrize(
    ("rule", "labels", "kept"),
    [
        (Egress(), {"a", UNLABELLED}, set[str]()),
        (Egress(stays=frozenset({"a"})), {"a", "b"}, {"a"}),
        (Egress(leaves=frozenset({"a"})), {"a"}, set[str]()),
        (Egress(leaves=frozenset({"a"})), {"a", "b", UNLABELLED}, {"b"}),
        (Egress(leaves=frozenset({"a"}), stays=frozenset({"a"})), {"a"}, {"a"}),
        (Egress(unlabelled=False), {"a", UNLABELLED}, {UNLABELLED}),
        (Egress(tenants={"local": frozenset({"a"})}), {"a"}, {"a"}),
        (Egress(tenants={"other": frozenset({"a"})}), {"a"}, set[str]()),
    ],
)
def test_what_stays(rule: Egress, labels: set[str], kept: set[str]) -> None:
    assert rule.kept(labels, "local") == kept


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8080/v1", True),
        ("http://127.0.0.7/v1", True),
        ("http://[::1]:80/v1", True),
        ("http://llm.house.example/v1", True),
        ("https://api.example.com/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://127.0.0.1@api.example.com/v1", False),
        ("http://10.0.0.5/v1", False),
        ("api.example.com/v1", False),
    ],
)
def test_which_endpoints_are_local(url: str, local: bool) -> None:
    assert Egress(local_hosts=frozenset({"LLM.house.example"})).is_local(url) is local


def test_a_misspelt_rule_is_refused() -> None:
    with pytest.raises(ValidationError):
        Egress.model_validate({"stay": ["confidential"]})


async def test_endpoints_on_other_machines_are_guarded_once_there_is_a_rule(tmp_path: Path) -> None:
    large, small = {"base_url": "https://api.example.com/v1"}, {"base_url": "http://127.0.0.1:8080/v1"}
    extractive = ScriptedChatModel([], name="extractive")
    settings = load_settings(home=tmp_path, llm=large, small=small, egress={"stays": ["confidential"]})
    bound, free = open_tiers(settings, extractive), open_tiers(load_settings(home=tmp_path, llm=large), extractive)
    assert isinstance(bound.large, GuardedModel)
    assert not isinstance(bound.small, GuardedModel)
    assert not isinstance(free.large, GuardedModel)
    await bound.close()
    await free.close()


_TITLES = {"kept": "Project Nightingale", "mixed": "Board minutes", "open": "House rules"}
_LABELS = {"kept": frozenset({"confidential"}), "mixed": frozenset({"public", "confidential"}), "open": frozenset()}
_DOCUMENTS = [
    fake_chunk(
        # Long enough to be shortened towards the question, with the marker where that keeps it.
        f"revenue marker{kind}{part} " + "and so on with many words that say little. " * 60,
        document_id=f"{'abc'[i]}{part}0000000000",
        title=f"{_TITLES[kind]} {part}",
        ordinal=part,
    ).model_copy(update={"labels": frozenset[str](_LABELS[kind])})
    for i, kind in enumerate(_TITLES)
    for part in range(2)
]
_KEPT_WORDS = ("markerkept", "markermixed", "Nightingale", "Board minutes")
_CALLS = [
    LIST,
    FINISH,
    '<tool_name>list_documents</tool_name><arguments>{"contains": "House"}</arguments>',
    *(
        f'<tool_name>read_document</tool_name><arguments>{{"document": "{chunk.document_id}"}}</arguments>'
        for chunk in _DOCUMENTS
    ),
    *(
        f'<tool_name>search_knowledge</tool_name><arguments>{{"query": "revenue {kind}"}}</arguments>'
        for kind in ("words", "many", "minutes")
    ),
    "no form at all",
    "<final_answer>Open.</final_answer>",
]


@hypothesis.settings(max_examples=40, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(
    script=st.lists(st.sampled_from(_CALLS), min_size=1, max_size=6),
    tier=st.sampled_from(["strong", "weak", "none"]),
    shown=st.sets(st.integers(0, len(_DOCUMENTS) - 1), min_size=1),
    window=st.sampled_from([None, Window(2048, 256)]),
)
async def test_no_prompt_of_a_remote_model_ever_holds_kept_text(
    script: list[str], tier: Tier, shown: set[int], window: Window | None
) -> None:
    replies = iter(script)
    remote = ScriptedChatModel(lambda _request: next(replies, ANSWER), name="far", window=window)
    local = ScriptedChatModel(lambda _request: ANSWER, name="near")
    chunks = [_DOCUMENTS[i] for i in sorted(shown)]
    candidates = [chunk.document_id for chunk in chunks[:2]]
    events = await run(agent(remote, local, tier=tier, candidates=candidates, chunks=chunks), "revenue words")
    assert isinstance(events[-1], RunCompleted)
    sent = prompts(remote)
    assert not [word for word in _KEPT_WORDS if word in sent]
