"""Copies of documents' texts in stored runs, rewritten when more of them is secret, or pseudonyms change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sqlalchemy import Engine, and_, or_, select, update

from agent.events import EVENT_ADAPTER
from agent.rewriting import rewrite
from agent.tables import run_events, run_passages, runs
from agent.tapes import rewrite_kept

_TRIES = 20


class RunCopies:
    """Questions, passages, observations, thoughts, answers and verdicts of runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Put `change(text)` in the place of every text of a tenant's runs; repeatable.

        Args:
            tenant: whose runs.
            change: gives the same for what it gave.
            document_id: rewrite what used this document; alone, only that.
            revision: pass over the ended runs that were rewritten under this revision of the rules already,
                and remember which are now.

        Returns:
            How many events were changed.
        """
        return await asyncio.to_thread(self._rewrite, tenant, change, document_id, revision)

    async def rewrite_run(self, run_id: str, change: Callable[[str], str]) -> int:
        """Rewrite one run: its documents changed while it was going on."""
        return await asyncio.to_thread(self._rewrite_run, run_id, change, None)

    def tenants(self) -> list[str]:
        """Return all tenants that have runs. Blocking."""
        with self._engine.connect() as connection:
            return list(connection.scalars(select(runs.c.tenant).distinct().order_by(runs.c.tenant)))

    def _rewrite(self, tenant: str, change: Callable[[str], str], document_id: str | None, revision: str | None) -> int:
        used = runs.c.run_id.in_(
            select(run_passages.c.run_id).where(
                run_passages.c.tenant == tenant, run_passages.c.document_id == document_id
            )
        )
        old = or_(runs.c.symbols_revision.is_(None), runs.c.symbols_revision != revision)
        which = runs.c.tenant == tenant
        if revision is not None:
            which = and_(which, old if document_id is None else or_(old, used))
        elif document_id is not None:
            which = and_(which, used)
        with self._engine.connect() as connection:
            run_ids = list(connection.scalars(select(runs.c.run_id).where(which)))
        return sum(self._rewrite_run(run_id, change, revision) for run_id in run_ids)

    def _rewrite_run(self, run_id: str, change: Callable[[str], str], revision: str | None) -> int:
        for _ in range(_TRIES):
            changed = self._try_run(run_id, change, revision)
            if changed is not None:
                return changed
        raise AssertionError(f"run {run_id!r}: its events change faster than they are rewritten")

    def _try_run(self, run_id: str, change: Callable[[str], str], revision: str | None) -> int | None:
        """Rewrite a run; None when an event was changed by others meanwhile (a tombstone must not be undone)."""
        with self._engine.connect() as connection:
            run = connection.execute(select(runs.c.state, runs.c.question).where(runs.c.run_id == run_id)).one_or_none()
            rows = connection.execute(
                select(run_events.c.seq, run_events.c.body)
                .where(run_events.c.run_id == run_id)
                .order_by(run_events.c.seq)
            ).all()
        if run is None:
            return 0
        events = [EVENT_ADAPTER.validate_json(row.body) for row in rows]
        pairs = zip(rows, events, rewrite(events, change), strict=True)
        changed = [(row, after) for row, before, after in pairs if after is not before]
        values: dict[str, str] = {}
        if (question := change(run.question)) != run.question:
            values["question"] = question
        if revision is not None and run.state != "running":
            values["symbols_revision"] = revision
        # All at once: an answer whose first piece holds it all must not keep its others.
        with self._engine.begin() as connection:
            for row, after in changed:
                written = connection.execute(
                    update(run_events)
                    .where(run_events.c.run_id == run_id, run_events.c.seq == row.seq, run_events.c.body == row.body)
                    .values(body=after.model_dump_json())
                )
                if written.rowcount == 0:
                    connection.rollback()
                    return None
            if not rewrite_kept(connection, run_id, change):
                connection.rollback()
                return None
            if values:
                connection.execute(update(runs).where(runs.c.run_id == run_id).values(**values))
        return len(changed)
