"""Makes the events of one run: gap-free sequence numbers, UTC times, nothing after the last one."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar, cast

from agent.clock import Clock
from agent.events import Event, EventBase, RunCancelled, RunCompleted, RunFailed

E = TypeVar("E", bound=EventBase)


class Emitter:
    """The only maker of a run's events. What it makes must be yielded."""

    def __init__(self, run_id: str, trace_id: str, clock: Clock) -> None:
        self._run_id = run_id
        self._trace_id = trace_id
        self._clock = clock
        self._next = 0
        self._aside: list[Event] = []
        self._stirred, self._told = asyncio.Event(), asyncio.Event()
        self._told.set()
        self.passed_over: frozenset[int] = frozenset()
        """Numbers of stored events that depend on time alone: a run that is repeated does not make them."""
        self.ended = False
        """True once a terminal event was made."""

    @property
    def next_seq(self) -> int:
        """Number of the event that is made next."""
        while self._next in self.passed_over:
            self._next += 1
        return self._next

    def jump(self, seq: int) -> None:
        """Go on with a later number: the events up to there were made before, by a run that broke off."""
        assert seq >= self._next, "numbers never go back"
        self._next = seq

    def aside(self, kind: type[E], **fields: Any) -> E:
        """Make an event where nothing can be yielded; whoever drives the run passes it on in its place."""
        event = self(kind, **fields)
        self._aside.append(cast("Event", event))
        self._told.clear()
        self._stirred.set()
        return event

    def take_aside(self, below: int | None = None) -> list[Event]:
        """Hand out the events made aside, those with a `seq` below `below` only."""
        taken = [event for event in self._aside if below is None or event.seq < below]
        self._aside = self._aside[len(taken) :]
        if not self._aside:
            self._stirred.clear()
        return taken

    async def stirred(self) -> None:
        """Wait until an event was made aside."""
        await self._stirred.wait()

    def passed_on(self) -> None:
        """Say that whoever reads the run has taken, and so has written, all events handed out so far."""
        if not self._aside:
            self._told.set()

    async def told(self) -> None:
        """Wait until the events made aside are written: what follows from them may be done only then."""
        await self._told.wait()

    def __call__(self, kind: type[E], **fields: Any) -> E:
        """Make the next event."""
        assert not self.ended, "nothing follows a terminal event"
        event = kind(run_id=self._run_id, trace_id=self._trace_id, seq=self.next_seq, at=self._clock.now(), **fields)
        self._next += 1
        self.ended = isinstance(event, RunCompleted | RunFailed | RunCancelled)
        return event
