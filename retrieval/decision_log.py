"""The decision log in SQL: written in batches behind the back of searches, bounded in number and age."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Connection, Engine, and_, delete, insert, or_, select, update

from retrieval.batch_writer import BatchWriter
from retrieval.decision_tables import decisions
from retrieval.decisions import Decision, Kind, Outcome, rewritten
from retrieval.errors import UnknownDecisionError
from retrieval.settings import DecisionSettings

Hide = Callable[[str, str], str]
"""(text, tenant) → the text under the rules of now."""

_CLEAN_UP: Final = timedelta(hours=1)
_PAGE: Final = 500
_SLACK: Final = 20
"""A tenant's oldest go when a twentieth of its bound was added."""


@dataclass(frozen=True, slots=True)
class _Settle:
    tenant: str
    run_id: str
    outcome: Outcome


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SqlDecisionLog:
    """Keeps decisions in the table of `retrieval.decision_tables`.

    Their texts are hidden again when they are written, so that what a search read under rules that have
    changed meanwhile does not stand here in the clear.
    """

    def __init__(
        self,
        engine: Engine,
        settings: DecisionSettings,
        *,
        hide: Hide = lambda text, _tenant: text,
        revision: Callable[[str], str] = lambda _tenant: "",
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        """Take the parts.

        Args:
            engine: with the table of `retrieval.decision_tables`.
            settings: the bounds.
            hide: what texts must look like now.
            revision: names, for a tenant, the rules by which `hide` does it.
            clock: the time.
        """
        self._engine, self._settings = engine, settings
        self._hide, self._revision, self._clock = hide, revision, clock
        self._writer = BatchWriter(self._write, capacity=settings.buffer, name="decision log")
        self._added: Counter[str] = Counter()
        self._cleaned_up: datetime | None = None

    @property
    def lost(self) -> int:
        """How many decisions (and outcomes) could not be kept."""
        return self._writer.lost

    def record(self, decision: Decision) -> None:
        """Take a decision; returns at once."""
        if self._settings.enabled:
            self._writer.put(decision)

    def settle(self, tenant: str, run_id: str, outcome: Outcome) -> None:
        """Note what became of a run's question; returns at once."""
        if self._settings.enabled:
            self._writer.put(_Settle(tenant, run_id, outcome))

    async def read(
        self,
        tenant: str,
        *,
        kind: Kind | None = None,
        run_id: str | None = None,
        limit: int = 1000,
        after: str | None = None,
    ) -> Sequence[Decision]:
        """Return a tenant's decisions, newest first."""
        return await asyncio.to_thread(self._read, tenant, kind, run_id, limit, after)

    async def get(self, tenant: str, decision_id: str) -> Decision:
        """Return one decision."""
        return await asyncio.to_thread(self._get, tenant, decision_id)

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Put `change(text)` in the place of every text of a tenant's decisions."""
        return await asyncio.to_thread(self._rewrite, tenant, change, revision)

    def close(self) -> None:
        """Write what waits, and end. Blocking."""
        self._writer.close()

    def _read(
        self, tenant: str, kind: Kind | None, run_id: str | None, limit: int, after: str | None
    ) -> list[Decision]:
        self._writer.flush()
        table = decisions
        query = select(table.c.body, table.c.outcome).where(table.c.tenant == tenant, table.c.at > self._oldest())
        if kind is not None:
            query = query.where(table.c.kind == kind)
        if run_id is not None:
            query = query.where(table.c.run_id == run_id)
        with self._engine.connect() as connection:
            if after is not None:
                last = connection.execute(
                    select(table.c.at).where(table.c.tenant == tenant, table.c.decision_id == after)
                ).scalar_one_or_none()
                if last is None:
                    raise UnknownDecisionError(f"there is no decision {after!r}")
                query = query.where(or_(table.c.at < last, and_(table.c.at == last, table.c.decision_id < after)))
            query = query.order_by(table.c.at.desc(), table.c.decision_id.desc()).limit(limit)
            return [_decision(row.body, row.outcome) for row in connection.execute(query)]

    def _get(self, tenant: str, decision_id: str) -> Decision:
        self._writer.flush()
        with self._engine.connect() as connection:
            row = connection.execute(
                select(decisions.c.body, decisions.c.outcome).where(
                    decisions.c.tenant == tenant,
                    decisions.c.decision_id == decision_id,
                    decisions.c.at > self._oldest(),
                )
            ).one_or_none()
        if row is None:
            raise UnknownDecisionError(f"there is no decision {decision_id!r}")
        return _decision(row.body, row.outcome)

    def _rewrite(self, tenant: str, change: Callable[[str], str], revision: str | None) -> int:
        # What is being written at this moment may have been hidden by the former rules; what comes after, never.
        self._writer.flush()
        wanted = decisions.c.tenant == tenant
        if revision is not None:
            wanted = and_(wanted, decisions.c.symbols_revision != revision)
        changed, last = 0, ""
        while True:
            with self._engine.connect() as connection:
                rows = connection.execute(
                    select(decisions.c.decision_id, decisions.c.body)
                    .where(wanted, decisions.c.decision_id > last)
                    .order_by(decisions.c.decision_id)
                    .limit(_PAGE)
                ).all()
            if not rows:
                return changed
            last = rows[-1].decision_id
            new = {row.decision_id: self._changed_body(row.body, change) for row in rows}
            with self._engine.begin() as connection:
                for row in rows:
                    values: dict[str, str] = {} if revision is None else {"symbols_revision": revision}
                    if new[row.decision_id] != row.body:
                        values["body"] = new[row.decision_id]
                        changed += 1
                    if values:
                        mine = decisions.c.decision_id == row.decision_id
                        connection.execute(update(decisions).where(mine).values(**values))

    @staticmethod
    def _changed_body(body: str, change: Callable[[str], str]) -> str:
        decision = Decision.model_validate_json(body)
        after = rewritten(decision, change)
        return body if after is decision else after.model_dump_json()

    def _write(self, batch: Sequence[Decision | _Settle]) -> None:
        """Write a batch in one transaction, in its order. On the writer's thread."""
        prepared = [item if isinstance(item, _Settle) else self._row(item) for item in batch]
        rows: list[dict[str, object]] = []
        with self._engine.begin() as connection:
            for item in prepared:
                if isinstance(item, dict):
                    rows.append(item)
                    continue
                _insert(connection, rows)
                rows = []
                connection.execute(
                    update(decisions)
                    .where(decisions.c.tenant == item.tenant, decisions.c.run_id == item.run_id)
                    .values(outcome=item.outcome)
                )
            _insert(connection, rows)
            self._added.update(item.tenant for item in batch if isinstance(item, Decision))
            self._clean_up(connection)

    def _row(self, decision: Decision) -> dict[str, object]:
        revision = self._revision(decision.tenant)
        hidden = rewritten(decision, lambda text: self._hide(text, decision.tenant))
        return {
            "decision_id": hidden.decision_id,
            "tenant": hidden.tenant,
            "at": hidden.at,
            "kind": hidden.kind,
            "run_id": hidden.run_id,
            "outcome": hidden.outcome,
            "symbols_revision": revision,
            "body": hidden.model_dump_json(),
        }

    def _clean_up(self, connection: Connection) -> None:
        """Remove what is too old, once an hour, and what is too much, where enough was added."""
        now = self._clock()
        if self._cleaned_up is None or now - self._cleaned_up >= _CLEAN_UP:
            connection.execute(delete(decisions).where(decisions.c.at <= self._oldest()))
            self._cleaned_up = now
        most = self._settings.max_per_tenant
        for tenant in [t for t, added in self._added.items() if added >= max(1, most // _SLACK)]:
            of_tenant = decisions.c.tenant == tenant
            first_over = connection.execute(
                select(decisions.c.at, decisions.c.decision_id)
                .where(of_tenant)
                .order_by(decisions.c.at.desc(), decisions.c.decision_id.desc())
                .offset(most)
                .limit(1)
            ).one_or_none()
            if first_over is not None:
                same = and_(decisions.c.at == first_over.at, decisions.c.decision_id <= first_over.decision_id)
                connection.execute(delete(decisions).where(of_tenant, or_(decisions.c.at < first_over.at, same)))
            del self._added[tenant]

    def _oldest(self) -> datetime:
        return self._clock() - timedelta(days=self._settings.max_age_days)


def _insert(connection: Connection, rows: Sequence[dict[str, object]]) -> None:
    if rows:
        connection.execute(insert(decisions), rows)


def _decision(body: str, outcome: Outcome | None) -> Decision:
    decision = Decision.model_validate_json(body)
    return decision if outcome is None else decision.model_copy(update={"outcome": outcome})
