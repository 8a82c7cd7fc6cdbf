"""Search: symbolise → encode → dense, foreign, sparse and symbol channels → fuse → live → rerank → passages."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from retrieval.duplicates import Fingerprint
from retrieval.encoder import Encoder, ModelThread, Reranker
from retrieval.errors import ForbiddenError
from retrieval.foreign import other_language
from retrieval.fusion import fuse, rank_by_symbols, without_cut_tie
from retrieval.labels import LabelBook
from retrieval.passages import make_passage
from retrieval.period_match import periods
from retrieval.settings import SearchSettings
from retrieval.stopwatch import Stopwatch
from retrieval.store import VectorStore
from retrieval.types import (
    Candidate,
    Channel,
    Chunk,
    Encoding,
    Passage,
    Principal,
    Scope,
    ScoredChunk,
    SearchFilter,
    Symbol,
)


class SymbolisedText(Protocol):
    """What the symbol language makes of a text."""

    @property
    def index_text(self) -> str:
        """The text with all three symbol classes replaced by tokens: what is encoded."""
        ...

    @property
    def symbols(self) -> Sequence[Symbol]:
        """The symbols found, in order."""
        ...


class Symboliser(Protocol):
    """The part of the symbol language that search needs."""

    def symbolise(self, text: str, *, tenant: str, base_date: date | None = None) -> SymbolisedText:
        """Read a text; `base_date` resolves relative periods (上季度, last year)."""
        ...


class LiveDocuments(Protocol):
    """Who knows which documents exist: the catalogue."""

    async def live(self, tenant: str, document_ids: Collection[str], as_of: date | None = None) -> set[str]:
        """Return those of `document_ids` that may be shown as of a date (None: today).

        Not those that are pending, deleted, or superseded by an edition in force that day.
        """
        ...


class FormerPseudonyms(Protocol):
    """Who knows the names that values had under a former pseudonym key."""

    async def of(self, tenant: str, tokens: frozenset[str]) -> frozenset[str]:
        """Return the other names of the pseudonyms among these tokens; none unless the key is being changed."""
        ...


DropReason = Literal["not_live", "near_duplicate", "below_rerank_k", "below_top_k"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that did not become a passage, and why; `of` names the chunk a near-duplicate repeats."""

    candidate: Candidate
    reason: DropReason
    of: str | None = None


@dataclass(frozen=True, slots=True)
class FirstStage:
    """The fused candidates of a question before reranking, best first, within one scope."""

    scope: Scope
    index_text: str
    symbols: tuple[Symbol, ...]
    candidates: tuple[Candidate, ...]
    latencies_ms: dict[str, float]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, and everything needed to explain it."""

    passages: tuple[Passage, ...]
    """At most `top_k`, best first, labelled in the run's book."""
    candidates: tuple[Candidate, ...]
    """All fused candidates with their score and rank per channel, best first."""
    reranked: dict[str, float]
    """Reranker score by chunk id, for the candidates that were reranked."""
    dropped: tuple[Dropped, ...]
    latencies_ms: dict[str, float]
    """By stage: symbolise, encode, dense, sparse, symbol, fuse, live, rerank, total."""
    symbols: tuple[Symbol, ...]
    """Symbols of the question."""


class Searcher:
    """Answers questions from the index, within what the principal may see."""

    def __init__(
        self,
        encoder: Encoder,
        model_thread: ModelThread,
        reranker: Reranker,
        reranker_thread: ModelThread,
        store: VectorStore,
        language: Symboliser,
        settings: SearchSettings,
        live: LiveDocuments | None = None,
        former: FormerPseudonyms | None = None,
    ) -> None:
        self._former = former
        self._encoder, self._model_thread = encoder, model_thread
        self._reranker, self._reranker_thread = reranker, reranker_thread
        self._store, self._language, self._settings, self._live = store, language, settings, live

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
    ) -> SearchResult:
        """Find the passages that answer a question; none when the filter or the rights admit nothing.

        Args:
            question: as the user wrote it.
            principal: who asks.
            book: hands out the labels of this run.
            filter: narrows the search; AND-ed with the principal's rights inside the query.
            top_k: how many passages at most; the settings' when None.
            base_date: what relative periods in the question refer to.
            first_stage: a first stage already made for this question, to save making it again.

        Raises:
            ForbiddenError: the principal holds neither `search` nor `chat`.
            ValueError: `first_stage` was made for another principal or filter.
            StoreUnavailableError: the store gave no answer.
        """
        scope = _scope(principal, filter)
        if first_stage is None:
            first_stage = await self._first_stage(question, scope, base_date)
        elif first_stage.scope != scope:
            raise ValueError("this first stage was made for another principal or filter")
        watch = Stopwatch(first_stage.latencies_ms)
        limit = self._settings.top_k if top_k is None else top_k
        live, gone = await self._only_live(scope, first_stage.candidates, watch)
        chosen, passed_over = _choose(live, max(self._settings.rerank_k, limit))
        with watch.stage("rerank"):
            scores = await self._rerank(first_stage, chosen)
        ranked = sorted(zip(chosen, scores, strict=True), key=lambda pair: -pair[1])
        asked = periods(first_stage.symbols)
        passages = tuple(
            make_passage(book.label(c.chunk), c.chunk, score, asked, self._stated(c.chunk) if asked else ())
            for c, score in ranked[:limit]
        )
        return SearchResult(
            passages=passages,
            candidates=first_stage.candidates,
            reranked={c.chunk.chunk_id: score for c, score in ranked},
            dropped=(*gone, *passed_over, *(Dropped(c, "below_top_k") for c, _ in ranked[limit:])),
            latencies_ms=watch.stages_ms(),
            symbols=first_stage.symbols,
        )

    async def first_stage(
        self,
        question: str,
        principal: Principal,
        *,
        filter: SearchFilter | None = None,
        base_date: date | None = None,
    ) -> FirstStage:
        """Symbolise and encode a question and fuse what the three channels find; nothing is reranked.

        Raises:
            ForbiddenError: the principal holds neither `search` nor `chat`.
            StoreUnavailableError: the store gave no answer.
        """
        return await self._first_stage(question, _scope(principal, filter), base_date)

    async def _first_stage(self, question: str, scope: Scope, base_date: date | None) -> FirstStage:
        watch = Stopwatch()
        with watch.stage("symbolise"):
            read = self._language.symbolise(question, tenant=scope.tenant, base_date=base_date)
        with watch.stage("encode"):
            encoding = await self._model_thread.run(self._encoder.encode_query, read.index_text)
        tokens = frozenset(symbol.token for symbol in read.symbols)
        if self._former is not None and any(symbol.cls == "secret" for symbol in read.symbols):
            tokens |= await self._former.of(scope.tenant, tokens)
        k = self._settings.candidates_k
        try:
            async with asyncio.TaskGroup() as group:
                dense = group.create_task(watch.timed("dense", self._store.dense(encoding.dense[0], scope, k)))
                sparse = group.create_task(watch.timed("sparse", self._store.sparse(encoding.sparse[0], scope, k)))
                symbol = group.create_task(watch.timed("symbol", self._store.symbols(tokens, scope, k)))
                foreign = group.create_task(self._foreign(question, encoding, scope, watch))
        except BaseExceptionGroup as failed:  # callers know the store's errors, not groups of them
            raise failed.exceptions[0] from failed
        with watch.stage("fuse"):
            candidates = self._fuse(tokens, dense.result(), foreign.result(), sparse.result(), symbol.result())
        return FirstStage(scope, read.index_text, tuple(read.symbols), tuple(candidates), watch.stages_ms())

    async def _foreign(
        self, question: str, encoding: Encoding, scope: Scope, watch: Stopwatch
    ) -> Sequence[ScoredChunk]:
        """Return dense hits in the other language than the question's, where the encoder needs them apart."""
        other = other_language(question, self._encoder.info.name)
        if other is None or scope.filter.language is not None:
            return ()
        narrowed = scope.model_copy(update={"filter": scope.filter.model_copy(update={"language": other})})
        return await watch.timed("foreign", self._store.dense(encoding.dense[0], narrowed, self._settings.candidates_k))

    def _fuse(
        self,
        tokens: frozenset[str],
        dense: Sequence[ScoredChunk],
        foreign: Sequence[ScoredChunk],
        sparse: Sequence[ScoredChunk],
        symbol: Sequence[ScoredChunk],
    ) -> list[Candidate]:
        """Fuse the channels; every chunk that any channel found is ranked by its symbols too."""
        symbol = without_cut_tie(symbol, self._settings.candidates_k)
        abroad = {hit.chunk.chunk_id for hit in foreign}
        dense = [hit for hit in dense if hit.chunk.chunk_id not in abroad]
        found = {hit.chunk.chunk_id: hit.chunk for hits in (dense, foreign, sparse, symbol) for hit in hits}
        channels: dict[Channel, Sequence[ScoredChunk]] = {
            "dense": dense,
            "foreign": foreign,
            "sparse": sparse,
            "symbol": rank_by_symbols(found.values(), tokens),
        }
        weights: dict[Channel, float] = {
            "dense": self._settings.dense_weight,
            "foreign": self._settings.foreign_weight,
            "sparse": self._settings.sparse_weight,
            "symbol": self._settings.symbol_weight,
        }
        return fuse(channels, weights, self._settings.rrf_k)

    async def _only_live(
        self, scope: Scope, candidates: Sequence[Candidate], watch: Stopwatch
    ) -> tuple[list[Candidate], list[Dropped]]:
        """Part the candidates whose document the catalogue holds from the rest; it decides, not the index."""
        if self._live is None or not candidates:
            return list(candidates), []
        with watch.stage("live"):
            live = await self._live.live(
                scope.tenant, {c.chunk.document_id for c in candidates}, as_of=scope.filter.as_of
            )
        return (
            [c for c in candidates if c.chunk.document_id in live],
            [Dropped(c, "not_live") for c in candidates if c.chunk.document_id not in live],
        )

    async def _rerank(self, first: FirstStage, chosen: Sequence[Candidate]) -> list[float]:
        if not chosen:
            return []
        scores = await self._reranker_thread.run(self._reranker.score, first.index_text, first.symbols, chosen)
        return [min(max(score, 0.0), 1.0) for score in scores]

    def _stated(self, chunk: Chunk) -> tuple[str, ...]:
        """Periods the chunk states, or its headings and title do: the text of a table seldom repeats them."""
        around = self._language.symbolise("\n".join((chunk.title, *chunk.heading_path)), tenant=chunk.tenant)
        return tuple(dict.fromkeys((*periods(chunk.symbols), *periods(around.symbols))))


def _scope(principal: Principal, filter: SearchFilter | None) -> Scope:
    if not (principal.may("search") or principal.may("chat")):
        raise ForbiddenError(f"user {principal.user!r} holds neither the right `search` nor `chat`")
    return Scope.of(principal, filter)


def _choose(candidates: Sequence[Candidate], count: int) -> tuple[list[Candidate], list[Dropped]]:
    """Take the first `count` candidates that do not repeat one before them."""
    chosen: list[tuple[Candidate, Fingerprint]] = []
    dropped: list[Dropped] = []
    for candidate in candidates:
        if len(chosen) == count:
            dropped.append(Dropped(candidate, "below_rerank_k"))
            continue
        fingerprint = Fingerprint.of(candidate.chunk)
        twin = next((c for c, known in chosen if fingerprint.near(known)), None)
        if twin is not None:
            dropped.append(Dropped(candidate, "near_duplicate", of=twin.chunk.chunk_id))
        else:
            chosen.append((candidate, fingerprint))
    return [candidate for candidate, _ in chosen], dropped
