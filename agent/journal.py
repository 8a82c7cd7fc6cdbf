"""The journal of runs in SQL: what was streamed is what is stored. Blocking; call it from a thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, cast

from sqlalchemy import Connection, Engine, RowMapping, Select, and_, func, insert, or_, select, update

from agent.audits import AuditSource, add_audit, sources_of
from agent.errors import UnknownRunError
from agent.events import (
    EVENT_ADAPTER,
    Event,
    ModelUsed,
    PassagesRetrieved,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunStarted,
)
from agent.run import RunRequest
from agent.tables import erased_documents, run_events, run_passages, runs
from agent.tape import Entry
from agent.tapes import KeptRequest, add_entries, erase_tapes, keep_request, read_entries, read_request
from agent.tombstones import entomb
from agent.usage import add_usage
from retrieval.types import Principal, Value

RunState = Literal["running", "completed", "failed", "cancelled"]

_TERMINAL = ("run_completed", "run_failed", "run_cancelled")


class StoredRun(Value):
    """A run as the journal knows it."""

    run_id: str
    trace_id: str
    question: str
    state: RunState
    started_at: datetime
    ended_at: datetime | None = None
    completed: RunCompleted | None = None
    """The terminal event of a completed run: the same as in the stream."""
    stale: tuple[AuditSource, ...] = ()
    """What the answer relied on and is replaced or deleted by now."""
    error_code: str | None = None
    error: str | None = None


class Recorded(Value):
    """All that is kept of a run."""

    events: tuple[Event, ...]
    kept: KeptRequest | None
    """What it was asked; None for runs of before this was kept."""
    entries: tuple[Entry, ...]
    """Its tape; empty where it was erased with a document."""


class Journal:
    """Writes and reads runs. A run belongs to one user of one tenant; for anybody else it does not exist."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def append(
        self,
        events: Event | Sequence[Event],
        principal: Principal,
        *,
        entries: Sequence[Entry] = (),
        request: RunRequest | None = None,
    ) -> None:
        """Write events of one run in their order, in one transaction.

        Args:
            events: of the run.
            principal: whose run it is.
            entries: what was recorded of it meanwhile.
            request: with the first event: what it was asked.
        """
        batch: Sequence[Event] = [events] if not isinstance(events, Sequence) else events
        if not batch:
            return
        with self._engine.begin() as connection:
            erased = self._write(connection, batch, principal)
            if request is not None:
                keep_request(connection, request, principal)
            if erased:
                erase_tapes(connection, [batch[0].run_id])
            else:
                add_entries(connection, batch[0].run_id, entries)

    def recorded(self, run_id: str, principal: Principal) -> Recorded:
        """Return all that is kept of a run, to repeat it.

        Raises:
            UnknownRunError: no such run, or another user's.
        """
        events = self.events(run_id, principal)
        with self._engine.connect() as connection:
            kept, entries = read_request(connection, run_id), read_entries(connection, run_id)
        return Recorded(events=tuple(events), kept=kept, entries=tuple(entries))

    def broken(self) -> list[Recorded]:
        """Return every run that a crash of the process left `running`, the oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(runs).where(runs.c.state == "running").order_by(runs.c.started_at)
            ).mappings()
            owners = [(row["run_id"], Principal(tenant=row["tenant"], user=row["user"])) for row in rows]
        return [self.recorded(run_id, owner) for run_id, owner in owners]

    def run(self, run_id: str, principal: Principal) -> StoredRun:
        """Return one run.

        Raises:
            UnknownRunError: no such run, or another user's.
        """
        with self._engine.connect() as connection:
            row = connection.execute(_owned(principal).where(runs.c.run_id == run_id)).mappings().first()
            if row is None:
                raise UnknownRunError(f"there is no run {run_id!r}")
            stale = tuple(each for each in sources_of(connection, [run_id])[run_id] if each.stale is not None)
            return _stored(row, self._terminal(connection, run_id), stale)

    def list_runs(self, principal: Principal, *, limit: int = 100, after: str | None = None) -> list[StoredRun]:
        """Return the principal's runs without their terminal events, newest first, from the one after `after` on.

        Raises:
            UnknownRunError: `after` is no run of the principal.
        """
        query = _owned(principal).order_by(runs.c.started_at.desc(), runs.c.run_id.desc()).limit(limit)
        with self._engine.connect() as connection:
            if after is not None:
                last = connection.execute(_owned(principal).where(runs.c.run_id == after)).mappings().first()
                if last is None:
                    raise UnknownRunError(f"there is no run {after!r}")
                older = runs.c.started_at < last["started_at"]
                same = and_(runs.c.started_at == last["started_at"], runs.c.run_id < after)
                query = query.where(or_(older, same))
            return [_stored(row, None) for row in connection.execute(query).mappings()]

    def events(self, run_id: str, principal: Principal, after_seq: int = -1) -> list[Event]:
        """Return a run's events with a `seq` above `after_seq`, in order.

        Raises:
            UnknownRunError: no such run, or another user's.
        """
        with self._engine.connect() as connection:
            if connection.execute(_owned(principal).where(runs.c.run_id == run_id)).first() is None:
                raise UnknownRunError(f"there is no run {run_id!r}")
            bodies = connection.scalars(
                select(run_events.c.body)
                .where(run_events.c.run_id == run_id, run_events.c.seq > after_seq)
                .order_by(run_events.c.seq)
            )
            return [EVENT_ADAPTER.validate_json(body) for body in bodies]

    def end_broken_runs(self, at: datetime, *, but: Collection[str] = ()) -> int:
        """End every run that a crash of the process left `running`; return how many there were.

        For the start of the one process that runs them; those in `but` go on.
        """
        with self._engine.begin() as connection:
            running = connection.execute(select(runs).where(runs.c.state == "running")).mappings().all()
            broken = [row for row in running if row["run_id"] not in but]
            for row in broken:
                last = connection.scalar(select(func.max(run_events.c.seq)).where(run_events.c.run_id == row["run_id"]))
                event = RunFailed(
                    run_id=row["run_id"],
                    trace_id=row["trace_id"],
                    seq=0 if last is None else last + 1,
                    at=at,
                    code="interrupted",
                    message="The process ended while the run was going on. Ask again.",
                )
                owner = Principal(tenant=row["tenant"], user=row["user"])
                self._write(connection, [event], owner)
        return len(broken)

    def _write(self, connection: Connection, batch: Sequence[Event], principal: Principal) -> bool:
        """Write; return whether documents that the run used are erased."""
        for event in batch:
            self._note(connection, event, principal)
        erased = _erased(connection, batch[0].run_id)
        kept = [entomb(event, set(erased.values()), set(erased)) for event in batch] if erased else batch
        connection.execute(
            insert(run_events),
            [{"run_id": e.run_id, "seq": e.seq, "kind": e.kind, "body": e.model_dump_json()} for e in kept],
        )
        return bool(erased)

    def _note(self, connection: Connection, event: Event, principal: Principal) -> None:
        """Keep the run's own row in step with its first and last event."""
        if isinstance(event, RunStarted):
            connection.execute(
                insert(runs).values(
                    run_id=event.run_id,
                    trace_id=event.trace_id,
                    tenant=principal.tenant,
                    user=principal.user,
                    question=event.question,
                    state="running",
                    started_at=event.at,
                )
            )
        elif isinstance(event, PassagesRetrieved):
            known = set(connection.scalars(select(run_passages.c.label).where(run_passages.c.run_id == event.run_id)))
            new = {p.label: p.chunk.document_id for p in event.passages if p.label not in known}
            if new:
                rows = [{"label": label, "document_id": document_id} for label, document_id in new.items()]
                fixed = {"run_id": event.run_id, "tenant": principal.tenant}
                connection.execute(insert(run_passages), [row | fixed for row in rows])
        elif isinstance(event, ModelUsed):
            add_usage(connection, event, principal)
        elif isinstance(event, RunCompleted | RunFailed | RunCancelled):
            state = event.kind.removeprefix("run_")
            changed = update(runs).where(runs.c.run_id == event.run_id).values(state=state, ended_at=event.at)
            connection.execute(changed)
            if isinstance(event, RunCompleted):
                add_audit(connection, event, principal)

    def _terminal(self, connection: Connection, run_id: str) -> Event | None:
        body = connection.scalar(
            select(run_events.c.body).where(run_events.c.run_id == run_id, run_events.c.kind.in_(_TERMINAL))
        )
        return EVENT_ADAPTER.validate_json(body) if body is not None else None


def _erased(connection: Connection, run_id: str) -> dict[str, str]:
    """Return label → document of the run's passages whose document was deleted meanwhile."""
    same = and_(
        erased_documents.c.tenant == run_passages.c.tenant,
        erased_documents.c.document_id == run_passages.c.document_id,
    )
    query = select(run_passages.c.label, run_passages.c.document_id).join(erased_documents, same)
    return {
        label: document_id for label, document_id in connection.execute(query.where(run_passages.c.run_id == run_id))
    }


def _owned(principal: Principal) -> Select[Any]:
    return select(runs).where(runs.c.tenant == principal.tenant, runs.c.user == principal.user)


def _stored(row: RowMapping, terminal: Event | None, stale: tuple[AuditSource, ...] = ()) -> StoredRun:
    failed = terminal if isinstance(terminal, RunFailed) else None
    return StoredRun(
        run_id=row["run_id"],
        trace_id=row["trace_id"],
        question=row["question"],
        state=cast("RunState", row["state"]),
        started_at=_utc(row["started_at"]),
        ended_at=_utc(row["ended_at"]) if row["ended_at"] is not None else None,
        completed=terminal if isinstance(terminal, RunCompleted) else None,
        stale=stale,
        error_code=failed.code if failed else None,
        error=failed.message if failed else None,
    )


def _utc(moment: datetime) -> datetime:
    # SQLite gives times back without their zone.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
