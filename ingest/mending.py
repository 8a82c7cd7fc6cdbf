"""What a worker sets right when it starts: the traces of processes that were killed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice

from ingest.catalog import Clock, utc_now
from ingest.leases import Leases
from ingest.lifecycle import Lifecycle
from ingest.originals import Originals
from ingest.purge import Purger
from ingest.vault import Vault
from retrieval.errors import RetrievalError

log = logging.getLogger(__name__)

ORPHAN_AGE = timedelta(hours=24)
"""An original without a row is an upload that was killed, or one that is just being stored."""
_MANY = 400


class Mender:
    """Ends the leases of the dead, finishes half-done deletes, and sweeps files that belong to nobody."""

    def __init__(
        self,
        leases: Leases,
        lifecycle: Lifecycle,
        originals: Originals,
        purger: Purger,
        vault: Vault,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._leases = leases
        self._lifecycle = lifecycle
        self._originals = originals
        self._purger = purger
        self._vault = vault
        self._clock = clock

    async def mend(self) -> None:
        """Do all of it. A store that gives no answer leaves the deletes for the next start."""
        await asyncio.to_thread(self._originals.hold)
        expired = await asyncio.to_thread(self._leases.expire, self._originals.is_dead)
        # Only now: a swept owner is no longer known to be dead.
        swept = await asyncio.to_thread(self._originals.sweep)
        orphans = await asyncio.to_thread(self._remove_orphans)
        if expired or swept or orphans:
            log.info("after a crash: %d jobs resumed, %d scratch folders, %d orphans removed", expired, swept, orphans)
        for tenant, document_id in await asyncio.to_thread(self._lifecycle.unpurged):
            try:
                await self._purger.purge(tenant, document_id)
            except RetrievalError as exc:
                log.warning("document %s: its remains are still to be removed (%s)", document_id, exc.code)
                return

    def _remove_orphans(self) -> int:
        removed = 0
        stored: Iterator[str] = self._originals.stored((self._clock() - ORPHAN_AGE).timestamp())
        while some := list(islice(stored, _MANY)):
            for document_id in self._lifecycle.forgotten(some):
                self._vault.forget_unknown(document_id)
                self._originals.delete(document_id)
                removed += 1
        return removed
