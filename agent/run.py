"""A run as its callers handle it: the request, recording its events, folding them into the last one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any, Literal, Protocol

from pydantic import Field

from agent.clock import Clock, SystemClock
from agent.errors import AgentError
from agent.events import (
    Event,
    RunCancelled,
    RunCompleted,
    RunFailed,
    TerminalEvent,
    TextDelta,
    ThoughtDelta,
)
from retrieval.types import Principal, SearchFilter, Value

_PENDING = 64
"""Most deltas that wait for the next write; a crash loses no more than these."""


class Exchange(Value):
    """A question of the same conversation that was answered before."""

    question: str
    answer: str
    labels: frozenset[str] = frozenset()
    """Of the documents that the answer rests on."""


class RunRequest(Value):
    """What a run is asked."""

    run_id: str
    trace_id: str
    question: str
    """Secrets already replaced by pseudonyms."""
    language: Literal["zh", "en"]
    """Of the answer."""
    filter: SearchFilter | None = None
    asked: str = ""
    """The question as it was written, where it was a follow-up and `question` is made to stand alone."""
    conversation_id: str | None = None
    before: tuple[Exchange, ...] = Field(default=(), exclude=True)
    """What was said before, oldest first; never stored with the request."""
    attended: bool = False
    """True: somebody follows the run and answers what it asks."""


class Taping(Protocol):
    """What a run records (`agent.tape.Tape`)."""

    def drain(self) -> list[Any]:
        """Hand out what was recorded since the last call."""
        ...


class Keeps(Protocol):
    """Keeps events (`agent.journal.Journal`)."""

    def append(
        self,
        events: Sequence[Event],
        principal: Principal,
        *,
        entries: Sequence[Any] = (),
        request: RunRequest | None = None,
    ) -> None:
        """Write events of one run in one transaction. Blocking."""
        ...


async def record(
    events: AsyncIterator[Event],
    journal: Keeps,
    principal: Principal,
    *,
    clock: Clock | None = None,
    request: RunRequest | None = None,
    tape: Taping | None = None,
    leaving: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[Event, None]:
    """Pass a run's events on, each written to the journal first; text deltas are written in batches.

    A caller that goes away or is cancelled ends the run, and its journal still gets the
    `run_cancelled` that ends every broken-off run.

    Args:
        events: of the run.
        journal: keeps them.
        principal: whose run it is.
        clock: for the `run_cancelled`.
        request: kept with the first event, so that the run can be resumed.
        tape: what the run records is kept with the event that follows it.
        leaving: True when the process ends: the run is left without an end, to be resumed.
    """
    kept = request
    pending: list[Event] = []
    last: Event | None = None
    writing: asyncio.Future[None] | None = None
    try:
        async for event in events:
            last = event
            pending.append(event)
            if not isinstance(event, TextDelta | ThoughtDelta) or len(pending) >= _PENDING:
                batch, pending = pending, []
                entries = tape.drain() if tape is not None else []
                write = partial(journal.append, batch, principal, entries=entries, request=kept)
                kept = None
                writing = asyncio.ensure_future(asyncio.to_thread(write))
                await asyncio.shield(writing)
            yield event
    except BaseException:
        if writing is not None:
            # A write that cancellation left behind goes on in its thread; the end must follow it.
            await asyncio.wait([writing])
        await _close(events)
        left = leaving()
        cancelled = None if left else _cancelled(last, clock or SystemClock())
        entries = tape.drain() if tape is not None and not left else []
        # Written on this thread: a cancelled task may be cancelled again while it waits.
        journal.append([*pending, *([cancelled] if cancelled else [])], principal, entries=entries)
        raise


async def collect(events: AsyncIterator[Event]) -> TerminalEvent:
    """Drain a run and return its terminal event.

    Raises:
        AgentError: the stream ended without one.
    """
    async for event in events:
        if isinstance(event, RunCompleted | RunFailed | RunCancelled):
            terminal = event
            async for _ in events:
                raise AgentError("an event followed the terminal one")
            return terminal
    raise AgentError("the run ended without a terminal event")


def _cancelled(last: Event | None, clock: Clock) -> RunCancelled | None:
    if last is None or isinstance(last, RunCompleted | RunFailed | RunCancelled):
        return None
    return RunCancelled(run_id=last.run_id, trace_id=last.trace_id, seq=last.seq + 1, at=clock.now())


async def _close(events: AsyncIterator[Event]) -> None:
    aclose = getattr(events, "aclose", None)
    if aclose is not None:
        await aclose()
