"""Circuit breakers: a tool that fails again and again is left alone for a while, then tried with one call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

FAILURES = 5
"""Failures in a row that open a breaker."""
OPEN_S = 300.0
"""How long it stays open before one call may try."""


class Breakers(Protocol):
    """Breakers by key. Every call that was admitted ends in exactly one of the three last methods."""

    async def admit(self, key: str) -> float:
        """Admit a call: 0. Or refuse it: the seconds after which it is worth asking again, above 0."""
        ...

    async def succeeded(self, key: str) -> None:
        """Note that an admitted call was answered."""
        ...

    async def failed(self, key: str) -> None:
        """Note that an admitted call failed."""
        ...

    async def abandoned(self, key: str) -> None:
        """Note that an admitted call was cancelled: it says nothing about the tool."""
        ...


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    opened_at: float | None = None
    probing_since: float | None = None


class LocalBreakers:
    """Breakers of one process. All use is on one event loop and nothing is awaited, so nothing is locked."""

    def __init__(
        self, *, failures: int = FAILURES, open_s: float = OPEN_S, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._open_s, self._monotonic = failures, open_s, monotonic
        self._circuits: dict[str, _Circuit] = {}

    async def admit(self, key: str) -> float:
        """Admit a call while closed; after the open time exactly one, until its outcome is known."""
        circuit = self._circuits.get(key)
        if circuit is None or circuit.opened_at is None:
            return 0.0
        now = self._monotonic()
        left = circuit.opened_at + self._open_s - now
        if left > 0:
            return left
        if circuit.probing_since is not None and (held := circuit.probing_since + self._open_s - now) > 0:
            # A probe whose outcome is never told must not keep the tool away for ever.
            return held
        circuit.probing_since = now
        return 0.0

    async def succeeded(self, key: str) -> None:
        """Close."""
        self._circuits.pop(key, None)

    async def failed(self, key: str) -> None:
        """Count; open at the limit, and again when the probe failed."""
        circuit = self._circuits.setdefault(key, _Circuit())
        circuit.failures += 1
        if circuit.failures >= self._limit:
            circuit.opened_at, circuit.probing_since = self._monotonic(), None

    async def abandoned(self, key: str) -> None:
        """Let another call be the probe."""
        circuit = self._circuits.get(key)
        if circuit is not None:
            circuit.probing_since = None
