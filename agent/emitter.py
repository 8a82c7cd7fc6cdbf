"""Makes the events of one run: gap-free sequence numbers, UTC times, nothing after the last one."""

from __future__ import annotations

from typing import Any, TypeVar

from agent.clock import Clock
from agent.events import EventBase, RunCancelled, RunCompleted, RunFailed

E = TypeVar("E", bound=EventBase)


class Emitter:
    """The only maker of a run's events. What it makes must be yielded."""

    def __init__(self, run_id: str, trace_id: str, clock: Clock) -> None:
        self._run_id = run_id
        self._trace_id = trace_id
        self._clock = clock
        self._next = 0
        self.ended = False
        """True once a terminal event was made."""

    def __call__(self, kind: type[E], **fields: Any) -> E:
        """Make the next event."""
        assert not self.ended, "nothing follows a terminal event"
        event = kind(run_id=self._run_id, trace_id=self._trace_id, seq=self._next, at=self._clock.now(), **fields)
        self._next += 1
        self.ended = isinstance(event, RunCompleted | RunFailed | RunCancelled)
        return event
