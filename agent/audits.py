"""What audits came to, in SQL: figures and references, no text. Blocking; call it from a thread.

The journal adds a row in the transaction that writes a run's last event, where the verdicts and their
evidence are; erasure and rewriting of runs reach those there.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal

from sqlalchemy import Connection, Engine, Integer, RowMapping, Select, and_, case, func, insert, or_, select, update

from agent.audit.verdicts import Action, Risk
from agent.errors import UnknownRunError
from agent.events import RunCompleted
from agent.outcome import cited_passages
from agent.tables import audit_sources, audits
from retrieval.types import Principal, Value

Stale = Literal["replaced", "deleted"]
"""What became of a document that an answer relied on."""
_COUNTED = ("supported", "partly_supported", "contradicted", "unsupported", "uncited")
_AT_ONCE = 500


class AuditSource(Value):
    """A passage that an answer cites, as it was when the answer was audited."""

    label: str
    document_id: str
    chunk_id: str
    text_sha256: str
    """Of the passage's text, pseudonyms in the place of secrets."""
    stale: Stale | None = None


class AuditRow(Value):
    """What one audit came to."""

    run_id: str
    user: str
    at: datetime
    risk: Risk
    action: Action
    status: str
    sentences: int
    supported: int
    partly_supported: int
    contradicted: int
    unsupported: int
    uncited: int
    violations: int
    stale_at: datetime | None = None
    """Since when a document that the answer relied on is known to be replaced or deleted."""
    sources: tuple[AuditSource, ...] = ()


class RiskDay(Value):
    """The audits of one day (UTC)."""

    day: date
    answers: int
    low: int
    medium: int
    high: int
    repaired: int
    withheld: int
    sentences: int
    contradicted: int
    unsupported: int
    uncited: int
    violations: int


def text_sha256(text: str) -> str:
    """Return the hash that names a text in audits and in tombstones."""
    return hashlib.sha256(text.encode()).hexdigest()


def add_audit(connection: Connection, event: RunCompleted, principal: Principal) -> None:
    """Keep what the audit of a run that ends came to."""
    counts = Counter(sentence.kind for sentence in event.audit.sentences)
    connection.execute(
        insert(audits).values(
            run_id=event.run_id,
            tenant=principal.tenant,
            user=principal.user,
            at=event.at,
            day=event.at.date().isoformat(),
            risk=event.audit.risk,
            action=event.audit.action,
            status=event.status,
            sentences=len(event.audit.sentences),
            violations=len(event.audit.violations),
            **{kind: counts[kind] for kind in _COUNTED},
        )
    )
    cited = cited_passages(event.answer, event.passages)
    if cited:
        connection.execute(
            insert(audit_sources),
            [
                {
                    "run_id": event.run_id,
                    "label": passage.label,
                    "tenant": principal.tenant,
                    "document_id": passage.chunk.document_id,
                    "chunk_id": passage.chunk.chunk_id,
                    "text_sha256": text_sha256(passage.chunk.text),
                }
                for passage in cited
            ],
        )


def sources_of(connection: Connection, run_ids: Collection[str]) -> dict[str, tuple[AuditSource, ...]]:
    """Return run_id → what its answer cites, in the order of labels."""
    found: dict[str, list[AuditSource]] = {run_id: [] for run_id in run_ids}
    query = select(audit_sources).where(audit_sources.c.run_id.in_(sorted(run_ids))).order_by(audit_sources.c.label)
    for row in connection.execute(query).mappings():
        fields = {name: row[name] for name in AuditSource.model_fields}
        found[row["run_id"]].append(AuditSource.model_validate(fields))
    return {run_id: tuple(each) for run_id, each in found.items()}


class AuditBook:
    """Reads audits and marks stale ones."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rows(
        self,
        tenant: str,
        *,
        user: str | None = None,
        risk: Risk | None = None,
        stale: bool = False,
        since: date | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> list[AuditRow]:
        """Return a tenant's audits, newest first, from the one after `after` on.

        Args:
            tenant: whose.
            user: only of answers to this user; None: of all.
            risk: only of this risk.
            stale: only where a document that the answer relied on is replaced or deleted.
            since: only from this day (UTC) on.
            limit: most rows.
            after: run of the last row that was read.

        Raises:
            UnknownRunError: there is no audit `after` among them.
        """
        wanted = [audits.c.tenant == tenant]
        if user is not None:
            wanted.append(audits.c.user == user)
        query = select(audits).where(*wanted)
        if risk is not None:
            query = query.where(audits.c.risk == risk)
        if stale:
            query = query.where(audits.c.stale_at.is_not(None))
        if since is not None:
            query = query.where(audits.c.day >= since.isoformat())
        query = query.order_by(audits.c.at.desc(), audits.c.run_id.desc()).limit(limit)
        with self._engine.connect() as connection:
            if after is not None:
                last = _one(connection, select(audits).where(*wanted, audits.c.run_id == after), after)
                same = and_(audits.c.at == last["at"], audits.c.run_id < after)
                query = query.where(or_(audits.c.at < last["at"], same))
            found = connection.execute(query).mappings().all()
            cited = sources_of(connection, [row["run_id"] for row in found])
        return [_row(row, cited[row["run_id"]]) for row in found]

    def row(self, run_id: str, tenant: str, *, user: str | None = None) -> AuditRow:
        """Return one audit.

        Raises:
            UnknownRunError: no such run, not audited, another tenant's, or another user's than `user`.
        """
        query = select(audits).where(audits.c.tenant == tenant, audits.c.run_id == run_id)
        if user is not None:
            query = query.where(audits.c.user == user)
        with self._engine.connect() as connection:
            found = _one(connection, query, run_id)
            return _row(found, sources_of(connection, [run_id])[run_id])

    def days(self, tenant: str, since: date, *, user: str | None = None) -> list[RiskDay]:
        """Return the risk figures of each day with audits from `since` on, newest first."""
        figures = ("sentences", "contradicted", "unsupported", "uncited", "violations")
        query = (
            select(
                audits.c.day,
                func.count().label("answers"),
                *(_sum(audits.c.risk == risk).label(risk) for risk in ("low", "medium", "high")),
                *(_sum(audits.c.action == action).label(action) for action in ("repaired", "withheld")),
                *(func.sum(audits.c[name]).label(name) for name in figures),
            )
            .where(audits.c.tenant == tenant, audits.c.day >= since.isoformat())
            .group_by(audits.c.day)
            .order_by(audits.c.day.desc())
        )
        if user is not None:
            query = query.where(audits.c.user == user)
        with self._engine.connect() as connection:
            return [RiskDay.model_validate(dict(row)) for row in connection.execute(query).mappings()]

    def tenants(self) -> list[str]:
        """Return all tenants that have audits."""
        with self._engine.connect() as connection:
            return list(connection.scalars(select(audits.c.tenant).distinct().order_by(audits.c.tenant)))

    def relied_on(self, tenant: str) -> list[str]:
        """Return the documents that answers of a tenant rely on and that are not known to be stale."""
        query = select(audit_sources.c.document_id).where(
            audit_sources.c.tenant == tenant, audit_sources.c.stale.is_(None)
        )
        with self._engine.connect() as connection:
            return list(connection.scalars(query.distinct().order_by(audit_sources.c.document_id)))

    def mark_stale(self, tenant: str, documents: Mapping[str, Stale], at: datetime) -> list[str]:
        """Mark the answers that rely on these documents; return the runs that were not marked before. Repeatable."""
        marked: set[str] = set()
        with self._engine.begin() as connection:
            for document_id, stale in documents.items():
                used = and_(
                    audit_sources.c.tenant == tenant,
                    audit_sources.c.document_id == document_id,
                    audit_sources.c.stale.is_(None),
                )
                marked |= set(connection.scalars(select(audit_sources.c.run_id).where(used)))
                connection.execute(update(audit_sources).where(used).values(stale=stale))
            fresh: set[str] = set()
            for some in _parts(sorted(marked)):
                which = and_(audits.c.run_id.in_(some), audits.c.stale_at.is_(None))
                fresh |= set(connection.scalars(select(audits.c.run_id).where(which)))
                connection.execute(update(audits).where(which).values(stale_at=at))
        return sorted(fresh)


def _sum(condition: Any) -> Any:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0, type_=Integer)


def _parts(run_ids: Sequence[str]) -> list[Sequence[str]]:
    """Databases take only so many parameters at once."""
    return [run_ids[at : at + _AT_ONCE] for at in range(0, len(run_ids), _AT_ONCE)]


def _one(connection: Connection, query: Select[Any], run_id: str) -> RowMapping:
    found = connection.execute(query).mappings().first()
    if found is None:
        raise UnknownRunError(f"there is no audit of a run {run_id!r}")
    return found


def _row(row: RowMapping, sources: tuple[AuditSource, ...]) -> AuditRow:
    fields = {name: row[name] for name in AuditRow.model_fields if name != "sources"}
    fields["at"] = _utc(row["at"])
    fields["stale_at"] = None if row["stale_at"] is None else _utc(row["stale_at"])
    return AuditRow.model_validate({**fields, "sources": sources})


def _utc(moment: datetime) -> datetime:
    # SQLite gives times back without their zone.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
