"""What stores keep of each tenant, in memory: every text that is read asks for it. Safe to share between threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from retrieval.symbols.combined_rules import Kept

_LOOK_EVERY_S = 1.0
"""Another process may have changed something."""


class _Looked(NamedTuple):
    at: float
    state: object
    kept: Kept


class KeptCache:
    """Remembers what a store keeps, until somebody says that it changed, or for a second."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        """Protects both; never held while the database is read."""
        self._looked: dict[str, _Looked] = {}
        self._changes: dict[str, int] = {}

    def look_again(self, tenant: str) -> None:
        """Look at the database at the next question. What a look that began before this one finds is not kept."""
        with self._lock:
            self._changes[tenant] = self._changes.get(tenant, 0) + 1
            known = self._looked.get(tenant)
            if known is not None:
                self._looked[tenant] = known._replace(at=float("-inf"))

    def get(self, tenant: str, state: Callable[[], object], read: Callable[[], Kept]) -> Kept:
        """Return what is kept; the same object as long as `state` gives the same.

        Args:
            tenant: whose.
            state: looks, cheaply, at what differs whenever something was changed.
            read: reads all.
        """
        with self._lock:
            changes = self._changes.get(tenant, 0)
            known = self._looked.get(tenant)
        now = self._monotonic()
        if known is not None and now - known.at < _LOOK_EVERY_S:
            return known.kept
        # The state first: what comes in between is in `read` already, and is found to be new next time.
        seen = state()
        kept = known.kept if known is not None and known.state == seen else read()
        with self._lock:
            # Somebody changed it meanwhile: this may be from before.
            if self._changes.get(tenant, 0) == changes:
                self._looked[tenant] = _Looked(now, seen, kept)
        return kept
