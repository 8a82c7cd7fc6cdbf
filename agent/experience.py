"""What finished tasks of the same person tell a new one: which tools answered a question like it, in how many steps.

A record holds no text of its own. It is read from the journal of the run, so that what is erased or deleted
there is forgotten here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy import Connection, Engine, select

from agent.events import EVENT_ADAPTER, RunCompleted, ToolCalled
from agent.tables import run_events, runs
from retrieval.content_terms import content_terms
from retrieval.types import Principal, Value

_LOOKED_AT = 300
"""Finished runs of the person, the newest first."""
_ALIKE = 0.4
"""Share of the terms of both questions that they have in common."""
_MOST = 2


class PastTask(Value):
    """A finished task."""

    run_id: str
    question: str
    """Secrets replaced by pseudonyms."""
    tools: tuple[str, ...]
    """As they were called, each once."""
    steps: int
    status: str
    risk: str
    """Of its audit."""


class Experience(Protocol):
    """Knows finished tasks. Blocking; call it from a thread."""

    def similar(self, question: str, principal: Principal) -> Sequence[PastTask]:
        """Return finished tasks of the person that are like this one, the likest first."""
        ...


class JournalExperience:
    """Reads finished tasks from the journal."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def similar(self, question: str, principal: Principal) -> list[PastTask]:
        """Return at most two, without the question itself: that is what the answer cache is for."""
        wanted = set(content_terms(question))
        if not wanted:
            return []
        finished = (
            select(runs.c.run_id, runs.c.question)
            .where(runs.c.tenant == principal.tenant, runs.c.user == principal.user, runs.c.state == "completed")
            .order_by(runs.c.started_at.desc())
            .limit(_LOOKED_AT)
        )
        with self._engine.connect() as connection:
            alike: dict[str, tuple[float, str]] = {}
            for run_id, asked in connection.execute(finished):
                share = _share(wanted, set(content_terms(asked)))
                if share >= _ALIKE and asked != question and asked not in (known for _, known in alike.values()):
                    alike[run_id] = (share, asked)
            best = sorted(alike, key=lambda run_id: -alike[run_id][0])[:_MOST]
            tasks = [_task(connection, run_id, alike[run_id][1]) for run_id in best]
        return [task for task in tasks if task is not None]


def _share(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _task(connection: Connection, run_id: str, question: str) -> PastTask | None:
    kinds = ("tool_called", "run_completed")
    query = select(run_events.c.body).where(run_events.c.run_id == run_id, run_events.c.kind.in_(kinds))
    events = [EVENT_ADAPTER.validate_json(body) for body in connection.scalars(query.order_by(run_events.c.seq))]
    done = events[-1] if events else None
    if not isinstance(done, RunCompleted) or done.status not in {"answered", "general"}:
        return None
    return PastTask(
        run_id=run_id,
        question=question,
        tools=tuple(dict.fromkeys(event.tool for event in events if isinstance(event, ToolCalled))),
        steps=done.steps,
        status=done.status,
        risk=done.audit.risk,
    )
