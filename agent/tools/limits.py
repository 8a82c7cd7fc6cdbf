"""Limits on how often a tool is called, and on how many calls of it go on at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol, cast

from limits import RateLimitItemPerMinute
from limits.aio.storage import MovingWindowSupport, Storage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.storage import storage_from_string

IN_PROCESS = "async+memory://"
"""Storage of one process; `async+redis://HOST` is one that several share."""


class RateLimits(Protocol):
    """Moving windows of one minute, by key."""

    async def take(self, key: str, per_minute: int) -> float:
        """Take a turn: 0. Or have none: the seconds until there is one again, above 0."""
        ...


class WindowLimits:
    """Rate limits in any storage of the library `limits`."""

    def __init__(self, storage: str = IN_PROCESS) -> None:
        """Open the storage, named by its URL."""
        self._storage = cast("Storage", storage_from_string(storage))
        self._limiter = MovingWindowRateLimiter(self._storage)

    async def take(self, key: str, per_minute: int) -> float:
        """Take a turn of the last sixty seconds."""
        item = RateLimitItemPerMinute(per_minute, namespace="attest-tool")
        if await self._limiter.hit(item, key):
            return 0.0
        window = cast("MovingWindowSupport", self._storage)
        start, _ = await window.get_moving_window(item.key_for(key), item.amount, item.get_expiry())
        # The storage's clock is the wall clock: several processes may share it.
        return max(0.1, start + item.get_expiry() - time.time())


class Slots:
    """How many calls of a tool go on at once in this process."""

    def __init__(self) -> None:
        self._busy: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def hold(self, key: str, most: int) -> AsyncGenerator[None, None]:
        """Wait for a free slot and hold it."""
        semaphore = self._busy.setdefault(key, asyncio.Semaphore(most))
        async with semaphore:
            yield
