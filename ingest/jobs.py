"""The durable jobs of ingestion as their callers see them: add, follow, cancel, try again.

How workers hold them is in `leases.py`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Sequence
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Engine, and_, exists, func, insert, or_, select, update

from ingest.catalog import Clock, outdated, select_documents, utc_now, visible_to
from ingest.errors import UnknownJobError
from ingest.tables import documents, jobs
from ingest.types import Document, Job, JobKind, JobState
from retrieval.types import Principal

_MANY = 400


class Jobs:
    """Adds jobs and reads them for principals."""

    def __init__(self, engine: Engine, *, clock: Clock = utc_now, ids: Callable[[], str] = lambda: uuid4().hex) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids

    def add(self, connection: Connection, document: Document, content_hash: str, *, kind: JobKind = "ingest") -> Job:
        """Queue the ingestion of a pending document, or the new reading of a ready one, in the caller's transaction."""
        job_id, now = self._ids(), self._clock()
        connection.execute(
            insert(jobs).values(
                job_id=job_id,
                tenant=document.tenant,
                document_id=document.document_id,
                source=document.source,
                created_by=document.created_by,
                version=document.version,
                content_hash=content_hash,
                kind=kind,
                state="queued",
                created_at=now,
                updated_at=now,
            )
        )
        return _read(connection, jobs.c.job_id == job_id)[0]

    def named(self, principal: Principal, job_ids: Sequence[str]) -> list[Job]:
        """Return those of these jobs that the principal may see, in the order given."""
        found: dict[str, Job] = {}
        with self._engine.connect() as connection:
            for at in range(0, len(job_ids), _MANY):
                some = job_ids[at : at + _MANY]
                found |= {job.job_id: job for job in _read(connection, _visible(principal), jobs.c.job_id.in_(some))}
        return [found[job_id] for job_id in job_ids if job_id in found]

    def read_again(self, connection: Connection, document_id: str, revision: str | None = None) -> str | None:
        """Queue a new reading of a ready document, in the caller's transaction.

        Args:
            connection: the caller's transaction.
            document_id: the document.
            revision: only where it was not read under these rules.

        Returns:
            The job, also where it waited already; None where none is needed.
        """
        waiting = connection.execute(
            select(jobs.c.job_id).where(
                jobs.c.document_id == document_id, jobs.c.kind == "resymbolise", jobs.c.state == "queued"
            )
        ).scalar()
        if waiting is not None:
            return waiting
        needed = documents.c.state.in_(("ready", "superseded")) if revision is None else outdated(revision)
        found = select_documents(connection, documents.c.document_id == document_id, needed, limit=1)
        if not found:
            return None
        return self.add(connection, found[0], found[0].content_hash or "", kind="resymbolise").job_id

    def is_last_reading(self, job_id: str) -> bool:
        """Tell whether no other new reading waits or runs, of any tenant."""
        others = select(jobs.c.job_id).where(
            jobs.c.kind == "resymbolise", jobs.c.state.in_(("queued", "running")), jobs.c.job_id != job_id
        )
        with self._engine.connect() as connection:
            return connection.execute(others.limit(1)).first() is None

    def get(self, principal: Principal, job_id: str) -> Job:
        """Return a job of the principal's own, or of a document the principal may see.

        Raises:
            UnknownJobError: missing, another tenant's, or not admitted.
        """
        with self._engine.connect() as connection:
            found = _read(connection, _visible(principal), jobs.c.job_id == job_id)
        if not found:
            raise UnknownJobError(f"job {job_id!r}: not found")
        return found[0]

    def list(
        self,
        principal: Principal,
        *,
        states: Collection[JobState] | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Job]:
        """Return a page of jobs, newest first."""
        conditions = [_visible(principal)]
        if states is not None:
            conditions.append(jobs.c.state.in_(sorted(states)))
        with self._engine.connect() as connection:
            return _read(connection, *conditions, limit=limit, offset=offset)

    def is_own(self, principal: Principal, job_id: str) -> bool:
        """Tell whether the principal submitted the job."""
        own = select(jobs.c.job_id).where(
            jobs.c.job_id == job_id, jobs.c.tenant == principal.tenant, jobs.c.created_by == principal.user
        )
        with self._engine.connect() as connection:
            return connection.execute(own).first() is not None

    def stop(self, connection: Connection, document_id: str) -> None:
        """Cancel the jobs of a document, in the caller's transaction; a running one ends at its next checkpoint."""
        self._stop(connection, jobs.c.document_id == document_id)

    def stop_job(self, connection: Connection, job_id: str) -> None:
        """Cancel one job, in the caller's transaction, as `stop` does."""
        self._stop(connection, jobs.c.job_id == job_id)

    def requeue_document(self, connection: Connection, document_id: str) -> None:
        """Queue the last failed job of a document again, in the caller's transaction."""
        failed = select(jobs.c.job_id).where(jobs.c.document_id == document_id, jobs.c.state == "failed")
        job_id = connection.execute(failed.order_by(jobs.c.created_at.desc()).limit(1)).scalar_one_or_none()
        if job_id is not None:
            self.requeue(connection, job_id)

    def requeue(self, connection: Connection, job_id: str) -> bool:
        """Queue a failed job again from the first attempt, in the caller's transaction."""
        done = connection.execute(
            update(jobs)
            .where(jobs.c.job_id == job_id, jobs.c.state == "failed")
            .values(
                state="queued",
                attempts=0,
                takeovers=0,
                not_before=None,
                error_code=None,
                error=None,
                updated_at=self._clock(),
            )
        )
        return done.rowcount == 1

    def _stop(self, connection: Connection, which: ColumnElement[bool]) -> None:
        connection.execute(
            update(jobs)
            .where(which, jobs.c.state == "queued")
            .values(state="cancelled", error_code="cancelled", error="cancelled", updated_at=self._clock())
        )
        connection.execute(
            update(jobs).where(which, jobs.c.state == "running").values(cancel_requested=True, updated_at=self._clock())
        )


def _visible(principal: Principal) -> ColumnElement[bool]:
    admitted = exists(
        select(documents.c.document_id).where(documents.c.document_id == jobs.c.document_id, visible_to(principal))
    )
    return and_(jobs.c.tenant == principal.tenant, or_(jobs.c.created_by == principal.user, admitted))


_WARNINGS = select(documents.c.warnings).where(documents.c.document_id == jobs.c.document_id).scalar_subquery()
_INSIDE = documents.alias("inside")
_CHILDREN = (
    select(func.count())
    .select_from(_INSIDE)
    .where(_INSIDE.c.parent_id == jobs.c.document_id, _INSIDE.c.state != "deleted")
    .scalar_subquery()
)
_COLUMNS = tuple(jobs.c[name] for name in Job.model_fields if name not in {"warnings", "children"})


def _read(
    connection: Connection, *conditions: ColumnElement[bool], limit: int | None = None, offset: int = 0
) -> builtins.list[Job]:
    statement = (
        select(*_COLUMNS, _WARNINGS.label("warnings"), _CHILDREN.label("children"))
        .where(*conditions)
        .order_by(jobs.c.created_at.desc(), jobs.c.job_id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [
        Job.model_validate({**row, "warnings": tuple(row["warnings"] or ())})
        for row in connection.execute(statement).mappings()
    ]
