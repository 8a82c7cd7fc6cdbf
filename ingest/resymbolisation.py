"""The door to reading documents again: who may, which ones, and how many were read under other rules than now's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Engine, func, select, update

from ingest.catalog import Catalog, outdated
from ingest.errors import NotPermittedError, UnknownDocumentError
from ingest.jobs import Jobs
from ingest.nesting import descendants
from ingest.reasons import sweep_reasons
from ingest.renames import Renaming
from ingest.sweeping import sweep_names
from ingest.tables import documents, jobs
from ingest.types import Job
from ingest.vault import Vault
from ingest.work import Cutter
from retrieval.types import Principal

_SHOWN = documents.c.state.in_(("ready", "superseded"))


@dataclass(frozen=True, slots=True)
class Queued:
    """What is to be read again."""

    count: int
    """How many documents."""
    jobs: tuple[Job, ...]
    """Those that the caller may see, oldest first; others' names are not told to who only looks after the rules."""


class Resymbolisation:
    """Queues documents for another reading. Jobs are durable; the worker does them like any other."""

    def __init__(
        self,
        *,
        engine: Engine,
        catalog: Catalog,
        jobs: Jobs,
        cutter: Cutter,
        vault: Vault,
        renames: Renaming,
        on_submit: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._catalog = catalog
        self._jobs = jobs
        self._cutter = cutter
        self._vault = vault
        self._renames = renames
        self._on_submit = on_submit
        self._changing: dict[str, asyncio.Lock] = {}

    def changing(self, tenant: str) -> asyncio.Lock:
        """Return what a change of a tenant's rules holds until it has settled.

        Two at once would each take the other's rules for those that it looked at the documents for.
        """
        return self._changing.setdefault(tenant, asyncio.Lock())

    async def queue(self, principal: Principal, document_id: str | None = None, *, every: bool = False) -> Queued:
        """Queue a document with all inside it, or all documents of the tenant that need it.

        Args:
            principal: needs `admin`; for one document `ingest`, and access to it.
            document_id: the document; it is read again whatever it was read under.
            every: all documents, not only the outdated ones.

        Raises:
            NotPermittedError: without the right.
            UnknownDocumentError: no such document for this principal, or it is not ready.
        """
        if document_id is None:
            _require(principal)
        elif not principal.may("ingest"):
            raise NotPermittedError(f"user {principal.user!r} lacks the right 'ingest'")
        ids = await asyncio.to_thread(self._choose, principal, document_id, every)
        queued = await asyncio.to_thread(self.queue_documents, principal.tenant, ids)
        await asyncio.to_thread(self.sweep, principal.tenant)
        shown = await asyncio.to_thread(self._jobs.named, principal, queued)
        return Queued(len(queued), tuple(shown))

    def outdated(self, principal: Principal) -> int:
        """Count the documents of the tenant that were read under other rules than now's; needs `admin`.

        Raises:
            NotPermittedError: without the right.
        """
        _require(principal)
        return self.count_outdated(principal.tenant)

    def count_outdated(self, tenant: str) -> int:
        """Count them, without a check of rights."""
        with self._engine.connect() as connection:
            return connection.execute(
                select(func.count()).where(documents.c.tenant == tenant, outdated(self._cutter.revision(tenant)))
            ).scalar_one()

    def count_waiting(self, tenant: str) -> int:
        """Count the readings that are queued or under way."""
        with self._engine.connect() as connection:
            return connection.execute(
                select(func.count()).where(
                    jobs.c.tenant == tenant, jobs.c.kind == "resymbolise", jobs.c.state.in_(("queued", "running"))
                )
            ).scalar_one()

    def queue_outdated(self, tenant: str) -> int:
        """Queue all documents of a tenant that need it, without a check of rights; return how many wait now."""
        return len(self.queue_documents(tenant, self._outdated(tenant)))

    def queue_documents(self, tenant: str, document_ids: Collection[str]) -> list[str]:
        """Queue these documents of a tenant, each once; return the jobs, those that waited already included."""
        queued: list[str] = []
        for document_id in document_ids:
            with self._engine.begin() as connection:
                job_id = self._jobs.read_again(connection, document_id)
            if job_id is not None:
                queued.append(job_id)
        if queued:
            self._on_submit()
        return queued

    def standing(self, tenant: str, revision: str) -> frozenset[str]:
        """Return the documents that were read under these rules: what a look at the tenant's documents can see."""
        with self._engine.connect() as connection:
            return frozenset(_ids(connection, tenant, _SHOWN, documents.c.symbols_revision == revision))

    def settle(self, tenant: str, former: str, looked_at: Collection[str], affected: Collection[str]) -> None:
        """Note that documents of former rules read the same under those of now, and queue those nobody looked at.

        Args:
            tenant: whose.
            former: the rules before the change.
            looked_at: `standing` of these, from before it was decided which ones are affected.
            affected: those that read otherwise; the caller queues them.
        """
        revision = self._cutter.revision(tenant)
        if revision == former:
            return
        unaffected = (_SHOWN, documents.c.symbols_revision == former)
        with self._engine.begin() as connection:
            found = set(_ids(connection, tenant, *unaffected))
            for document_id in (found & set(looked_at)) - set(affected):
                connection.execute(
                    update(documents)
                    .where(documents.c.document_id == document_id, *unaffected)
                    .values(symbols_revision=revision)
                )
        # These became ready while the others were looked at, before the change was there to be seen.
        self.queue_documents(tenant, sorted(found - set(looked_at) - set(affected)))

    def sweep(self, tenant: str) -> int:
        """Hide and rename in what no reading visits: names of failed and deleted documents, messages, reasons."""
        names = sweep_names(self._engine, tenant, self._cutter, self._renames, self._vault)
        return names + sweep_reasons(self._engine, tenant, self._cutter)

    def _choose(self, principal: Principal, document_id: str | None, every: bool) -> Sequence[str]:
        tenant = principal.tenant
        if document_id is None:
            return self._all(tenant) if every else self._outdated(tenant)
        document = self._catalog.get(principal, document_id)
        if document.state not in {"ready", "superseded"}:
            raise UnknownDocumentError(f"document {document_id!r}: not ready")
        with self._engine.connect() as connection:
            return [document_id, *descendants(connection, documents.c.document_id == document_id, only=_SHOWN)]

    def _outdated(self, tenant: str) -> list[str]:
        with self._engine.connect() as connection:
            return _ids(connection, tenant, outdated(self._cutter.revision(tenant)))

    def _all(self, tenant: str) -> list[str]:
        with self._engine.connect() as connection:
            return _ids(connection, tenant, _SHOWN)


def _ids(connection: Connection, tenant: str, *conditions: ColumnElement[bool]) -> list[str]:
    # The newest first: what is asked for most is most likely among them.
    statement = select(documents.c.document_id).where(documents.c.tenant == tenant, *conditions)
    return list(connection.execute(statement.order_by(documents.c.created_at.desc())).scalars())


def _require(principal: Principal) -> None:
    if not principal.may("admin"):
        raise NotPermittedError(f"user {principal.user!r} lacks the right 'admin'")
