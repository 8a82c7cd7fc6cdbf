"""Keeps results for a while: bounded, made once however many ask, gone when what they rest on changes.

All use is on one event loop, so nothing is locked.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from cachetools import TTLCache

from retrieval.settings import CacheSettings


class Key(Protocol):
    """What a result depends on; equal keys give equal results."""

    @property
    def tenant(self) -> str:
        """Whose documents it rests on."""
        ...

    @property
    def knowledge_version(self) -> int:
        """Which state of them."""
        ...


K = TypeVar("K", bound=Key)
V = TypeVar("V")


class _Flight(Generic[V]):
    """A result that is being made, and how many wait for it."""

    def __init__(self, task: asyncio.Task[V]) -> None:
        self.task = task
        self.waiting = 0


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """How a cache has fared since the start, and what it holds now."""

    hits: int
    misses: int
    entries: int
    bytes: int


class ResultCache(Generic[K, V]):
    """Results by key."""

    def __init__(
        self,
        settings: CacheSettings,
        *,
        size_of: Callable[[V], int],
        documents_of: Callable[[V], Collection[str]],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make an empty cache.

        Args:
            settings: life and bounds.
            size_of: estimates the bytes of a result.
            documents_of: names the documents whose text a result holds.
            monotonic: seconds, for tests.
        """
        self._documents_of = documents_of
        budget = settings.max_mb * 1024 * 1024
        # An entry costs its bytes, and at least its share of the budget: so one bound keeps both.
        share = max(1, budget // settings.max_entries)
        self._kept: TTLCache[K, V] = TTLCache(
            budget, settings.life_s, timer=monotonic, getsizeof=lambda value: max(size_of(value), share)
        )
        self._size_of = size_of
        self._flights: dict[K, _Flight[V]] = {}
        self._generations: Counter[str] = Counter()
        self._newest: dict[str, int] = {}
        self._hits = self._misses = 0

    def counts(self) -> CacheCounts:
        """Tell how the cache fares."""
        self._kept.expire()
        return CacheCounts(self._hits, self._misses, len(self._kept), sum(map(self._size_of, self._kept.values())))

    def generation(self, tenant: str) -> int:
        """Return a number that changes whenever the tenant's results are forgotten; see `put`."""
        return self._generations[tenant]

    def get(self, key: K) -> V | None:
        """Return what is kept under a key; what rests on a former state of the tenant's documents goes."""
        self._see(key)
        value = self._kept.get(key)
        if value is None:
            self._misses += 1
        else:
            self._hits += 1
        return value

    def put(self, key: K, value: V, generation: int) -> None:
        """Keep a result, unless its tenant's were forgotten since `generation`, or it is out of date or too large."""
        fresh = key.knowledge_version >= self._newest.get(key.tenant, 0)
        if generation != self._generations[key.tenant] or not fresh or self._kept.getsizeof(value) > self._kept.maxsize:
            return
        self._kept[key] = value

    async def get_or_make(self, key: K, make: Callable[[], Awaitable[V]]) -> tuple[V, bool]:
        """Return what is kept, or make it; who asks meanwhile for the same waits for the same.

        A caller that is cancelled leaves the others their result; with the last one the making ends too.
        Failures are raised to all who wait, and not kept.

        Returns:
            The result, and whether it was there or being made already.
        """
        self._see(key)
        kept = self._kept.get(key)
        if kept is not None:
            self._hits += 1
            return kept, True
        flight = self._flights.get(key)
        joined = flight is not None
        if flight is None:
            self._misses += 1
            flight = self._flights[key] = self._take_off(key, make)
        else:
            self._hits += 1
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), joined
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._take_down(key, flight)
                flight.task.cancel()

    def forget(self, tenant: str) -> int:
        """Drop all results of a tenant, those that are being made included; return how many were kept."""
        self._generations[tenant] += 1
        gone = [key for key in self._kept if key.tenant == tenant]
        for key in gone:
            self._kept.pop(key, None)
        for key in [key for key in self._flights if key.tenant == tenant]:
            del self._flights[key]  # who waits gets it; nobody else
        return len(gone)

    def holding(self, tenant: str, document_id: str) -> int:
        """Count the results of a tenant that hold text of a document."""
        self._kept.expire()
        return sum(
            key.tenant == tenant and document_id in self._documents_of(value) for key, value in self._kept.items()
        )

    def _see(self, key: K) -> None:
        """Note the state of the tenant's documents; what rests on a former one is never asked for again."""
        newest = self._newest.get(key.tenant)
        if newest is not None and key.knowledge_version <= newest:
            return
        self._newest[key.tenant] = key.knowledge_version
        for old in [each for each in self._kept if each.tenant == key.tenant]:
            if old.knowledge_version < key.knowledge_version:
                self._kept.pop(old, None)

    def _take_off(self, key: K, make: Callable[[], Awaitable[V]]) -> _Flight[V]:
        async def made() -> V:
            return await make()

        flight = _Flight(asyncio.create_task(made()))
        generation = self._generations[key.tenant]

        def landed(task: asyncio.Task[V]) -> None:
            self._take_down(key, flight)
            if not task.cancelled() and task.exception() is None:
                self.put(key, task.result(), generation)

        flight.task.add_done_callback(landed)
        return flight

    def _take_down(self, key: K, flight: _Flight[V]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


class Forgets(Protocol):
    """A cache whose results can be dropped."""

    def forget(self, tenant: str) -> int:
        """Drop all results of a tenant."""
        ...

    def holding(self, tenant: str, document_id: str) -> int:
        """Count the results that hold text of a document."""
        ...


class CachedTexts:
    """What caches keep of documents: goes with a deleted document, and whenever stored texts are rewritten.

    Serves where copies of texts are rewritten (`rewrite`) and as a probe of deletion receipts (`erase`, `left`).
    """

    name = "cached_results"

    def __init__(self, *caches: Forgets) -> None:
        self._caches = caches

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Forget the tenant's results instead of changing them; return how many there were."""
        return sum(cache.forget(tenant) for cache in self._caches)

    async def erase(self, tenant: str, document_id: str) -> int:
        """Forget all of the tenant's results; return how many held text of the document. Repeatable."""
        held = await self.left(tenant, document_id)
        await self.rewrite(tenant, str)
        return held

    async def left(self, tenant: str, document_id: str) -> int:
        """Count the results that hold text of the document."""
        return sum(cache.holding(tenant, document_id) for cache in self._caches)
