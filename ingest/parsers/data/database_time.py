"""How long describing a database may take: a budget for all of it, and a part for each table."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ingest.settings import ParserSettings

TABLE_S = 5.0
"""Seconds for counting and sampling one table."""
_BUDGET_SHARE = 0.5
"""Share of the document's wall time that reflection may take before the rest is only named."""


@dataclass(slots=True)
class Deadline:
    """When work must stop, in `time.monotonic` seconds; the SQLite progress handler looks at `current`."""

    end: float
    current: float = field(init=False)

    def __post_init__(self) -> None:
        self.current = self.end

    @property
    def is_over(self) -> bool:
        """True once the whole budget is spent."""
        return time.monotonic() > self.end

    def start_table(self) -> None:
        """Give the next table its own time, within the budget."""
        self.current = min(self.end, time.monotonic() + TABLE_S)

    def stop_table(self) -> None:
        """Only the whole budget counts again."""
        self.current = self.end


def deadline_of(limits: ParserSettings) -> Deadline:
    """Return the time that reflection may take under these limits."""
    return Deadline(time.monotonic() + limits.timeout_s * _BUDGET_SHARE)
