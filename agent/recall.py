"""Answer recall: when a document is replaced or deleted, the answers that relied on it are marked and told of.

What an answer relied on is kept with its audit (`agent.audits`); what became of a document is asked of
the catalogue. So nothing has to be remembered between the two, and a change that no one heard of, for the
process was down, is found at the next look.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol

from agent.audits import AuditBook, Stale
from agent.clock import Clock, SystemClock

log = logging.getLogger(__name__)


class Standings(Protocol):
    """What became of documents. Blocking."""

    def gone(self, tenant: str, document_ids: Collection[str]) -> Mapping[str, Stale]:
        """Return those that are replaced or deleted."""
        ...

    def successor(self, tenant: str, document_id: str) -> str | None:
        """Return the version that counts now, the document itself where it is the one."""
        ...


Told = Callable[[str, Sequence[str]], Awaitable[None]]
"""Is told a tenant and its runs whose answers have become stale."""


class Recall:
    """Marks stale answers."""

    def __init__(
        self,
        book: AuditBook,
        standings: Standings,
        knowledge: Callable[[str], int],
        *,
        told: Told | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Take the parts.

        Args:
            book: the audits.
            standings: what became of documents.
            knowledge: returns a tenant's knowledge version. Blocking.
            told: hears of answers that have become stale.
            clock: for tests.
        """
        self._book, self._standings, self._knowledge = book, standings, knowledge
        self._told = told
        self._clock = clock or SystemClock()
        self._seen: dict[str, int] = {}

    async def check(self, tenant: str) -> Sequence[str]:
        """Mark the answers of a tenant that have become stale; return their runs. Repeatable."""
        stale = await asyncio.to_thread(self._mark, tenant)
        if stale:
            log.info("%d answers rely on documents that are replaced or deleted now", len(stale))
            if self._told is not None:
                await self._told(tenant, stale)
        return stale

    async def check_changed(self) -> None:
        """Check every tenant whose documents have changed since the last time; at first, all."""
        for tenant in await asyncio.to_thread(self._book.tenants):
            version = await asyncio.to_thread(self._knowledge, tenant)
            if self._seen.get(tenant) != version:
                await self.check(tenant)
                self._seen[tenant] = version

    async def run_forever(self, stop: asyncio.Event, interval_s: float) -> None:
        """Look for changes until `stop` is set."""
        while not stop.is_set():
            try:
                await self.check_changed()
            except Exception:
                # A database that is away for a moment: the next look finds what this one did not.
                log.exception("stale answers could not be looked for")
            try:
                async with asyncio.timeout(interval_s):
                    await stop.wait()
            except TimeoutError:
                continue

    def _mark(self, tenant: str) -> list[str]:
        relied_on = self._book.relied_on(tenant)
        gone = self._standings.gone(tenant, relied_on)
        return self._book.mark_stale(tenant, gone, self._clock.now()) if gone else []
