"""What runs keep of documents, and its removal when a document is deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import IntegrityError

from agent.events import EVENT_ADAPTER, Event
from agent.tables import erased_documents, run_events, run_passages
from agent.tapes import count_entries, erase_tapes
from agent.tombstones import entomb


class RunRemains:
    """Passages, observations and evidence in the journal. One of the places that a deletion receipt probes.

    A document that was erased is remembered by its id, so that a run that is under way just then does
    not bring its text back (`Journal` asks before it writes).
    """

    name = "runs"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def erase(self, tenant: str, document_id: str) -> int:
        """Put tombstones in the place of the document's text, and erase the tapes of the runs that used it.

        Repeatable. Returns in how many events and entries of tapes it stood.
        """
        return await asyncio.to_thread(self._erase, tenant, document_id)

    async def left(self, tenant: str, document_id: str) -> int:
        """Count the events that still hold text of the document, and the entries of tapes that may."""
        return await asyncio.to_thread(self._left, tenant, document_id)

    def _erase(self, tenant: str, document_id: str) -> int:
        self._remember(tenant, document_id)
        with self._engine.begin() as connection:
            changed = list(_with_text(connection, tenant, document_id))
            for event in changed:
                connection.execute(
                    update(run_events)
                    .where(run_events.c.run_id == event.run_id, run_events.c.seq == event.seq)
                    .values(body=event.model_dump_json())
                )
            taped = erase_tapes(connection, _runs_with(connection, tenant, document_id))
        return len(changed) + taped

    def _remember(self, tenant: str, document_id: str) -> None:
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(erased_documents).values(tenant=tenant, document_id=document_id))
        except IntegrityError:
            return  # it is remembered already

    def _left(self, tenant: str, document_id: str) -> int:
        with self._engine.connect() as connection:
            taped = count_entries(connection, _runs_with(connection, tenant, document_id))
            return taped + sum(1 for _ in _with_text(connection, tenant, document_id))


def _runs_with(connection: Connection, tenant: str, document_id: str) -> list[str]:
    same = run_passages.c.tenant == tenant, run_passages.c.document_id == document_id
    return list(connection.scalars(select(run_passages.c.run_id).where(*same).distinct()))


def _with_text(connection: Connection, tenant: str, document_id: str) -> Iterator[Event]:
    """Yield, as they must become, the events of all runs that hold text of the document."""
    used = connection.execute(
        select(run_passages.c.run_id, run_passages.c.label).where(
            run_passages.c.tenant == tenant, run_passages.c.document_id == document_id
        )
    ).all()
    labels: dict[str, set[str]] = {}
    for run_id, label in used:
        labels.setdefault(run_id, set()).add(label)
    for run_id, own in labels.items():
        bodies = connection.scalars(select(run_events.c.body).where(run_events.c.run_id == run_id)).all()
        for body in bodies:
            event = EVENT_ADAPTER.validate_json(body)
            changed = entomb(event, {document_id}, own)
            if changed is not event:
                yield changed
