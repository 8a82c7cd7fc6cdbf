"""An event loop whose time is made up: waiting costs nothing, and five minutes pass at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    """Never waits: where nothing is ready, the time that was to be waited has passed."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            return super().select(None)  # only another thread can go on from here
        self.seconds += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """For code without threads: a thread's answer does not come before the next timer."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Return the made-up seconds, from 0."""
        return self._virtual.seconds

    def pass_time(self, seconds: float) -> None:
        """Let time pass without waiting."""
        self._virtual.seconds += seconds


def run_virtual(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


def now() -> float:
    """Return the time of the running loop: a `monotonic` for what is tested."""
    return asyncio.get_running_loop().time()


def pass_time(seconds: float) -> None:
    """Let time pass on the running virtual loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.pass_time(seconds)
