"""How long a process was held up: a task of the event loop, and a thread, that look at the clock all the time.

The task is late when something blocks the loop; the thread is late when something holds the
interpreter's lock, which also stops every other thread.
"""

from __future__ import annotations

import asyncio
import threading
import time

_EVERY_S = 0.005


class Ticker:
    """Measures while it is entered: `loop_ms` and `thread_ms` are the longest delays."""

    def __init__(self) -> None:
        self.loop_ms = self.thread_ms = 0.0
        self._stop = threading.Event()

    async def __aenter__(self) -> Ticker:
        self._thread = threading.Thread(target=self._tick_thread)
        self._thread.start()
        self._task = asyncio.create_task(self._tick_loop())
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self._stop.set()
        self._thread.join()
        await self._task

    def __str__(self) -> str:
        return f"{self.loop_ms:.0f} / {self.thread_ms:.0f}"

    async def _tick_loop(self) -> None:
        while not self._stop.is_set():
            began = time.perf_counter()
            await asyncio.sleep(_EVERY_S)
            self.loop_ms = max(self.loop_ms, (time.perf_counter() - began - _EVERY_S) * 1e3)

    def _tick_thread(self) -> None:
        while not self._stop.is_set():
            began = time.perf_counter()
            time.sleep(_EVERY_S)
            self.thread_ms = max(self.thread_ms, (time.perf_counter() - began - _EVERY_S) * 1e3)
