"""Waits for a piece of work of a run, and meanwhile passes on what happens beside it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, Generic, TypeVar

from agent.emitter import Emitter
from agent.events import Event

T = TypeVar("T")


class Waiting(Generic[T]):
    """One piece of work. After `events` is exhausted either `result` may be read or `expired` is True."""

    def __init__(
        self,
        work: Coroutine[Any, Any, T],
        emit: Emitter,
        *,
        until: Callable[[], float | None],
        patience_s: float | None = None,
        slow: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the work.

        Args:
            work: is begun when `events` is.
            emit: makes the run's events; those made aside are passed on at once.
            until: the deadline (time of the event loop), asked again and again; None: there is none just now.
            patience_s: after so many seconds `slow` is called, once; None: never.
            slow: tells the reader.
        """
        self._work = work
        self._emit = emit
        self._until = until
        self._patience_s = patience_s
        self._slow = slow
        self._task: asyncio.Task[T] | None = None
        self.expired = False
        """True: the deadline passed, and the work was cancelled."""

    @property
    def result(self) -> T:
        """What the work gave; raises what it raised."""
        assert self._task is not None, "the work has not begun"
        return self._task.result()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Do the work."""
        task = self._task = asyncio.get_running_loop().create_task(self._work)
        begun = asyncio.get_running_loop().time()
        slow_at = None if self._patience_s is None else begun + self._patience_s
        try:
            while not task.done():
                for event in self._emit.take_aside():
                    yield event
                self._emit.passed_on()
                slow_at = await self._look(task, slow_at)
                if self.expired:
                    break
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
        for event in self._emit.take_aside():
            yield event
        self._emit.passed_on()

    async def _look(self, task: asyncio.Task[T], slow_at: float | None) -> float | None:
        """Wait for the end, an event, impatience or the deadline, whatever comes first."""
        loop, until = asyncio.get_running_loop(), self._until()
        ends = [each for each in (until, None if until is None else slow_at) if each is not None and each != math.inf]
        stirred = loop.create_task(self._emit.stirred())
        try:
            timeout = max(0.0, min(ends) - loop.time()) if ends else None
            await asyncio.wait({task, stirred}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stirred.cancel()
        if task.done() or (until := self._until()) is None:
            return slow_at
        self.expired = loop.time() >= until
        if slow_at is not None and not self.expired and loop.time() >= slow_at:
            self._slow()
            return None
        return slow_at
