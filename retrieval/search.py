"""Search: first stage → live → rerank → passages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from retrieval.choosing import choose
from retrieval.encoder import Encoder, ModelThread, Reranker
from retrieval.errors import ForbiddenError
from retrieval.first_stage import CandidateFinder, FirstStage
from retrieval.labels import LabelBook
from retrieval.passages import make_passage
from retrieval.period_match import periods
from retrieval.ports import FormerPseudonyms, LiveDocuments, Symboliser
from retrieval.search_result import Dropped, SearchResult
from retrieval.settings import SearchSettings
from retrieval.stopwatch import Stopwatch
from retrieval.store import VectorStore
from retrieval.types import Candidate, Chunk, Principal, Scope, SearchFilter


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
        self._first = CandidateFinder(encoder, model_thread, store, language, settings, former)
        self._reranker, self._reranker_thread = reranker, reranker_thread
        self._language, self._settings, self._live = language, settings, live

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
            first_stage = await self._first.find(question, scope, base_date=base_date)
        elif first_stage.scope != scope:
            raise ValueError("this first stage was made for another principal or filter")
        watch = Stopwatch(first_stage.latencies_ms)
        limit = self._settings.top_k if top_k is None else top_k
        live, gone = await self._only_live(scope, first_stage.candidates, watch)
        chosen, passed_over = choose(live, max(self._settings.rerank_k, limit))
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
            index_text=first_stage.index_text,
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
        return await self._first.find(question, _scope(principal, filter), base_date=base_date)

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
