"""Leases: how a worker holds a job, reports on it and ends it.

A worker claims a job by one conditional UPDATE, renews its lease while it works, and names
itself in every later write: once another owner took the job over, those writes touch no
row and the former owner stops. The versions of one line are claimed in their order, one at
a time, and so are the jobs of one document. Portable SQL; the clock is the workers' own, so
leases should be long against the difference between their clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Engine, and_, case, exists, func, or_, select, update

from ingest.catalog import Clock, utc_now
from ingest.errors import JobCancelledError, JobLostError
from ingest.tables import jobs
from ingest.types import JobKind, JobStage, JobState


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in the hands of one owner."""

    job_id: str
    tenant: str
    document_id: str
    content_hash: str
    attempts: int
    """This attempt included."""
    takeovers: int
    chunks_reused: int
    """Counted by earlier attempts."""
    outcome: str | None
    """Set once it is known whether a former version gives way (see `checkpoint`)."""
    owner: str
    kind: JobKind = "ingest"


class Leases:
    """Claims, renews and ends jobs for workers."""

    def __init__(self, engine: Engine, *, lease_s: float = 60.0, clock: Clock = utc_now) -> None:
        self._engine = engine
        self._lease = timedelta(seconds=lease_s)
        self._clock = clock

    def claim(self, owner: str) -> Claim | None:
        """Take the oldest job that is due, or that a dead owner left behind; None when there is none."""
        now = self._clock()
        while True:
            with self._engine.begin() as connection:
                found = connection.execute(
                    select(jobs).where(_claimable(now)).order_by(jobs.c.created_at, jobs.c.job_id).limit(1)
                ).one_or_none()
                if found is None:
                    return None
                taken_over = found.state == "running"
                claim = Claim(
                    job_id=found.job_id,
                    tenant=found.tenant,
                    document_id=found.document_id,
                    content_hash=found.content_hash,
                    attempts=found.attempts + (0 if taken_over else 1),
                    takeovers=found.takeovers + (1 if taken_over else 0),
                    chunks_reused=found.chunks_reused,
                    outcome=found.outcome,
                    owner=owner,
                    kind=found.kind,
                )
                won = connection.execute(
                    update(jobs)
                    .where(jobs.c.job_id == claim.job_id, _claimable(now))
                    .values(
                        state="running",
                        owner=owner,
                        lease_until=now + self._lease,
                        attempts=claim.attempts,
                        takeovers=claim.takeovers,
                        updated_at=now,
                    )
                )
                if won.rowcount == 1:
                    return claim

    def renew(self, owner: str, job_ids: Collection[str]) -> int:
        """Prolong the leases of the owner's jobs; return how many are still the owner's."""
        now = self._clock()
        return self._update(
            and_(jobs.c.owner == owner, jobs.c.state == "running", jobs.c.job_id.in_(sorted(job_ids))),
            lease_until=now + self._lease,
        )

    def checkpoint(
        self,
        claim: Claim,
        *,
        stage: JobStage,
        chunks_done: int | None = None,
        chunks_total: int | None = None,
        chunks_reused: int | None = None,
        pages_done: int | None = None,
        pages_total: int | None = None,
        outcome: str | None = None,
    ) -> None:
        """Write progress (None leaves a value as it is), and learn whether to go on.

        Raises:
            JobLostError: another owner has the job.
            JobCancelledError: it was cancelled or its document deleted.
        """
        given = {
            "chunks_done": chunks_done,
            "chunks_total": chunks_total,
            "chunks_reused": chunks_reused,
            "pages_done": pages_done,
            "pages_total": pages_total,
            "outcome": outcome,
        }
        values: dict[str, object] = {name: value for name, value in given.items() if value is not None}
        if pages_done is not None:
            # A document that is parsed again after a crash does not seem to lose its pages.
            values["pages_done"] = case((jobs.c.pages_done > pages_done, jobs.c.pages_done), else_=pages_done)
        if chunks_done:
            values["takeovers"] = 0
        with self._engine.begin() as connection:
            written = connection.execute(
                update(jobs).where(_held(claim)).values(stage=stage, updated_at=self._clock(), **values)
            )
            if written.rowcount == 0:
                raise JobLostError(f"job {claim.job_id!r}: another worker took it over")
            cancelled = connection.execute(
                select(jobs.c.cancel_requested).where(jobs.c.job_id == claim.job_id)
            ).scalar_one()
        if cancelled:
            raise JobCancelledError(f"job {claim.job_id!r}: cancelled")

    def succeed(self, connection: Connection, claim: Claim, outcome: str, document_id: str) -> bool:
        """End a job well, in the caller's transaction; `document_id` is the document that now holds the content."""
        return self._end(
            connection,
            claim,
            "succeeded",
            stage="done",
            outcome=outcome,
            document_id=document_id,
            error_code=None,
            error=None,
        )

    def fail(self, connection: Connection, claim: Claim, code: str, message: str) -> bool:
        """End a job in failure, in the caller's transaction; False when another owner has it by now."""
        return self._end(connection, claim, "failed", error_code=code, error=message)

    def cancelled(self, claim: Claim) -> None:
        """End a job as cancelled."""
        with self._engine.begin() as connection:
            self._end(
                connection,
                claim,
                "cancelled",
                error_code="cancelled",
                error="cancelled, or its document was deleted",
            )

    def postpone(self, claim: Claim, delay_s: float, code: str, message: str) -> None:
        """Put a job back after an error that may pass; it is due again after `delay_s`."""
        with self._engine.begin() as connection:
            not_before = self._clock() + timedelta(seconds=delay_s)
            self._end(connection, claim, "queued", not_before=not_before, error_code=code, error=message)

    def release(self, claim: Claim) -> None:
        """Put a job back as it was (the worker stops); the attempt does not count."""
        with self._engine.begin() as connection:
            self._end(connection, claim, "queued", attempts=max(0, claim.attempts - 1))

    def expire(self, dead: Callable[[str], bool]) -> int:
        """End the leases of owners that `dead` knows to be gone, without waiting for them; return how many."""
        with self._engine.connect() as connection:
            owners = connection.execute(select(jobs.c.owner).where(jobs.c.state == "running").distinct()).scalars()
            gone = [owner for owner in owners if owner is not None and dead(owner)]
        return self._update(and_(jobs.c.state == "running", jobs.c.owner.in_(gone)), lease_until=None)

    def next_due(self) -> datetime | None:
        """Return when the next postponed job is due; None when none waits."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.min(jobs.c.not_before)).where(jobs.c.state == "queued")).scalar_one()

    def _end(self, connection: Connection, claim: Claim, state: JobState, **values: object) -> bool:
        ended = connection.execute(
            update(jobs)
            .where(_held(claim))
            .values(state=state, owner=None, lease_until=None, updated_at=self._clock(), **values)
        )
        return ended.rowcount == 1

    def _update(self, condition: ColumnElement[bool], **values: object) -> int:
        with self._engine.begin() as connection:
            return connection.execute(update(jobs).where(condition).values(updated_at=self._clock(), **values)).rowcount


def _held(claim: Claim) -> ColumnElement[bool]:
    return and_(jobs.c.job_id == claim.job_id, jobs.c.owner == claim.owner, jobs.c.state == "running")


def _claimable(now: datetime) -> ColumnElement[bool]:
    earlier, other = jobs.alias("earlier"), jobs.alias("other")
    blocked = exists(
        select(earlier.c.job_id).where(
            earlier.c.tenant == jobs.c.tenant,
            earlier.c.source == jobs.c.source,
            earlier.c.created_by == jobs.c.created_by,
            earlier.c.version < jobs.c.version,
            earlier.c.state.in_(("queued", "running")),
        )
    )
    before = or_(
        other.c.created_at < jobs.c.created_at,
        and_(other.c.created_at == jobs.c.created_at, other.c.job_id < jobs.c.job_id),
    )
    busy = exists(
        select(other.c.job_id).where(
            other.c.document_id == jobs.c.document_id, before, other.c.state.in_(("queued", "running"))
        )
    )
    due = and_(jobs.c.state == "queued", or_(jobs.c.not_before.is_(None), jobs.c.not_before <= now))
    abandoned = and_(jobs.c.state == "running", or_(jobs.c.lease_until.is_(None), jobs.c.lease_until < now))
    return and_(or_(due, abandoned), ~blocked, ~busy)
