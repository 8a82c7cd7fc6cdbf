"""One run in flight: its events so far, its controls, and any number of readers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from agent.control import RunControl
from agent.events import Event
from retrieval.types import Principal


class LiveRun:
    """The events of one run so far, and a way to wait for more.

    All use is on one event loop, so nothing is locked.
    """

    def __init__(self, run_id: str, principal: Principal, before: Sequence[Event] = ()) -> None:
        """Take whose run it is, and the events of a former start."""
        self.run_id = run_id
        self.principal = principal
        self.control = RunControl()
        self.task: asyncio.Task[None] | None = None
        self._events: list[Event] = list(before)
        self._more = asyncio.Event()
        self._ended = False

    def put(self, event: Event) -> None:
        """Add an event and wake the readers."""
        self._events.append(event)
        self._wake()

    def end(self) -> None:
        """Say that no event follows."""
        self._ended = True
        self._wake()

    async def follow(self, after: int = -1) -> AsyncIterator[Event]:
        """Yield every event from the one after `after` on, until the run has ended."""
        index = max(0, after + 1)
        while True:
            more = self._more
            while index < len(self._events):
                yield self._events[index]
                index += 1
            if self._ended:
                return
            await more.wait()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()
