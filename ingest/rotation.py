"""A change of the pseudonym key: names that values had and have now, and all documents read again under the new key.

The former key is needed until no document carries a pseudonym of it. Every step may be done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, func, or_, select

from ingest.renames import Renames, renaming_by
from ingest.resymbolisation import Resymbolisation
from ingest.resymboliser import Copies
from ingest.tables import documents, vault
from ingest.vault import Vault
from ingest.work import Cutter
from retrieval.symbols.pseudonyms import PSEUDONYM, kind_of, pseudonym, tenant_key

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a change of keys is."""

    outdated: int
    """Documents that still carry pseudonyms of the former key, in all tenants."""
    waiting: int
    """Of these, those whose job waits or runs; the others failed and need a look."""

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
    ) -> None:
        self._engine = engine
        self._vault = vault
        self._renames = renames
        self._resymbolisation = resymbolisation
        self._cutter = cutter
        self._copies = tuple(copies)
        self.under_way = False
        """Whether texts may carry pseudonyms of two keys."""

    async def carry_out(self, former: bytes, current: bytes) -> None:
        """Note how values are named now, queue all documents, and rename in what is kept beside them. Repeatable.

        The language gives pseudonyms under `current` already.
        """
        self.under_way = True
        for tenant in await asyncio.to_thread(self._tenants):
            await asyncio.to_thread(self._name, tenant, former, current)
            await asyncio.to_thread(self._resymbolisation.queue_outdated, tenant)
            await asyncio.to_thread(self._resymbolisation.sweep, tenant)
            change = self._change(tenant)
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
            for each in self._copies:
                await each.rewrite(tenant, self._change(tenant))
        self.under_way = False
        return True

    def progress(self) -> Progress:
        """Count what is left, in all tenants. Blocking."""
        outdated = waiting = 0
        for tenant in self._tenants():
            outdated += self._resymbolisation.count_outdated(tenant) + self._coming_in(tenant)
            waiting += self._resymbolisation.count_waiting(tenant)
        return Progress(outdated, waiting)

    async def of(self, tenant: str, tokens: frozenset[str]) -> frozenset[str]:
        """Return the other names of the pseudonyms among these tokens, while a change is under way."""
        if not self.under_way:
            return frozenset()
        named = [token for token in tokens if PSEUDONYM.fullmatch(token)]
        if not named:
            return frozenset()
        return await asyncio.to_thread(self._renames.others, tenant, named)

    def _change(self, tenant: str) -> Callable[[str], str]:
        rename = renaming_by(self._renames, tenant)
        return lambda text: self._cutter.hide(rename(text), tenant).text

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

    def _coming_in(self, tenant: str) -> int:
        """Count documents on their way in that were symbolised under other rules or another key."""
        other = documents.c.symbols_revision != self._cutter.revision(tenant)
        with self._engine.connect() as connection:
            return connection.execute(
                select(func.count()).where(
                    documents.c.tenant == tenant,
                    documents.c.state == "pending",
                    or_(other, documents.c.symbols_revision.is_(None)),
                )
            ).scalar_one()

    def _tenants(self) -> list[str]:
        with self._engine.connect() as connection:
            found = set(connection.execute(select(documents.c.tenant).distinct()).scalars())
            found.update(connection.execute(select(vault.c.tenant).distinct()).scalars())
        return sorted(found)
