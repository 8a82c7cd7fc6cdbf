"""Which values were erased, by fingerprints that recognise them and tell nothing of them. Blocking."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Engine, Select, func, insert, select

from ingest.catalog import Clock, utc_now
from ingest.tables import erased_values
from retrieval.types import Principal


class ErasedValues:
    """Keeps the fingerprints of erased values. They stay for good: a value that comes again is not taken in."""

    def __init__(self, engine: Engine, *, clock: Clock = utc_now) -> None:
        self._engine = engine
        self._clock = clock

    def add(self, principal: Principal, fingerprints: Mapping[str, str], reason: str) -> None:
        """Note that values were erased (fingerprint → kind); those that were before keep their entry."""
        with self._engine.begin() as connection:
            known = set(connection.execute(_fingerprints(principal.tenant)).scalars())
            rows = [
                {
                    "tenant": principal.tenant,
                    "fingerprint": fingerprint,
                    "kind": kind,
                    "erased_at": self._clock(),
                    "erased_by": principal.user,
                    "reason": reason,
                }
                for fingerprint, kind in sorted(fingerprints.items())
                if fingerprint not in known
            ]
            if rows:
                connection.execute(insert(erased_values), rows)

    def of(self, tenant: str) -> frozenset[str]:
        """Return the fingerprints of a tenant (`TenantRules.erased`)."""
        with self._engine.connect() as connection:
            return frozenset(connection.execute(_fingerprints(tenant)).scalars())

    def count(self, tenant: str) -> int:
        """Count them: they are only ever added, so another number says that there are new ones."""
        with self._engine.connect() as connection:
            return connection.execute(
                select(func.count()).select_from(erased_values).where(erased_values.c.tenant == tenant)
            ).scalar_one()


def _fingerprints(tenant: str) -> Select[tuple[str]]:
    return select(erased_values.c.fingerprint).where(erased_values.c.tenant == tenant)
