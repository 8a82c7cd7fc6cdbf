"""Conversations: which runs belong together, in SQL. Blocking; call it from a thread.

No text is stored here. What was asked and answered is read from the journal, so that whatever is erased or
hidden there is erased and hidden in conversations too.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, Select, delete, func, insert, select, update

from agent.egress import document_labels
from agent.errors import ConversationBusyError, UnknownConversationError
from agent.events import EVENT_ADAPTER, Event, RunCompleted, RunStarted
from agent.tables import conversation_runs, conversations, metadata, runs
from agent.tables import run_events as events
from retrieval.types import Principal, Value


class Turn(Value):
    """One question of a conversation and what came of it."""

    run_id: str
    asked: str
    """As it was written; secrets replaced by pseudonyms."""
    question: str
    """As it was answered: a follow-up stands alone here."""
    state: str
    """Of the run."""
    answer: str = ""
    at: datetime
    labels: frozenset[str] = frozenset()
    """Of the documents that the answer may rest on, those of earlier turns that were read with it included."""


class Conversation(Value):
    """A conversation as a list shows it."""

    conversation_id: str
    started_at: datetime
    asked_at: datetime
    """When the last question was asked."""
    turns: int
    first_question: str = ""


class ConversationBook:
    """Keeps conversations. One belongs to one user of one tenant; for anybody else it does not exist."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, principal: Principal) -> str:
        """Begin a conversation; return its id."""
        conversation_id, now = uuid.uuid4().hex, datetime.now(UTC)
        owner = {"tenant": principal.tenant, "user": principal.user}
        with self._engine.begin() as connection:
            row = {"conversation_id": conversation_id, "started_at": now, "asked_at": now, **owner}
            connection.execute(insert(conversations).values(**row))
        return conversation_id

    def add(self, conversation_id: str, run_id: str, principal: Principal) -> None:
        """Add a run as the newest turn.

        Raises:
            UnknownConversationError: no such conversation, or another user's.
        """
        with self._engine.begin() as connection:
            _owned_row(connection, conversation_id, principal)
            last = select(func.coalesce(func.max(conversation_runs.c.place), 0)).where(
                conversation_runs.c.conversation_id == conversation_id
            )
            place = int(connection.scalar(last) or 0) + 1
            connection.execute(
                insert(conversation_runs).values(conversation_id=conversation_id, place=place, run_id=run_id)
            )
            connection.execute(
                update(conversations)
                .where(conversations.c.conversation_id == conversation_id)
                .values(asked_at=datetime.now(UTC))
            )

    def list(self, principal: Principal, *, limit: int = 100) -> list[Conversation]:
        """Return the principal's conversations, the one asked in last first."""
        query = _owned(principal).order_by(conversations.c.asked_at.desc()).limit(limit)
        with self._engine.connect() as connection:
            return [_shown(connection, row) for row in connection.execute(query).mappings().all()]

    def turns(self, conversation_id: str, principal: Principal, *, last: int | None = None) -> list[Turn]:
        """Return the turns of a conversation in order, or the newest `last` of them.

        Raises:
            UnknownConversationError: no such conversation, or another user's.
        """
        with self._engine.connect() as connection:
            _owned_row(connection, conversation_id, principal)
            query = (
                select(runs)
                .join(conversation_runs, conversation_runs.c.run_id == runs.c.run_id)
                .where(conversation_runs.c.conversation_id == conversation_id)
                .order_by(conversation_runs.c.place.desc())
            )
            rows = connection.execute(query if last is None else query.limit(last)).mappings().all()
            return [_turn(connection, row) for row in reversed(rows)]

    def delete(self, conversation_id: str, principal: Principal) -> int:
        """Delete a conversation with all of its runs; return how many runs there were.

        What was used stays counted, for it holds no text; audits of the runs go with them.

        Raises:
            UnknownConversationError: no such conversation, or another user's.
            ConversationBusyError: one of its runs is going on.
        """
        with self._engine.begin() as connection:
            _owned_row(connection, conversation_id, principal)
            found = select(conversation_runs.c.run_id).where(conversation_runs.c.conversation_id == conversation_id)
            run_ids = list(connection.scalars(found))
            going = select(runs.c.run_id).where(runs.c.run_id.in_(run_ids), runs.c.state == "running")
            if connection.execute(going).first() is not None:
                raise ConversationBusyError("a question of this conversation is being answered; try again then")
            _delete_runs(connection, run_ids)
            same = conversation_runs.c.conversation_id == conversation_id
            connection.execute(delete(conversation_runs).where(same))
            connection.execute(delete(conversations).where(conversations.c.conversation_id == conversation_id))
        return len(run_ids)


def _delete_runs(connection: Connection, run_ids: Sequence[str]) -> None:
    """Delete runs with every row that hangs on them, in whichever table."""
    for table in reversed(metadata.sorted_tables):
        if any(key.column.table is runs for key in table.foreign_keys):
            connection.execute(delete(table).where(table.c.run_id.in_(run_ids)))
    connection.execute(delete(runs).where(runs.c.run_id.in_(run_ids)))


def _owned(principal: Principal) -> Select[Any]:
    own = conversations.c.tenant == principal.tenant, conversations.c.user == principal.user
    return select(conversations).where(*own)


def _owned_row(connection: Connection, conversation_id: str, principal: Principal) -> RowMapping:
    query = _owned(principal).where(conversations.c.conversation_id == conversation_id)
    row = connection.execute(query).mappings().first()
    if row is None:
        raise UnknownConversationError(f"there is no conversation {conversation_id!r}")
    return row


def _shown(connection: Connection, row: RowMapping) -> Conversation:
    same = conversation_runs.c.conversation_id == row["conversation_id"]
    asked = (
        select(runs.c.question)
        .join(conversation_runs, conversation_runs.c.run_id == runs.c.run_id)
        .where(same)
        .order_by(conversation_runs.c.place)
        .limit(1)
    )
    return Conversation(
        conversation_id=row["conversation_id"],
        started_at=_utc(row["started_at"]),
        asked_at=_utc(row["asked_at"]),
        turns=connection.scalar(select(func.count()).select_from(conversation_runs).where(same)) or 0,
        first_question=connection.scalar(asked) or "",
    )


def _turn(connection: Connection, row: RowMapping) -> Turn:
    started = _event(connection, row["run_id"], "run_started")
    done = _event(connection, row["run_id"], "run_completed")
    asked = started.asked if isinstance(started, RunStarted) else ""
    completed = done if isinstance(done, RunCompleted) else None
    return Turn(
        run_id=row["run_id"],
        asked=asked or row["question"],
        question=row["question"],
        state=row["state"],
        answer=completed.answer if completed is not None else "",
        at=_utc(row["started_at"]),
        labels=frozenset(completed.labels) | document_labels(*(each.chunk.labels for each in completed.passages))
        if completed is not None
        else frozenset(),
    )


def _event(connection: Connection, run_id: str, kind: str) -> Event | None:
    body = connection.scalar(select(events.c.body).where(events.c.run_id == run_id, events.c.kind == kind).limit(1))
    return EVENT_ADAPTER.validate_json(body) if body is not None else None


def _utc(moment: datetime) -> datetime:
    # SQLite gives times back without their zone.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
