"""Which runs mention a pseudonym. Blocking."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from sqlalchemy import Engine, or_, select

from agent.tables import run_events, runs
from retrieval.types import Value

_MANY = 50


class RunMention(Value):
    """A run in which a pseudonym stands."""

    run_id: str
    user: str
    started_at: datetime
    pseudonyms: tuple[str, ...]


class RunMentions:
    """Looks through questions and events of the runs of a tenant."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, tenant: str, pseudonyms: Collection[str]) -> list[RunMention]:
        """Return the runs in which any of these pseudonyms stands, oldest first."""
        found: dict[str, tuple[str, datetime, set[str]]] = {}
        ordered = sorted(pseudonyms)
        with self._engine.connect() as connection:
            for at in range(0, len(ordered), _MANY):
                some = ordered[at : at + _MANY]
                stands = or_(
                    *(
                        column.contains(each, autoescape=True)
                        for each in some
                        for column in (runs.c.question, run_events.c.body)
                    )
                )
                rows = connection.execute(
                    select(runs.c.run_id, runs.c.user, runs.c.started_at, runs.c.question, run_events.c.body)
                    .join(run_events, run_events.c.run_id == runs.c.run_id)
                    .where(runs.c.tenant == tenant, stands)
                )
                for row in rows:
                    standing = {each for each in some if each in row.question or each in row.body}
                    entry = found.setdefault(row.run_id, (row.user, _utc(row.started_at), set()))
                    entry[2].update(standing)
        mentions = [
            RunMention(run_id=run_id, user=user, started_at=started_at, pseudonyms=tuple(sorted(standing)))
            for run_id, (user, started_at, standing) in found.items()
        ]
        return sorted(mentions, key=lambda each: (each.started_at, each.run_id))


def _utc(moment: datetime) -> datetime:
    # SQLite gives times back without their zone.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
