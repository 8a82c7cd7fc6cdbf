"""Search that answers a repeated question from memory, as it would be answered now."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Literal, Protocol

from retrieval.cache import ResultCache
from retrieval.first_stage import FirstStage
from retrieval.labels import LabelBook
from retrieval.ports import Symboliser
from retrieval.relabelling import relabelled
from retrieval.search_result import SearchResult
from retrieval.settings import CacheSettings
from retrieval.stopwatch import Stopwatch
from retrieval.types import Candidate, Chunk, Principal, SearchFilter, Symbol


class Search(Protocol):
    """A search and its first stage; see `retrieval.search.Searcher`."""

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
        """Find the passages that answer a question."""
        ...

    async def first_stage(
        self,
        question: str,
        principal: Principal,
        *,
        filter: SearchFilter | None = None,
        base_date: date | None = None,
    ) -> FirstStage:
        """Symbolise and encode a question and fuse what the channels find."""
        ...


class KnowledgeVersions(Protocol):
    """Who counts the changes of a tenant's documents: the catalogue."""

    async def knowledge_version(self, tenant: str) -> int:
        """Return the number that changes, in one transaction with it, with everything that search may show."""
        ...


@dataclass(frozen=True, slots=True)
class SearchKey:
    """All that a search result depends on."""

    stage: Literal["first", "whole"]
    tenant: str
    access: frozenset[str]
    allowed: bool
    """Whether the principal may search at all."""
    filter: SearchFilter
    question: str
    """Symbolised."""
    also: tuple[str, ...]
    """Other wordings, symbolised."""
    symbols: tuple[tuple[str, str], ...]
    """Tokens and qualifiers of the question's symbols."""
    top_k: int | None
    base_date: date | None
    today: date
    """Editions come into force at midnight."""
    knowledge_version: int
    rules: str
    """Revision of the symbol language."""
    configuration: str
    """Encoder, reranker and settings."""


class SearchCaches:
    """What is kept of searches, and of first stages that no search followed."""

    def __init__(self, settings: CacheSettings) -> None:
        self.enabled = settings.search
        self.results: ResultCache[SearchKey, SearchResult] = ResultCache(
            settings,
            size_of=lambda result: _size(result.candidates),
            documents_of=lambda result: {c.chunk.document_id for c in result.candidates},
        )
        self.first_stages: ResultCache[SearchKey, FirstStage] = ResultCache(
            settings,
            size_of=lambda first: _size(first.candidates),
            documents_of=lambda first: {c.chunk.document_id for c in first.candidates},
        )


class CachedSearch:
    """Puts a cache before a search.

    A result is kept without labels of its own: each run's book gives them anew. The key holds the
    principal's whole access, so that a result serves only those who would get the same.
    """

    def __init__(
        self,
        search: Search,
        caches: SearchCaches,
        language: Symboliser,
        knowledge: KnowledgeVersions,
        *,
        rules: Callable[[str], str],
        configuration: str,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        """Take the parts.

        Args:
            search: what is asked when nothing is kept.
            caches: where it is kept.
            language: reads questions.
            knowledge: counts the changes of documents.
            rules: returns the revision of the symbol language that reads a tenant's questions now.
            configuration: names encoder, reranker and settings; what differs in it finds other things.
            today: the day of the catalogue's clock.
        """
        self._search, self._caches, self._language, self._knowledge = search, caches, language, knowledge
        self._rules, self._configuration, self._today = rules, configuration, today

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
        """Find the passages that answer a question; arguments and errors are `Searcher.search`'s."""
        watch = Stopwatch()
        key = await self._key(
            "whole", question, principal, filter, base_date, top_k=top_k, first=first_stage, also=also
        )

        async def make() -> SearchResult:
            return await self._search.search(
                question,
                principal,
                book=LabelBook(),
                filter=filter,
                top_k=top_k,
                base_date=base_date,
                first_stage=first_stage,
                also=also,
            )

        if not self._caches.enabled:
            found, cached = await make(), False
        else:
            found, cached = await self._caches.results.get_or_make(key, make)
        return replace(
            found,
            passages=relabelled(found.passages, book),
            cached=cached,
            knowledge_version=key.knowledge_version,
            latencies_ms=watch.stages_ms() if cached else found.latencies_ms,
        )

    async def first_stage(
        self,
        question: str,
        principal: Principal,
        *,
        filter: SearchFilter | None = None,
        base_date: date | None = None,
    ) -> FirstStage:
        """Do the first stage alone; arguments and errors are `Searcher.first_stage`'s."""

        async def make() -> FirstStage:
            return await self._search.first_stage(question, principal, filter=filter, base_date=base_date)

        if not self._caches.enabled:
            return await make()
        watch = Stopwatch()
        key = await self._key("first", question, principal, filter, base_date)
        found, cached = await self._caches.first_stages.get_or_make(key, make)
        return replace(found, latencies_ms=watch.stages_ms()) if cached else found

    async def _key(
        self,
        stage: Literal["first", "whole"],
        question: str,
        principal: Principal,
        filter: SearchFilter | None,
        base_date: date | None,
        *,
        top_k: int | None = None,
        first: FirstStage | None = None,
        also: Sequence[str] = (),
    ) -> SearchKey:
        tenant = principal.tenant
        # Both before the search: what changes while it goes on makes its result one of former documents or rules.
        rules, version = self._rules(tenant), await self._knowledge.knowledge_version(tenant)
        index_text, symbols = (
            (first.index_text, first.symbols) if first is not None else self._read(question, tenant, base_date)
        )
        return SearchKey(
            stage=stage,
            tenant=tenant,
            access=principal.access_tokens(),
            allowed=principal.may("search") or principal.may("chat"),
            filter=filter or SearchFilter(),
            question=index_text,
            also=tuple(self._read(text, tenant, base_date)[0] for text in also),
            symbols=tuple((symbol.token, symbol.qualifier) for symbol in symbols),
            top_k=top_k,
            base_date=base_date,
            today=self._today(),
            knowledge_version=version,
            rules=rules,
            configuration=self._configuration,
        )

    def _read(self, question: str, tenant: str, base_date: date | None) -> tuple[str, tuple[Symbol, ...]]:
        read = self._language.symbolise(question, tenant=tenant, base_date=base_date)
        return read.index_text, tuple(read.symbols)


_OF_A_CHUNK = 3800
_OF_A_SYMBOL = 1100
"""Bytes of a chunk as a store gives it back, without its texts and symbols, and of a symbol; measured."""


def chunk_bytes(chunk: Chunk) -> int:
    """Estimate what a chunk takes in memory."""
    texts = sys.getsizeof(chunk.text) + sys.getsizeof(chunk.index_text)
    return _OF_A_CHUNK + _OF_A_SYMBOL * len(chunk.symbols) + texts


def _size(candidates: tuple[Candidate, ...]) -> int:
    return sum(chunk_bytes(candidate.chunk) for candidate in candidates)
