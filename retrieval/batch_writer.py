"""Writes what is handed to it later, in batches, on a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

_BATCH = 200
_LINGER_S = 0.2
"""How long a batch waits for company: one write to the disk for many."""


class BatchWriter(Generic[T]):
    """Hands items to `write` in order; who hands them over never waits for it and never sees it fail."""

    def __init__(self, write: Callable[[Sequence[T]], None], *, capacity: int, name: str) -> None:
        """Take what writes.

        Args:
            write: writes a batch, on the thread. What it raises is logged and counted.
            capacity: items that may wait; what comes beyond is lost.
            name: of the thread.
        """
        self._write = write
        self._capacity = capacity
        self._name = name
        self._change = threading.Condition()
        """Protects everything below."""
        self._waiting: deque[T] = deque()
        self._taken = 0
        self._done = 0
        self._lost = 0
        self._hurry = False
        self._closing = False
        self._thread: threading.Thread | None = None

    @property
    def lost(self) -> int:
        """How many items were not written."""
        return self._lost

    def put(self, item: T) -> None:
        """Take an item."""
        with self._change:
            if self._closing or len(self._waiting) >= self._capacity:
                self._lost += 1
                return
            self._waiting.append(item)
            self._taken += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            if len(self._waiting) in (1, _BATCH):
                self._change.notify_all()

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Wait until everything taken so far is written or lost; False when that took too long. Blocking."""
        with self._change:
            target = self._taken
            if self._done >= target:
                return True
            self._hurry = True
            self._change.notify_all()
            return self._change.wait_for(lambda: self._done >= target, timeout_s)

    def close(self) -> None:
        """Write what waits, and end. Blocking; closing twice is allowed."""
        with self._change:
            self._closing = True
            self._change.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while batch := self._next():
            lost = 0
            try:
                self._write(batch)
            except Exception as exc:  # noqa: BLE001 -- the thread's last boundary: the next batch may fare better
                # The name alone: texts of databases' errors may repeat what was to be written.
                log.warning("%s: %d entries could not be written (%s)", self._name, len(batch), type(exc).__name__)
                lost = len(batch)
            with self._change:
                self._lost += lost
                self._done += len(batch)
                self._change.notify_all()

    def _next(self) -> list[T]:
        """Wait for a batch; empty when the writer is to end."""
        with self._change:
            self._change.wait_for(lambda: self._waiting or self._closing)
            self._change.wait_for(
                lambda: self._hurry or self._closing or len(self._waiting) >= _BATCH, timeout=_LINGER_S
            )
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            if not self._waiting:
                self._hurry = False
            return batch
