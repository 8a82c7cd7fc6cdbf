"""What calls of tools have in common over all runs of a process: rates, breakers, slots."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.tools.breaker import Breakers, LocalBreakers
from agent.tools.limits import RateLimits, Slots, WindowLimits


@dataclass(frozen=True, slots=True)
class Gates:
    """One per process; two executors that hold the same one share its limits."""

    limits: RateLimits = field(default_factory=WindowLimits)
    breakers: Breakers = field(default_factory=LocalBreakers)
    slots: Slots = field(default_factory=Slots)

    @classmethod
    def of_process(cls, *, monotonic: Callable[[], float] = time.monotonic) -> Gates:
        """Make gates whose state lives in this process."""
        return cls(breakers=LocalBreakers(monotonic=monotonic))
