from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from retrieval.encoder import ModelThread, Reranker
from retrieval.errors import ForbiddenError, StoreUnavailableError
from retrieval.fakes import FixedReranker, HashEncoder
from retrieval.labels import LabelBook
from retrieval.ports import LiveDocuments
from retrieval.search import Searcher
from retrieval.settings import SearchSettings
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.types import (
    Candidate,
    Chunk,
    EncodedChunk,
    Principal,
    Scope,
    ScoredChunk,
    SearchFilter,
    Symbol,
)

ANN = Principal(tenant="acme", user="ann", rights=frozenset({"search"}))
TIMES = {"third quarter of 2024": "2024Q3", "third quarter of 2023": "2023Q3", "last year": "2023"}
CODES = {"C1": "RISK_C1", "R4": "RISK_R4"}


@dataclass(frozen=True)
class Read:
    index_text: str
    symbols: tuple[Symbol, ...]


class TinyLanguage:
    """Knows a handful of periods and codes; remembers what it was asked to read."""

    def __init__(self) -> None:
        self.questions: list[tuple[str, str, date | None]] = []

    def symbolise(self, text: str, *, tenant: str, base_date: date | None = None) -> Read:
        self.questions.append((text, tenant, base_date))
        symbols: list[Symbol] = []
        for words, normal in TIMES.items():
            if words in text:
                symbols.append(symbol("value", "period", normal, f"[PERIOD_{normal}]", words))
                text = text.replace(words, f"[PERIOD_{normal}]")
        for words, normal in CODES.items():
            if words in text:
                symbols.append(symbol("code", "risk", normal, f"[{normal}]", words))
                text = text.replace(words, f"[{normal}]")
        return Read(text, tuple(symbols))


def symbol(cls: str, kind: str, normal: str, token: str, surface: str) -> Symbol:
    values = {"cls": cls, "kind": kind, "normal": normal, "token": token, "start": 0, "end": 1, "surface": surface}
    return Symbol.model_validate(values)


class Catalogue:
    """Holds some documents live."""

    def __init__(self, *live: str) -> None:
        self._live = set(live)
        self.asked: list[tuple[str, set[str], date | None]] = []

    async def live(self, tenant: str, document_ids: Collection[str], as_of: date | None = None) -> set[str]:
        self.asked.append((tenant, set(document_ids), as_of))
        return self._live & set(document_ids)


def chunk(text: str, document_id: str = "d1", **fields: object) -> Chunk:
    read = TinyLanguage().symbolise(text, tenant="acme")
    values: dict[str, object] = {
        "chunk_id": str(uuid5(NAMESPACE_URL, f"{fields.get('tenant')}/{document_id}/{text}")),
        "tenant": "acme",
        "document_id": document_id,
        "ordinal": 0,
        "text": text,
        "index_text": read.index_text,
        "symbols": read.symbols,
        "start_char": 0,
        "end_char": len(text),
        "page_start": 1,
        "authority": "official",
    }
    return Chunk.model_validate(values | fields)


@pytest.fixture
def thread() -> Iterator[ModelThread]:
    owner = ModelThread("test-models")
    yield owner
    owner.close()


async def searcher(
    thread: ModelThread,
    *chunks: Chunk,
    reranker: Reranker | None = None,
    live: LiveDocuments | None = None,
    language: TinyLanguage | None = None,
    store: InMemoryVectorStore | None = None,
    **settings: object,
) -> Searcher:
    encoder, store = HashEncoder(64), store or InMemoryVectorStore()
    await store.open(encoder.info)
    encoding = encoder.encode_documents([c.index_text for c in chunks])
    await store.write([EncodedChunk(c, encoding.dense[n], encoding.sparse[n]) for n, c in enumerate(chunks)])
    for tenant, document_id in {(c.tenant, c.document_id) for c in chunks}:
        await store.publish(tenant, document_id)
    return Searcher(
        encoder,
        thread,
        reranker or FixedReranker({}, default=0.9),
        thread,
        store,
        language or TinyLanguage(),
        SearchSettings.model_validate(settings),
        live,
    )


# ---- what comes back


async def test_search_returns_the_best_passages_labelled(thread: ModelThread) -> None:
    solar, tax, wind = chunk("solar panels on roofs"), chunk("tax law of the land", "d2"), chunk("wind mills", "d3")
    book = LabelBook()
    search = await searcher(thread, solar, tax, wind, reranker=FixedReranker({tax.text: 0.8, wind.text: 0.1}))
    result = await search.search("tax law", ANN, book=book, top_k=2)
    assert [(p.chunk, p.score) for p in result.passages] == [(tax, 0.8), (wind, 0.1)]
    assert all(p.label in book for p in result.passages)
    assert result.passages[0].confidence == "high"
    assert [(d.candidate.chunk, d.reason) for d in result.dropped] == [(solar, "below_top_k")]
    assert result.candidates[0].chunk == tax
    assert result.candidates[0].ranks["sparse"] == 1
    assert result.reranked == {solar.chunk_id: 0.0, tax.chunk_id: 0.8, wind.chunk_id: 0.1}


async def test_search_keeps_three_passages_by_default(thread: ModelThread) -> None:
    search = await searcher(
        thread, *(chunk(f"tax law part {word}", word) for word in ("a", "bb", "ccc", "dddd", "eeee"))
    )
    assert len((await search.search("tax law", ANN, book=LabelBook())).passages) == 3


async def test_search_encodes_the_symbolised_question_of_the_tenant(thread: ModelThread) -> None:
    language, reranker = TinyLanguage(), FixedReranker({}, default=0.5)
    search = await searcher(thread, chunk("anything"), language=language, reranker=reranker)
    result = await search.search("revenue last year", ANN, book=LabelBook(), base_date=date(2024, 5, 1))
    assert language.questions[0] == ("revenue last year", "acme", date(2024, 5, 1))
    assert reranker.questions == ["revenue [PERIOD_2023]"]
    assert [s.normal for s in result.symbols] == ["2023"]


async def test_search_puts_the_right_code_before_the_similar_one(thread: ModelThread) -> None:
    right = chunk("customers rated C1 may buy", "d1")
    similar = [chunk(f"customers rated R4 may buy number {n}", f"e{n}") for n in "abc"]
    search = await searcher(thread, *similar, right)
    first = await search.first_stage("which customers rated C1 may buy", ANN)
    assert first.candidates[0].chunk == right
    assert first.candidates[0].scores["symbol"] == 1.0
    assert all("symbol" not in c.scores for c in first.candidates[1:])


async def test_a_symbol_that_all_candidates_carry_orders_none_of_them(thread: ModelThread) -> None:
    chunks = [chunk(f"C1 note {n} " + "filler " * n, f"d{n}") for n in range(6)]
    search = await searcher(thread, *chunks, candidates_k=2)
    first = await search.first_stage("C1 note", ANN)
    assert first.candidates
    assert not any("symbol" in c.ranks for c in first.candidates)


async def test_a_rare_symbol_ranks_what_other_channels_found(thread: ModelThread) -> None:
    chunks = [chunk(f"{'C1' if n == 4 else 'plain'} note {n}", f"d{n}") for n in range(6)]
    search = await searcher(thread, *chunks)
    first = await search.first_stage("C1 note", ANN)
    assert [c.chunk.document_id for c in first.candidates if "symbol" in c.ranks] == ["d4"]


async def test_search_marks_a_passage_about_another_period(thread: ModelThread) -> None:
    old = chunk("revenue in the third quarter of 2023 was 2.21", "d1")
    titled = chunk("revenue was 2.38", "d2", title="Brief, third quarter of 2024")
    silent = chunk("revenue is what customers pay", "d3")
    search = await searcher(thread, old, titled, silent)
    result = await search.search("revenue in the third quarter of 2024", ANN, book=LabelBook())
    found = {p.chunk.document_id: (p.period_match, p.confidence) for p in result.passages}
    assert found == {"d1": ("mismatch", "low"), "d2": ("match", "high"), "d3": ("unknown", "medium")}


async def test_search_reports_every_stage(thread: ModelThread) -> None:
    search = await searcher(thread, chunk("tax law"), live=Catalogue("d1"))
    result = await search.search("tax law", ANN, book=LabelBook())
    stages = {"symbolise", "encode", "dense", "foreign", "sparse", "symbol", "fuse", "live", "rerank", "total"}
    stages |= {"conflicts", "neighbours", "translate", "translated"}
    assert set(result.latencies_ms) == stages
    assert result.latencies_ms["total"] >= result.latencies_ms["rerank"]


# ---- rights and filters


async def test_search_needs_the_right_to_search_or_chat(thread: ModelThread) -> None:
    search = await searcher(thread, chunk("tax law"))
    nobody = ANN.model_copy(update={"rights": frozenset({"ingest", "reveal"})})
    with pytest.raises(ForbiddenError):
        await search.search("tax law", nobody, book=LabelBook())
    with pytest.raises(ForbiddenError):
        await search.first_stage("tax law", nobody)
    chatter = ANN.model_copy(update={"rights": frozenset({"chat"})})
    assert len((await search.search("tax law", chatter, book=LabelBook())).passages) == 1


def test_search_without_a_tenant_cannot_be_asked_for() -> None:
    with pytest.raises(ValidationError):
        Principal(tenant="", user="ann")
    with pytest.raises(ValidationError):
        Scope(tenant="", access=frozenset({"everyone"}))
    with pytest.raises(ValidationError):
        Scope(tenant="acme", access=frozenset())


async def test_search_finds_nothing_of_another_tenant_or_of_others(thread: ModelThread) -> None:
    foreign = chunk("tax law", tenant="other")
    private = chunk("tax law of bob", "d2", access={"user:bob"})
    search = await searcher(thread, foreign, private)
    result = await search.search("tax law", ANN, book=LabelBook())
    assert (result.passages, result.candidates, result.dropped) == ((), (), ())


async def test_search_labels_are_anded_for_a_user_who_owns_documents_in_both(thread: ModelThread) -> None:
    owned = {"access": {"user:ann"}}
    hr = chunk("tax law for staff", "d1", labels={"hr"}, **owned)
    finance = chunk("tax law for firms", "d2", labels={"finance"}, **owned)
    both = chunk("tax law for all of them", "d3", labels={"hr", "finance"}, **owned)
    search = await searcher(thread, hr, finance, both)
    for labels, expected in [({"hr", "finance"}, {"d3"}), ({"hr"}, {"d1", "d3"}), ({"hr", "legal"}, set())]:
        wanted = SearchFilter(labels=frozenset(labels))
        result = await search.search("tax law", ANN, book=LabelBook(), filter=wanted)
        assert {c.chunk.document_id for c in result.candidates} == expected


@pytest.mark.parametrize(
    "wanted",
    [
        SearchFilter(document_ids=frozenset()),
        SearchFilter(document_ids=frozenset({"no-such-document"})),
        SearchFilter(labels=frozenset({"no-such-label"})),
        SearchFilter(as_of=date(1999, 1, 1)),
        SearchFilter(language="zh"),
    ],
    ids=["no documents", "unknown document", "unknown label", "before its time", "other language"],
)
async def test_search_a_filter_that_matches_nothing_gives_no_passages(
    thread: ModelThread, wanted: SearchFilter
) -> None:
    reranker = FixedReranker({}, default=0.9)
    only = chunk("tax law", language="en", effective_from=date(2020, 1, 1))
    search = await searcher(thread, only, reranker=reranker)
    result = await search.search("tax law", ANN, book=LabelBook(), filter=wanted)
    assert (result.passages, result.candidates) == ((), ())
    assert reranker.questions == []


def test_search_filter_refuses_a_misspelt_field() -> None:
    with pytest.raises(ValidationError, match="lables"):
        SearchFilter.model_validate({"lables": ["hr"]})


# ---- what is dropped


async def test_search_drops_what_the_catalogue_no_longer_holds(thread: ModelThread) -> None:
    catalogue = Catalogue("d2")
    gone, kept = chunk("tax law", "d1"), chunk("tax rules", "d2")
    search = await searcher(thread, gone, kept, live=catalogue)
    result = await search.search("tax law", ANN, book=LabelBook())
    assert [p.chunk for p in result.passages] == [kept]
    assert [(d.candidate.chunk, d.reason) for d in result.dropped] == [(gone, "not_live")]
    assert catalogue.asked == [("acme", {"d1", "d2"}, None)]


async def test_search_as_of_a_date_asks_the_catalogue_for_that_date(thread: ModelThread) -> None:
    catalogue, day = Catalogue("d1"), date(2021, 5, 1)
    old = chunk("tax law", "d1", effective_to=date(2022, 1, 1))
    search = await searcher(thread, old, live=catalogue)
    result = await search.search("tax law", ANN, book=LabelBook(), filter=SearchFilter(as_of=day))
    assert [p.chunk for p in result.passages] == [old]
    assert catalogue.asked == [("acme", {"d1"}, day)]


async def test_search_gives_nothing_when_the_catalogue_does_not_answer(thread: ModelThread) -> None:
    class Broken:
        async def live(self, tenant: str, document_ids: Collection[str], as_of: date | None = None) -> set[str]:
            raise ConnectionError("catalogue is down")

    search = await searcher(thread, chunk("tax law"), live=Broken())
    with pytest.raises(ConnectionError):
        await search.search("tax law", ANN, book=LabelBook())


LONG = "The reimbursement of travel costs needs the signature of the head of the department and all the receipts"


async def test_search_drops_near_duplicates_and_names_what_they_repeat(thread: ModelThread) -> None:
    first, second = chunk(f"{LONG}.", "d1"), chunk(f"{LONG.upper()} !", "d2")
    search = await searcher(thread, first, second, chunk("travel by train", "d3"))
    result = await search.search("reimbursement of travel costs", ANN, book=LabelBook())
    assert len({p.chunk.document_id for p in result.passages} & {"d1", "d2"}) == 1
    [dropped] = [d for d in result.dropped if d.reason == "near_duplicate"]
    assert {dropped.candidate.chunk.chunk_id, dropped.of} == {first.chunk_id, second.chunk_id}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (chunk(f"{LONG} above 500 yuan", "d1"), chunk(f"{LONG} above 800 yuan", "d2")),
        (chunk(f"{LONG} for C1", "d1"), chunk(f"{LONG} for R4", "d2")),
        (chunk(LONG, "d1", heading_path=("Rules of 2023",)), chunk(LONG, "d2", heading_path=("Rules of 2024",))),
        (chunk(LONG, "d1", title="Q3 2023"), chunk(LONG, "d2", title="Q3 2024")),
    ],
    ids=["figure", "code", "heading", "title"],
)
async def test_search_keeps_texts_apart_that_differ_in_one_figure(
    thread: ModelThread, one: Chunk, other: Chunk
) -> None:
    search = await searcher(thread, one, other)
    result = await search.search("reimbursement of travel costs", ANN, book=LabelBook())
    assert {p.chunk.document_id for p in result.passages} == {"d1", "d2"}


async def test_search_reranks_only_the_first_and_says_what_it_left_out(thread: ModelThread) -> None:
    chunks = [chunk("tax law " + "and more " * n, f"d{n}") for n in range(1, 6)]
    search = await searcher(thread, *chunks, rerank_k=3)
    result = await search.search("tax law", ANN, book=LabelBook(), top_k=2)
    reasons = [d.reason for d in result.dropped]
    assert (len(result.reranked), reasons.count("below_rerank_k"), reasons.count("below_top_k")) == (3, 2, 1)
    assert len(result.passages) + len(result.dropped) == len(result.candidates) == 5


async def test_search_more_passages_than_rerank_k_may_be_asked_for(thread: ModelThread) -> None:
    chunks = [chunk("tax law " + "and more " * n, f"d{n}") for n in range(1, 6)]
    search = await searcher(thread, *chunks, rerank_k=2)
    assert len((await search.search("tax law", ANN, book=LabelBook(), top_k=4)).passages) == 4


# ---- the first stage, taken over


class CountingStore(InMemoryVectorStore):
    """Counts dense questions; answers or fails."""

    def __init__(self, failing: bool = False) -> None:
        super().__init__()
        self.questions = 0
        self._failing = failing

    async def dense(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> list[ScoredChunk]:
        self.questions += 1
        if self._failing:
            raise StoreUnavailableError("down")
        return await super().dense(vector, scope, limit)


async def test_search_takes_a_first_stage_over(thread: ModelThread) -> None:
    store = CountingStore()
    search = await searcher(thread, chunk("tax law"), store=store)
    first = await search.first_stage("tax law", ANN)
    asked = store.questions
    taken = await search.search("tax law", ANN, book=LabelBook(), first_stage=first)
    assert store.questions == asked
    alone = await search.search("tax law", ANN, book=LabelBook())
    assert taken.passages == alone.passages
    assert set(taken.latencies_ms) == set(alone.latencies_ms)


async def test_search_refuses_a_first_stage_of_another_principal_or_filter(thread: ModelThread) -> None:
    search = await searcher(thread, chunk("tax law", labels={"hr"}))
    first = await search.first_stage("tax law", ANN)
    bob = ANN.model_copy(update={"user": "bob"})
    with pytest.raises(ValueError, match="another principal or filter"):
        await search.search("tax law", bob, book=LabelBook(), first_stage=first)
    wanted = SearchFilter(labels=frozenset({"legal"}))
    with pytest.raises(ValueError, match="another principal or filter"):
        await search.search("tax law", ANN, book=LabelBook(), filter=wanted, first_stage=first)


async def test_search_passes_the_error_of_the_store_on(thread: ModelThread) -> None:
    search = await searcher(thread, chunk("tax law"), store=CountingStore(failing=True))
    with pytest.raises(StoreUnavailableError, match="down"):
        await search.search("tax law", ANN, book=LabelBook())


async def test_search_bounds_the_scores_of_a_reranker(thread: ModelThread) -> None:
    class Loud:
        @property
        def name(self) -> str:
            return "loud"

        def score(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
            return [1.0000001 if n == 0 else -0.1 for n, _ in enumerate(candidates)]

    search = await searcher(thread, chunk("tax law"), chunk("wind mill", "d2"), reranker=Loud())
    result = await search.search("tax law", ANN, book=LabelBook())
    assert [p.score for p in result.passages] == [1.0, 0.0]


async def test_search_finds_a_passage_in_the_other_language_behind_many_of_its_own(thread: ModelThread) -> None:
    own = [chunk(f"制度第{n}条 年假规定 年假", f"own{n}", language="zh") for n in range(8)]
    abroad = chunk("Employees have 15 days of leave", "abroad", language="en")
    search = await searcher(thread, *own, abroad, candidates_k=5)
    first = await search.first_stage("年假有几天", ANN)
    found = next(c for c in first.candidates if c.chunk.document_id == "abroad")
    assert "foreign" in found.scores
    assert "dense" not in found.scores
    assert found.ranks["foreign"] == 1


async def test_search_keeps_to_a_language_that_the_caller_named(thread: ModelThread) -> None:
    abroad = chunk("Employees have 15 days of leave", "abroad", language="en")
    search = await searcher(thread, chunk("年假规定", "own", language="zh"), abroad)
    first = await search.first_stage("年假有几天", ANN, filter=SearchFilter(language="zh"))
    assert {c.chunk.document_id for c in first.candidates} == {"own"}


# ---- what is shown beside the best


def figure(text: str, surface: str, normal: str) -> Symbol:
    start = text.index(surface)
    values = {"cls": "value", "kind": "duration", "normal": normal, "token": f"[D_{normal}]", "surface": surface}
    return Symbol.model_validate(values | {"start": start, "end": start + len(surface)})


def leave(days: int, document_id: str, **fields: object) -> Chunk:
    text = f"Annual leave is {days} days"
    return chunk(text, document_id, language="en", symbols=(figure(text, f"{days} days", f"P{days}D"),), **fields)


async def test_search_shows_a_passage_that_contradicts_a_shown_one(thread: ModelThread) -> None:
    official, draft = leave(15, "d1"), leave(10, "d2", authority="draft")
    others = [chunk(f"annual leave form {n}", f"e{n}", language="en") for n in range(3)]
    scores = {official.text: 0.9, draft.text: 0.2}
    search = await searcher(thread, official, draft, *others, reranker=FixedReranker(scores, default=0.5))
    result = await search.search("annual leave", ANN, book=LabelBook(), top_k=1)
    first, second = result.passages
    assert (first.chunk, second.chunk) == (official, draft)
    assert (first.conflicts_with, second.conflicts_with) == ((second.label,), (first.label,))
    assert [(a.chunk_id, a.reason, a.of) for a in result.added] == [(draft.chunk_id, "conflict", official.chunk_id)]
    assert draft not in [d.candidate.chunk for d in result.dropped]
    none = await searcher(thread, official, draft, conflict_window=0)
    assert all(not p.conflicts_with for p in (await none.search("annual leave", ANN, book=LabelBook())).passages)


async def test_search_shows_no_more_contradicting_passages_than_allowed(thread: ModelThread) -> None:
    chunks = [leave(n, f"d{n}") for n in (5, 6, 7, 8)]
    search = await searcher(thread, *chunks, conflict_extra=2)
    result = await search.search("annual leave", ANN, book=LabelBook(), top_k=1)
    assert len(result.passages) == 3
    assert len(result.passages) + len(result.dropped) == len(result.candidates)


async def test_search_shows_what_stands_beside_a_passage_within_the_rights(thread: ModelThread) -> None:
    own = chunk("tax law", ordinal=1)
    beside = chunk("what comes before", ordinal=0)
    hidden = chunk("what comes after", ordinal=2, access={"user:bob"})
    search = await searcher(thread, own, beside, hidden)
    result = await search.search("tax law", ANN, book=LabelBook(), top_k=1)
    assert [(p.context_before, p.context_after) for p in result.passages] == [("what comes before", "")]
    assert [(a.chunk_id, a.reason, a.of) for a in result.added] == [(beside.chunk_id, "context", own.chunk_id)]
    without = await searcher(thread, own, beside, neighbour_tokens=0)
    result = await without.search("tax law", ANN, book=LabelBook(), top_k=1)
    assert (result.passages[0].context_before, result.added) == ("", ())


async def test_search_inside_a_document_that_is_not_visible_finds_and_tells_nothing(thread: ModelThread) -> None:
    own, hidden = chunk("tax law"), chunk("tax law of bob", "d2", access={"user:bob"})
    search = await searcher(thread, own, hidden)
    for document_id in ("d2", "no-such-document"):
        wanted = SearchFilter(document_ids=frozenset({document_id}))
        result = await search.search("tax law", ANN, book=LabelBook(), filter=wanted)
        assert (result.passages, result.candidates, result.dropped, result.added) == ((), (), (), ())


async def test_search_keeps_of_two_that_say_the_same_the_better_source(thread: ModelThread) -> None:
    draft = chunk(f"{LONG}.", "d1", authority="draft")
    old = chunk(f"{LONG}!", "d2", effective_from=date(2020, 1, 1))
    new = chunk(f"{LONG};", "d3", effective_from=date(2024, 1, 1))
    for order in ((draft, old, new), (new, old, draft), (old, draft, new)):
        search = await searcher(thread, *order)
        result = await search.search("reimbursement of travel costs", ANN, book=LabelBook())
        assert [p.chunk.document_id for p in result.passages] == ["d3"]
        assert {(d.candidate.chunk.document_id, d.of) for d in result.dropped} == {
            ("d1", new.chunk_id),
            ("d2", new.chunk_id),
        }


async def test_search_fuses_several_wordings_of_one_question(thread: ModelThread) -> None:
    tax, leaves = chunk("tax law of the land"), chunk("年假规定", "d2", language="zh")
    rest = [chunk(f"wind mill {n}", f"e{n}") for n in range(4)]

    def score(question: str, candidate: Candidate) -> float:
        return 0.9 if set(question) & set(candidate.chunk.text) - set(" ") and "law" in question + "law" else 0.1

    search = await searcher(thread, tax, leaves, *rest, reranker=FixedReranker(score))
    book = LabelBook()
    alone = await search.search("年假", ANN, book=book, top_k=1)
    both = await search.search("tax law", ANN, book=book, also=("年假", "tax law", " "), top_k=2)
    assert alone.passages[0].chunk == leaves
    assert {p.chunk.document_id for p in both.passages} == {"d1", "d2"}


async def test_search_says_until_when_an_older_edition_holds(thread: ModelThread) -> None:
    class Editions:
        async def superseded_from(self, tenant: str, document_ids: Collection[str]) -> dict[str, date]:
            return {"d1": date(2024, 1, 1)} if "d1" in document_ids else {}

    store, encoder = InMemoryVectorStore(), HashEncoder(64)
    await searcher(thread, chunk("tax law"), store=store)
    search = Searcher(
        encoder,
        thread,
        FixedReranker({}, default=0.9),
        thread,
        store,
        TinyLanguage(),
        SearchSettings(),
        editions=Editions(),
    )
    wanted = SearchFilter(as_of=date(2023, 5, 1))
    then = await search.search("tax law", ANN, book=LabelBook(), filter=wanted)
    assert then.passages[0].superseded_from == date(2024, 1, 1)
    today = await search.search("tax law", ANN, book=LabelBook())
    assert today.passages[0].superseded_from is None
