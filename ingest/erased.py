"""Which values were erased, by fingerprints that recognise them and tell nothing of them. Blocking."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from sqlalchemy import Engine, Select, func, insert, select, update

from ingest.catalog import Clock, utc_now
from ingest.kept_cache import KeptCache
from ingest.retrying import once_more
from ingest.tables import erased_values
from retrieval.symbols.combined_rules import Kept
from retrieval.types import Principal


class ErasedValues:
    """Keeps the fingerprints of erased values. They stay for good: a value that comes again is not taken in.

    A `KeptRules` of its own, for the rules of a tenant's language.
    """

    def __init__(
        self, engine: Engine, *, clock: Clock = utc_now, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._cache = KeptCache(monotonic)

    def add(self, principal: Principal, fingerprints: Mapping[str, str]) -> None:
        """Note that values were erased (fingerprint → kind); those that were before keep their entry.

        Why is told by `explain` afterwards: a reason can only then be free of these values.
        """
        once_more(lambda: self._add(principal, fingerprints))
        # Only now: what was read before the commit does not have them.
        self.look_again(principal.tenant)

    def explain(self, tenant: str, fingerprints: Collection[str], reason: str) -> None:
        """Note why values were erased; those whose reason is known keep it."""
        with self._engine.begin() as connection:
            for fingerprint in fingerprints:
                connection.execute(
                    update(erased_values)
                    .where(
                        erased_values.c.tenant == tenant,
                        erased_values.c.fingerprint == fingerprint,
                        erased_values.c.reason == "",
                    )
                    .values(reason=reason)
                )

    def kept(self, tenant: str) -> Kept:
        """Return what the rules of a tenant must know; the same object as long as nothing was erased."""
        # They are only ever added, so the same number is the same set.
        return self._cache.get(tenant, lambda: self.count(tenant), lambda: Kept(erased=self.of(tenant)))

    def look_again(self, tenant: str) -> None:
        """Look at the database at the next question. See `KeptRules`."""
        self._cache.look_again(tenant)

    def of(self, tenant: str) -> frozenset[str]:
        """Return the fingerprints of a tenant (`TenantRules.erased`)."""
        with self._engine.connect() as connection:
            return frozenset(connection.execute(_fingerprints(tenant)).scalars())

    def count(self, tenant: str) -> int:
        """Count the fingerprints of a tenant."""
        with self._engine.connect() as connection:
            return connection.execute(
                select(func.count()).select_from(erased_values).where(erased_values.c.tenant == tenant)
            ).scalar_one()

    def _add(self, principal: Principal, fingerprints: Mapping[str, str]) -> None:
        with self._engine.begin() as connection:
            known = set(connection.execute(_fingerprints(principal.tenant)).scalars())
            rows = [
                {
                    "tenant": principal.tenant,
                    "fingerprint": fingerprint,
                    "kind": kind,
                    "erased_at": self._clock(),
                    "erased_by": principal.user,
                    "reason": "",
                }
                for fingerprint, kind in sorted(fingerprints.items())
                if fingerprint not in known
            ]
            if rows:
                connection.execute(insert(erased_values), rows)


def _fingerprints(tenant: str) -> Select[str]:
    return select(erased_values.c.fingerprint).where(erased_values.c.tenant == tenant)
