"""From reranked candidates to the passages that are shown: conflicting ones beside each other, with context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from retrieval.confidence import low_below
from retrieval.conflicts import find_conflicts
from retrieval.labels import LabelBook
from retrieval.neighbours import context_of, places_beside
from retrieval.passages import make_passage
from retrieval.period_match import periods
from retrieval.ports import Editions, Symboliser
from retrieval.search_result import Added
from retrieval.settings import SearchSettings
from retrieval.stopwatch import Stopwatch
from retrieval.store import VectorStore
from retrieval.types import Candidate, Chunk, Passage, Scope, Symbol

Ranked = tuple[Candidate, float]


class PassageMaker:
    """Makes the passages of one search."""

    def __init__(
        self,
        store: VectorStore,
        language: Symboliser,
        settings: SearchSettings,
        reranker: str,
        editions: Editions | None = None,
    ) -> None:
        self._store, self._language, self._settings, self._editions = store, language, settings, editions
        self._low = low_below(reranker, settings.low_below)

    async def make(
        self,
        scope: Scope,
        ranked: Sequence[Ranked],
        limit: int,
        question: str,
        symbols: Iterable[Symbol],
        book: LabelBook,
        watch: Stopwatch,
    ) -> tuple[tuple[Passage, ...], tuple[Added, ...]]:
        """Return the first `limit` as passages, and those behind them that contradict one of these.

        Raises:
            StoreUnavailableError: the store gave no answer.
        """
        if not ranked or limit < 1:
            return (), ()
        with watch.stage("conflicts"):
            conflicts = self._conflicts(ranked, limit, question)
        places = [*range(min(limit, len(ranked))), *(place for place in conflicts if place >= limit)]
        shown = [ranked[place] for place in places]
        chunks = [candidate.chunk for candidate, _ in shown]
        beside = await self._beside(scope, chunks, watch)
        until = await self._superseded(scope, chunks)
        asked = periods(symbols)
        labels = {place: book.label(ranked[place][0].chunk) for place in places}
        ids = {chunk.chunk_id for chunk in chunks}
        passages: list[Passage] = []
        for place in places:
            candidate, score = ranked[place]
            chunk = candidate.chunk
            stated = self._stated(chunk) if asked else ()
            context = context_of(chunk, beside, ids, self._settings.neighbour_tokens)
            passage = make_passage(labels[place], chunk, score, asked, stated, low=self._low)
            passages.append(
                passage.model_copy(
                    update={
                        "conflicts_with": tuple(labels[other] for other in conflicts.get(place, ()) if other in labels),
                        "superseded_from": until.get(chunk.document_id),
                        "context_before": context.before,
                        "context_after": context.after,
                    }
                )
            )
        added = [
            Added(ranked[place][0].chunk.chunk_id, "conflict", ranked[min(conflicts[place])][0].chunk.chunk_id)
            for place in places
            if place >= limit
        ]
        for passage in passages:
            if passage.context_before or passage.context_after:
                added += [
                    Added(beside[place].chunk_id, "context", passage.chunk.chunk_id)
                    for place, text in _sides(passage)
                    if text
                ]
        return tuple(passages), tuple(added)

    def _conflicts(self, ranked: Sequence[Ranked], limit: int, question: str) -> dict[int, list[int]]:
        """Return by place the places that it contradicts: among the shown ones, and a few behind them."""
        if not self._settings.conflict_window:
            return {}
        window = ranked[: max(limit, self._settings.conflict_window)]
        found: dict[int, list[int]] = {}
        behind: set[int] = set()
        chunks = [candidate.chunk for candidate, _ in window]
        for conflict in find_conflicts(chunks, self._settings.conflict_overlap, first=limit, question=question):
            one, other = conflict.first, conflict.second
            if other >= limit and other not in behind:
                if len(behind) == self._settings.conflict_extra:
                    continue
                behind.add(other)
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
        return dict(sorted(found.items()))

    async def _beside(self, scope: Scope, chunks: Sequence[Chunk], watch: Stopwatch) -> Mapping[tuple[str, int], Chunk]:
        if not self._settings.neighbour_tokens or not (places := places_beside(chunks)):
            return {}
        found = await watch.timed("neighbours", self._store.at_places(places, _within(scope, chunks)))
        return {(chunk.document_id, chunk.ordinal): chunk for chunk in found}

    async def _superseded(self, scope: Scope, chunks: Sequence[Chunk]) -> Mapping[str, date]:
        """Return when later editions take over; only a question as of a date can be shown an edition that is past."""
        if self._editions is None or scope.filter.as_of is None:
            return {}
        return await self._editions.superseded_from(scope.tenant, {chunk.document_id for chunk in chunks})

    def _stated(self, chunk: Chunk) -> tuple[str, ...]:
        """Periods the chunk states, or its headings and title do: the text of a table seldom repeats them."""
        around = self._language.symbolise("\n".join((chunk.title, *chunk.heading_path)), tenant=chunk.tenant)
        return tuple(dict.fromkeys((*periods(chunk.symbols), *periods(around.symbols))))


def _within(scope: Scope, chunks: Sequence[Chunk]) -> Scope:
    """Narrow a scope to the documents of these chunks, which it admits; what narrows to chunks is left out.

    The row beside one that names a symbol need not name it too, nor be in the language asked for.
    """
    documents = frozenset(chunk.document_id for chunk in chunks)
    wider = {"document_ids": documents, "symbols": frozenset[str](), "period": None, "language": None}
    return scope.model_copy(update={"filter": scope.filter.model_copy(update=wider)})


def _sides(passage: Passage) -> list[tuple[tuple[str, int], str]]:
    chunk = passage.chunk
    return [
        ((chunk.document_id, chunk.ordinal - 1), passage.context_before),
        ((chunk.document_id, chunk.ordinal + 1), passage.context_after),
    ]
