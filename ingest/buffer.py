"""Prepared documents between preparation and encoding, bounded by chunks instead of documents."""

from __future__ import annotations

import asyncio

from ingest.work import Work


class WorkBuffer:
    """Hands prepared documents on in groups; `put` waits while `limit` chunks or more are waiting.

    Many small documents share a group, and with it full batches; a large one comes alone.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: list[Work] = []
        self._closed = False
        self._changed = asyncio.Condition()

    async def put(self, work: Work) -> None:
        """Add a document once there is room."""
        async with self._changed:
            await self._changed.wait_for(lambda: sum(len(each.todo) for each in self._waiting) < self._limit)
            self._waiting.append(work)
            self._changed.notify_all()

    async def take(self) -> list[Work]:
        """Wait for documents and take all that wait; empty once the buffer is closed and drained."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._waiting) or self._closed)
            group, self._waiting = self._waiting, []
            self._changed.notify_all()
            return group

    async def close(self) -> None:
        """Say that nothing more comes."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()
