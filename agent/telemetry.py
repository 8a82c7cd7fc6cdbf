"""Which run the code at hand works for, and who watches events for figures: names and numbers, never text."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from agent.events import Event


@dataclass(frozen=True, slots=True)
class RunIds:
    """What logs name a run by."""

    run_id: str
    trace_id: str


_current: ContextVar[RunIds | None] = ContextVar("attest_run", default=None)


def current_run() -> RunIds | None:
    """Return the run that the calling task works for; None outside one."""
    return _current.get()


def work_for(ids: RunIds) -> None:
    """Let the calling task, to its end, and the threads it waits for work for one run."""
    _current.set(ids)


class Watcher(Protocol):
    """Is told every event of every run, after it was stored. Quick; raises nothing."""

    def see(self, event: Event) -> None:
        """Take an event in."""
        ...


class Watchers:
    """Several as one."""

    def __init__(self, watchers: Sequence[Watcher] = ()) -> None:
        self._watchers = tuple(watchers)

    def see(self, event: Event) -> None:
        """Tell all."""
        for each in self._watchers:
            each.see(event)
