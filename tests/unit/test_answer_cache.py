"""Which answers are kept, and how they are given again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from agent.answer_cache import AnswerCache, digest
from agent.events import Event, Notice, PassagesRetrieved, RunCompleted, SentenceAudited, TextDelta, TriggerDecided
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import Exchange, RunRequest
from agent.settings import LoopSettings
from agent.tools.builtin.calculate import Calculate
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.list_documents import ListDocuments
from agent.tools.builtin.read_document import ReadDocument
from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.registry import ToolRegistry
from prompts.values import Persona
from retrieval.labels import LabelBook
from retrieval.settings import CacheSettings
from retrieval.types import ALL_RIGHTS, Principal, SearchFilter

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
CHUNKS = [fake_chunk("Revenue in Q3 2024 was 238 million.", ordinal=0)]
GOOD = "Thought: stated\n<final_answer>Revenue was 238 million [SOURCE: doc_7f3a_p5].</final_answer>"
INVENTED = "Thought: stated\n<final_answer>Revenue was 238 million [SOURCE: doc_9999_p9].</final_answer>"


def call(tool: str, arguments: str = "{}") -> str:
    return f"Thought: next\n<tool_name>{tool}</tool_name><arguments>{arguments}</arguments>"


class Versions:
    version = 1

    async def knowledge_version(self, tenant: str) -> int:
        return self.version


class House:
    """An agent with a cache, and what answers depend on."""

    def __init__(self, replies: Sequence[str], *, tier: Any = "strong", fallback: Any = None, **more: Any) -> None:
        self.versions, self.rules, self.today = Versions(), "r1", date(2026, 3, 1)
        self.searcher = FakeSearcher(CHUNKS)
        self.model = ScriptedChatModel(list(replies))
        self.cache = AnswerCache(
            CacheSettings(),
            self.versions,
            rules=lambda _tenant: self.rules,
            configuration="c",
            today=lambda: self.today,
        )
        self.runs = 0
        self.agent = Agent(
            model=self.model,
            fallback=fallback,
            tools=ToolRegistry([SearchKnowledge(), ReadDocument(), ListDocuments(), Calculate(), Finish()]),
            searcher=self.searcher,
            trigger=FakeTrigger(tier, ["7f3a00000000"] if tier == "weak" else []),
            auditor=FakeAuditor(),
            library=FakeLibrary(CHUNKS),
            encoder="embedded",
            settings=LoopSettings(max_steps=more.pop("max_steps", 8)),
            clock=FakeClock(),
            answers=self.cache,
            **more,
        )

    async def ask(self, who: Principal = OWNER, **more: Any) -> list[Event]:
        self.runs += 1
        asked = {"question": "What was revenue in Q3 2024?", "language": "en", **more}
        request = RunRequest(run_id=f"run{self.runs}", trace_id="t", **asked)
        return [event async for event in self.agent.run(request, who)]


def again(events: list[Event]) -> bool:
    return any(isinstance(event, Notice) and event.code == "answer_from_cache" for event in events)


async def test_an_answer_is_given_again_without_a_model_or_a_search() -> None:
    house = House([GOOD])
    first, second = await house.ask(), await house.ask()
    assert (again(first), again(second), len(house.searcher.questions)) == (False, True, 1)
    before, after = first[-1], second[-1]
    assert isinstance(before, RunCompleted)
    assert isinstance(after, RunCompleted)
    assert (after.answer, after.passages, after.audit, after.status) == (
        before.answer, before.passages, before.audit, "answered",
    )  # fmt: skip
    assert (after.run_id, after.steps, after.prompt_tokens) == ("run2", 0, 0)
    kinds = [type(event) for event in second]
    assert kinds.index(TriggerDecided) < kinds.index(PassagesRetrieved) < kinds.index(Notice) < kinds.index(TextDelta)
    assert SentenceAudited in kinds
    assert [event.seq for event in second] == list(range(len(second)))
    (notice,) = [event for event in second if isinstance(event, Notice)]
    assert "run1" in notice.message


@pytest.mark.parametrize(
    ("who", "more"),
    [
        (OWNER.model_copy(update={"user": "kim"}), {}),
        (OWNER.model_copy(update={"tenant": "rival"}), {}),
        (OWNER.model_copy(update={"rights": frozenset({"chat"})}), {}),
        (OWNER, {"language": "zh"}),
        (OWNER, {"question": "What was revenue in Q4 2024?"}),
        (OWNER, {"filter": SearchFilter(as_of=date(2025, 1, 1))}),
    ],
)
async def test_another_question_or_asker_gets_an_answer_of_its_own(who: Principal, more: dict[str, Any]) -> None:
    house = House([GOOD, GOOD])
    await house.ask()
    assert not again(await house.ask(who, **more))


@pytest.mark.parametrize("change", ["version", "rules", "day", "forget"])
async def test_what_changes_the_answer_ends_its_life(change: str) -> None:
    house = House([GOOD, GOOD])
    await house.ask()
    match change:
        case "version":
            house.versions.version = 2
        case "rules":
            house.rules = "r2"
        case "day":
            house.today = date(2026, 3, 2)
        case _:
            house.cache.answers.forget("local")
    assert not again(await house.ask())


@pytest.mark.parametrize(
    ("replies", "more", "kept"),
    [
        ([call("search_knowledge", '{"query": "revenue"}'), GOOD], {}, True),
        ([call("read_document", '{"document": "7f3a00000000"}'), GOOD], {}, True),
        ([call("calculate", '{"expression": "1+1"}'), GOOD], {}, False),
        ([call("list_documents"), GOOD], {}, False),
        ([INVENTED], {}, False),
        ([GOOD], {"tier": "none"}, False),
        ([call("search_knowledge", '{"query": "revenue"}'), GOOD], {"max_steps": 1}, False),
    ],
)
async def test_kept_is_what_rests_on_documents_alone_and_is_clean(
    replies: list[str], more: dict[str, Any], kept: bool
) -> None:
    house = House([*replies, *replies], **more)
    await house.ask()
    assert house.cache.answers.counts().entries == int(kept)
    assert again(await house.ask()) is kept


async def test_what_a_fallback_wrote_is_not_kept() -> None:
    house = House(["no form", "no form", "no form", "no form"], fallback=ScriptedChatModel([GOOD, GOOD], name="fb"))
    done = (await house.ask())[-1]
    assert isinstance(done, RunCompleted)
    assert (done.status, done.model) == ("answered", "fb")
    assert house.cache.answers.counts().entries == 0


async def test_an_answer_whose_documents_changed_meanwhile_is_not_given_again() -> None:
    house = House([GOOD, GOOD])
    original = house.searcher.search

    async def search(*arguments: Any, **options: Any) -> Any:
        house.versions.version += 1
        return await original(*arguments, **options)

    house.searcher.search = search  # type: ignore[method-assign]
    await house.ask()
    assert not again(await house.ask())


async def test_another_assistant_answers_for_itself() -> None:
    house = House([GOOD])
    await house.ask()
    other = House([GOOD], persona=Persona(instruction="Be brief."))
    other.cache.answers = house.cache.answers
    assert not again(await other.ask())


async def test_labels_are_those_of_the_new_run() -> None:
    house = House([GOOD])
    await house.ask()
    _, known = await house.cache.ask(
        RunRequest(run_id="x", trace_id="t", question="What was revenue in Q3 2024?", language="en"),
        OWNER,
        model=house.model.name,
        assistant=repr(Persona()),
    )
    assert known is not None
    book = LabelBook()
    book.label(fake_chunk("another one on that page", ordinal=8))
    relabelled = known.relabelled(book)
    assert relabelled.answer == "Revenue was 238 million [SOURCE: doc_7f3a_p5b]."
    assert [passage.label for passage in relabelled.passages] == ["doc_7f3a_p5b"]
    assert known.answer == "Revenue was 238 million [SOURCE: doc_7f3a_p5]."


async def test_whatever_a_request_may_say_beside_its_question_makes_it_another() -> None:
    class Wider(RunRequest):
        manner: str = ""

    house = House([GOOD, GOOD])
    asked = {"trace_id": "t", "question": "What was revenue in Q3 2024?", "language": "en"}
    requests = [Wider(run_id=f"r{number}", manner=manner, **asked) for number, manner in enumerate(("", "brief", ""))]
    runs = [[event async for event in house.agent.run(each, OWNER)] for each in requests]
    assert [again(events) for events in runs] == [False, False, True]


def test_the_conversation_stands_in_the_key_of_an_answer() -> None:
    one = (Exchange(question="Revenue?", answer="5"),)
    assert digest(()) == ""
    assert len({digest(one), digest((*one, *one)), digest((Exchange(question="Revenue?", answer="6"),)), ""}) == 4
