"""Cached searches serve those alone who would get the same, under labels of their own; all of them are logged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest

from retrieval.cached_search import CachedSearch, SearchCaches
from retrieval.errors import StoreUnavailableError
from retrieval.explained_search import ExplainedSearch, ExplainedTrigger
from retrieval.fakes import InMemoryDecisionLog
from retrieval.first_stage import FirstStage
from retrieval.labels import LabelBook
from retrieval.passages import make_passage
from retrieval.search_result import Dropped, SearchResult
from retrieval.settings import CacheSettings
from retrieval.symbols.language import load_language
from retrieval.trigger import TriggerDecision
from retrieval.types import Candidate, Chunk, Principal, Scope, SearchFilter

KIM = Principal(tenant="acme", user="kim", rights=frozenset({"search"}))
LANGUAGE = load_language(b"k" * 32, None)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def chunk(number: int) -> Chunk:
    return Chunk(
        chunk_id=f"c{number}",
        tenant="acme",
        document_id=f"{number:032x}",
        ordinal=0,
        text=f"text of {number}",
        index_text=f"text of {number}",
        start_char=0,
        end_char=9,
    )


class Index:
    """A search that counts what it is asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self.stages = 0
        self.error = error

    async def search(
        self,
        question: str,
        principal: Principal,
        *,
        book: LabelBook,
        filter: SearchFilter | None = None,
        top_k: int | None = None,
        base_date: date | None = None,
        first_stage: FirstStage | None = None,
        also: Sequence[str] = (),
    ) -> SearchResult:
        self.asked.append(question)
        if self.error is not None:
            raise self.error
        candidates = tuple(Candidate(chunk(n), {"dense": 0.9}, {"dense": n}, 0.1) for n in (1, 2, 3))
        passages = [make_passage(book.label(c.chunk), c.chunk, 0.9, (), ()) for c in candidates[:2]]
        passages[0] = passages[0].model_copy(update={"conflicts_with": (passages[1].label,)})
        return SearchResult(
            passages=tuple(passages),
            candidates=candidates,
            reranked={"c1": 0.9, "c2": 0.9},
            dropped=(Dropped(candidates[2], "near_duplicate", of="c1"),),
            latencies_ms={"encode": 5.0, "total": 9.0},
            symbols=(),
            index_text=LANGUAGE.symbolise(question, tenant="acme").index_text,
        )

    async def first_stage(
        self,
        question: str,
        principal: Principal,
        *,
        filter: SearchFilter | None = None,
        base_date: date | None = None,
    ) -> FirstStage:
        self.stages += 1
        return FirstStage(Scope.of(principal, filter), question, (), (), {"total": 1.0})


class Versions:
    def __init__(self) -> None:
        self.version = 1

    async def knowledge_version(self, tenant: str) -> int:
        return self.version


class House:
    """A cached search and all that its key depends on."""

    def __init__(self, *, enabled: bool = True, error: Exception | None = None) -> None:
        self.index, self.versions, self.rules, self.today = Index(error), Versions(), "r1", date(2026, 3, 1)
        self.caches = SearchCaches(CacheSettings(search=enabled))
        self.log = InMemoryDecisionLog()
        self.cached = CachedSearch(
            self.index,
            self.caches,
            LANGUAGE,
            self.versions,
            rules=lambda _tenant: self.rules,
            configuration="c",
            today=lambda: self.today,
        )
        self.search = ExplainedSearch(self.cached, self.log, LANGUAGE, clock=lambda: NOW)

    async def ask(self, question: str = "how much is it", who: Principal = KIM, **options: object) -> SearchResult:
        return await self.search.search(question, who, **({"book": LabelBook()} | options))  # pyright: ignore


async def test_the_same_question_is_searched_once() -> None:
    house = House()
    first, second = await house.ask(), await house.ask()
    assert (first.cached, second.cached, len(house.index.asked)) == (False, True, 1)
    assert second.passages == first.passages
    assert second.knowledge_version == 1
    assert set(second.latencies_ms) == {"total"}


async def test_one_value_in_two_writings_is_one_question() -> None:
    house = House()
    await house.ask("营收超过2.38亿元了吗")
    assert (await house.ask("营收超过238,000,000元了吗")).cached
    assert not (await house.ask("营收超过2.39亿元了吗")).cached


@pytest.mark.parametrize(
    ("who", "options"),
    [
        (KIM.model_copy(update={"user": "lee"}), {}),
        (KIM.model_copy(update={"groups": frozenset({"ops"})}), {}),
        (KIM.model_copy(update={"tenant": "rival"}), {}),
        (KIM.model_copy(update={"rights": frozenset({"ingest"})}), {}),
        (KIM, {"filter": SearchFilter(labels=frozenset({"hr"}))}),
        (KIM, {"filter": SearchFilter(as_of=date(2025, 1, 1))}),
        (KIM, {"top_k": 7}),
        (KIM, {"base_date": date(2026, 1, 1)}),
        (KIM, {"also": ("in other words",)}),
    ],
)
async def test_what_would_be_found_otherwise_is_searched_anew(who: Principal, options: dict[str, object]) -> None:
    house = House()
    await house.ask()
    assert not (await house.ask(who=who, **options)).cached
    assert len(house.index.asked) == 2


@pytest.mark.parametrize("change", ["version", "rules", "midnight", "forget"])
async def test_what_changes_what_is_found_ends_the_life_of_results(change: str) -> None:
    house = House()
    await house.ask()
    match change:
        case "version":
            house.versions.version += 1
        case "rules":
            house.rules = "r2"
        case "midnight":
            house.today = date(2026, 3, 2)
        case _:
            house.caches.results.forget("acme")
    assert not (await house.ask()).cached


async def test_each_run_gets_labels_of_its_own() -> None:
    house = House()
    await house.ask()
    book = LabelBook()
    book.label(chunk(2))
    taken = book.label(chunk(1).model_copy(update={"chunk_id": "other"}))
    found = await house.ask(book=book)
    assert found.cached
    first, second = found.passages
    assert first.label != taken
    assert {first.label, second.label} <= {book.label(chunk(1)), book.label(chunk(2))}
    assert first.conflicts_with == (second.label,)


async def test_a_first_stage_is_made_once_and_only_within_its_scope() -> None:
    house = House()
    for _ in range(3):
        await house.search.first_stage("a question", KIM)
    await house.search.first_stage("a question", KIM, filter=SearchFilter(language="zh"))
    assert house.index.stages == 2


async def test_switched_off_nothing_is_kept() -> None:
    house = House(enabled=False)
    assert not (await house.ask()).cached
    assert not (await house.ask()).cached
    assert len(house.index.asked) == 2


async def test_every_search_is_logged_with_what_became_of_its_candidates() -> None:
    house = House()
    await house.ask(run_id="r1", filter=SearchFilter(language="en"))
    await house.ask(run_id="r2", filter=SearchFilter(language="en"))
    second, first = sorted(await house.log.read("acme"), key=lambda each: each.run_id or "", reverse=True)
    assert (first.kind, first.user, first.run_id, first.question) == ("search", "kim", "r1", "how much is it")
    assert (first.filter.language, first.knowledge_version, first.cached) == ("en", 1, False)
    assert [(c.chunk_id, c.passage, c.dropped) for c in first.candidates] == [
        ("c1", 1, None),
        ("c2", 2, None),
        ("c3", None, "near_duplicate of c1"),
    ]
    assert (first.candidates[0].scores, first.candidates[0].reranked) == ({"dense": 0.9}, 0.9)
    assert first.latencies_ms == {"encode": 5.0, "total": 9.0}
    assert (second.cached, second.candidates) == (True, first.candidates)
    assert "text of" not in first.model_dump_json()


async def test_a_failed_search_is_logged_and_raised_and_not_kept() -> None:
    house = House(error=StoreUnavailableError("away"))
    with pytest.raises(StoreUnavailableError):
        await house.ask("call 13812345678")
    (logged,) = await house.log.read("acme")
    assert logged.reasons == ("the search failed: store_unavailable",)
    assert "13812345678" not in logged.model_dump_json()
    house.index.error = None
    assert not (await house.ask("call 13812345678")).cached


async def test_every_trigger_decision_is_logged() -> None:
    class Fixed:
        async def decide(
            self, question: str, principal: Principal, filter: SearchFilter | None = None
        ) -> TriggerDecision:
            return TriggerDecision("weak", ("score 0.4",), {"score": 0.4}, ("d",))

    log = InMemoryDecisionLog()
    trigger = ExplainedTrigger(Fixed(), log, LANGUAGE, clock=lambda: NOW)
    await trigger.decide("write to kim@example.com", KIM, run_id="r1")
    (logged,) = await log.read("acme")
    assert (logged.kind, logged.tier, logged.reasons, logged.signals) == (
        "trigger",
        "weak",
        ("score 0.4",),
        {"score": 0.4},
    )
    assert logged.documents == ("d",)
    assert (logged.run_id, logged.at) == ("r1", NOW)
    assert "kim@example.com" not in logged.model_dump_json()
