"""Search: first stage → live → rerank → passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from retrieval.assembling import PassageMaker
from retrieval.choosing import choose
from retrieval.encoder import Encoder, ModelThread, Reranker
from retrieval.errors import ForbiddenError
from retrieval.first_stage import CandidateFinder, FirstStage
from retrieval.labels import LabelBook
from retrieval.late import LateRescorer
from retrieval.ports import Editions, FormerPseudonyms, LiveDocuments, Symboliser
from retrieval.search_result import Dropped, SearchResult
from retrieval.settings import SearchSettings
from retrieval.several_queries import fuse_stages, own_candidates
from retrieval.stopwatch import Stopwatch, utc_today
from retrieval.store import VectorStore
from retrieval.types import Candidate, Principal, Scope, SearchFilter


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
        editions: Editions | None = None,
        today: Callable[[], date] = utc_today,
    ) -> None:
        self._today = today
        self._first = CandidateFinder(encoder, model_thread, store, language, settings, former)
        self._reranker, self._reranker_thread = reranker, reranker_thread
        self._late = LateRescorer(encoder, model_thread, settings)
        self._maker = PassageMaker(store, language, settings, reranker.name, editions)
        self._settings, self._live = settings, live

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
        """Find the passages that answer a question; none when the filter or the rights admit nothing.

        Args:
            question: as the user wrote it.
            principal: who asks.
            book: hands out the labels of this run.
            filter: narrows the search; AND-ed with the principal's rights inside the query.
            top_k: how many passages at most; the settings' when None.
            base_date: what relative periods in the question refer to; None: the filter's `as_of`, else today.
            first_stage: a first stage already made for this question, to save making it again.
            also: the question in other words or languages; what they find is fused, and a candidate is worth
                what the wording that it suits best makes of it.

        Raises:
            ForbiddenError: the principal holds neither `search` nor `chat`.
            ValueError: `first_stage` was made for another principal or filter.
            StoreUnavailableError: the store gave no answer.
        """
        scope = _scope(principal, filter)
        base_date = base_date or scope.filter.as_of or self._today()
        if first_stage is None:
            first_stage = await self._first.find(question, scope, base_date=base_date)
        elif first_stage.scope != scope:
            raise ValueError("this first stage was made for another principal or filter")
        stages = [first_stage, *await self._others(question, also, scope, base_date)]
        first_stage = fuse_stages(stages, self._settings.rrf_k)
        watch = Stopwatch(first_stage.latencies_ms)
        limit = self._settings.top_k if top_k is None else top_k
        live, gone = await self._only_live(scope, first_stage.candidates, watch)
        chosen, passed_over = choose(live, max(self._settings.rerank_k, limit), self._settings.rerank_foreign_k)
        with watch.stage("rerank"):
            scores = await self._rerank_all(stages, chosen)
        ranked = sorted(zip(chosen, scores, strict=True), key=lambda pair: -pair[1])
        passages, added = await self._maker.make(
            scope, ranked, limit, first_stage.index_text, first_stage.symbols, book, watch
        )
        shown = {passage.chunk.chunk_id for passage in passages}
        unshown = [c for c, _ in ranked if c.chunk.chunk_id not in shown]
        return SearchResult(
            passages=passages,
            candidates=first_stage.candidates,
            reranked={c.chunk.chunk_id: score for c, score in ranked},
            dropped=(*gone, *passed_over, *(Dropped(c, "below_top_k") for c in unshown)),
            added=added,
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
        scope = _scope(principal, filter)
        return await self._first.find(question, scope, base_date=base_date or scope.filter.as_of or self._today())

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

    async def _others(
        self, question: str, also: Sequence[str], scope: Scope, base_date: date | None
    ) -> list[FirstStage]:
        wordings = [text for text in dict.fromkeys(also) if text.strip() and text != question]
        return [
            await self._first.find(text, scope, base_date=base_date)
            for text in wordings[: self._settings.max_queries - 1]
        ]

    async def _rerank_all(self, stages: Sequence[FirstStage], chosen: Sequence[Candidate]) -> list[float]:
        """Score every candidate against the wordings that found it, and return the best score of each."""
        if len(stages) == 1:
            return await self._rerank(stages[0], chosen)
        best = dict.fromkeys((c.chunk.chunk_id for c in chosen), 0.0)
        for stage in stages:
            own = own_candidates(stage, chosen)
            for candidate, score in zip(own, await self._rerank(stage, own), strict=True):
                best[candidate.chunk.chunk_id] = max(best[candidate.chunk.chunk_id], score)
        return list(best.values())

    async def _rerank(self, first: FirstStage, chosen: Sequence[Candidate]) -> list[float]:
        if not chosen:
            return []
        scores = await self._reranker_thread.run(self._reranker.score, first.index_text, first.symbols, chosen)
        bounded = [min(max(score, 0.0), 1.0) for score in scores]
        return await self._late.rescore(first.index_text, chosen, bounded)


def _scope(principal: Principal, filter: SearchFilter | None) -> Scope:
    if not (principal.may("search") or principal.may("chat")):
        raise ForbiddenError(f"user {principal.user!r} holds neither the right `search` nor `chat`")
    return Scope.of(principal, filter)
