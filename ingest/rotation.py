"""A change of the pseudonym key: names that values had and have now, and all documents read again under the new key.

The former key is needed until no document carries a pseudonym of it. Every step may be done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Engine, and_, exists, func, or_, select, true

from ingest.beside import bringing_up_to_date
from ingest.catalog import Clock, utc_now
from ingest.copies import Copies
from ingest.renames import Renames
from ingest.resymbolisation import Resymbolisation
from ingest.tables import documents, jobs, vault
from ingest.vault import Vault
from ingest.work import Cutter
from retrieval.symbols.pseudonyms import PSEUDONYM, kind_of, pseudonym, tenant_key

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a change of keys is."""

    outdated: int
    """Documents that still carry pseudonyms of the former key, or may come in with some."""
    waiting: int
    """Readings that are queued or under way."""
    failed: int
    """Of the outdated documents those that no job waits for any more: they need a look."""

    @property
    def done(self) -> bool:
        """Nothing needs the former key any more."""
        return self.outdated == 0 and self.waiting == 0


class Rotation:
    """Carries a change of the pseudonym key out, tenant by tenant."""

    def __init__(
        self,
        *,
        engine: Engine,
        vault: Vault,
        renames: Renames,
        resymbolisation: Resymbolisation,
        cutter: Cutter,
        copies: Sequence[Copies],
        clock: Clock = utc_now,
    ) -> None:
        self._engine = engine
        self._vault = vault
        self._renames = renames
        self._resymbolisation = resymbolisation
        self._cutter = cutter
        self._copies = tuple(copies)
        self._clock = clock
        self._since: datetime | None = None
        self.under_way = False
        """Whether texts may carry pseudonyms of two keys."""

    async def name(self, former: bytes, current: bytes) -> None:
        """Note how the values of all tenants are named under `current`. Repeatable."""
        self.under_way = True
        for tenant in await asyncio.to_thread(self._tenants):
            await asyncio.to_thread(self._name, tenant, former, current)

    def changed(self) -> None:
        """Note that the language gives pseudonyms under the new key: what comes in from now on has no others."""
        self.under_way = True
        self._since = self._clock()

    async def carry_out(self) -> None:
        """Queue all documents, and rename in what is kept beside them; all values have their names. Repeatable."""
        for tenant in await asyncio.to_thread(self._tenants):
            await asyncio.to_thread(self._resymbolisation.queue_outdated, tenant)
            await asyncio.to_thread(self._resymbolisation.sweep, tenant)
            change = bringing_up_to_date(self._cutter, self._renames, tenant)
            revision = self._cutter.revision(tenant)
            for each in self._copies:
                await each.rewrite(tenant, change, revision=revision)

    async def finish(self, former: bytes, current: bytes) -> bool:
        """Settle what came in under the former key meanwhile, once nothing is left; False while something is."""
        if not (await asyncio.to_thread(self.progress)).done:
            return False
        # A document may have brought a value in just before the key changed: the vault has its former name still.
        for tenant in await asyncio.to_thread(self._tenants):
            await asyncio.to_thread(self._name, tenant, former, current)
            await asyncio.to_thread(self._resymbolisation.sweep, tenant)
            change = bringing_up_to_date(self._cutter, self._renames, tenant)
            for each in self._copies:
                await each.rewrite(tenant, change)
        self.under_way = False
        return True

    def progress(self, tenant: str | None = None) -> Progress:
        """Count what is left, in one tenant or in all. Blocking."""
        outdated = waiting = failed = 0
        for each in [tenant] if tenant is not None else self._tenants():
            outdated += self._count_left(each)
            failed += self._count_left(each, ~_awaited())
            waiting += self._resymbolisation.count_waiting(each)
        return Progress(outdated, waiting, failed)

    async def of(self, tenant: str, tokens: frozenset[str]) -> frozenset[str]:
        """Return the other names of the pseudonyms among these tokens, while a change is under way."""
        if not self.under_way:
            return frozenset()
        named = [token for token in tokens if PSEUDONYM.fullmatch(token)]
        if not named:
            return frozenset()
        return await asyncio.to_thread(self._renames.others, tenant, named)

    def _name(self, tenant: str, former: bytes, current: bytes) -> None:
        old_key, new_key = tenant_key(former, tenant), tenant_key(current, tenant)
        pairs: dict[str, str] = {}
        for name, value in self._vault.every(tenant):
            match = PSEUDONYM.fullmatch(name)
            if match is None:
                continue
            kind = kind_of(match)
            if pseudonym(old_key, kind, value) == name:
                pairs[name] = pseudonym(new_key, kind, value)
            if len(pairs) >= _BATCH:
                self._renames.add(tenant, pairs)
                pairs = {}
        self._renames.add(tenant, pairs)

    def _count_left(self, tenant: str, *conditions: ColumnElement[bool]) -> int:
        """Count documents that need the former key: read under it, or on their way in since before the change.

        Rules may have changed meanwhile as well; what only they concern is no part of a change of keys.
        """
        revision = documents.c.symbols_revision
        _, _, key = self._cutter.revision(tenant).rpartition("/")
        unread = revision.is_(None)
        read_under_another = and_(revision.is_not(None), ~revision.endswith(f"/{key}", autoescape=True))
        shown = documents.c.state.in_(("ready", "superseded"))
        coming_in = documents.c.state == "pending"
        with self._engine.connect() as connection:
            return connection.execute(
                select(func.count()).where(
                    documents.c.tenant == tenant,
                    *conditions,
                    or_(
                        and_(shown, or_(read_under_another, unread)),
                        and_(coming_in, or_(read_under_another, and_(unread, self._came_before()))),
                    ),
                )
            ).scalar_one()

    def _came_before(self) -> ColumnElement[bool]:
        # The name of what came before may carry pseudonyms of the former key, whoever reads its text.
        return true() if self._since is None else documents.c.created_at <= self._since

    def _tenants(self) -> list[str]:
        with self._engine.connect() as connection:
            found = set(connection.execute(select(documents.c.tenant).distinct()).scalars())
            found.update(connection.execute(select(vault.c.tenant).distinct()).scalars())
        return sorted(found)


def _awaited() -> ColumnElement[bool]:
    return exists(
        select(jobs.c.job_id).where(
            jobs.c.document_id == documents.c.document_id, jobs.c.state.in_(("queued", "running"))
        )
    )
