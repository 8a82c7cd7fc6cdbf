"""Measures the stages of one search, and tells the day."""

from __future__ import annotations

import time
from collections.abc import Coroutine, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any, TypeVar

T = TypeVar("T")


class Stopwatch:
    """Collects milliseconds by stage, from the moment it is made; `earlier` are stages already measured."""

    def __init__(self, earlier: Mapping[str, float] | None = None) -> None:
        self._began = time.perf_counter()
        self._stages = dict(earlier or {})
        self._before = self._stages.pop("total", 0.0)

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Measure what happens inside the block."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = (time.perf_counter() - began) * 1000

    async def timed(self, name: str, work: Coroutine[Any, Any, T]) -> T:
        """Await `work` and measure it, waiting for its turn included."""
        with self.stage(name):
            return await work

    def stages_ms(self) -> dict[str, float]:
        """Return the stages so far, and their `total` with all that lay between them."""
        return self._stages | {"total": self._before + (time.perf_counter() - self._began) * 1000}


def utc_today() -> date:
    """Return the day."""
    return datetime.now(UTC).date()
