"""Jobs that audit past answers again, in SQL. Blocking; call it from a thread.

Verdicts by number only: no text of an answer or of a document stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from pydantic import TypeAdapter
from sqlalchemy import Engine, insert, select, update

from agent.audit.verdicts import Risk, VerdictKind
from agent.errors import UnknownRunError
from agent.tables import reaudits
from retrieval.types import Principal, Value


class ChangedVerdict(Value):
    """A sentence of a past answer whose verdict is another by the documents of now."""

    index: int
    before: VerdictKind
    after: VerdictKind


class Reaudit(Value):
    """One answer of a job."""

    run_id: str
    done: bool
    risk: Risk | None = None
    """By the documents of now."""
    changes: tuple[ChangedVerdict, ...] = ()
    error_code: str | None = None


class ReauditJob(Value):
    """A job as its asker sees it."""

    job_id: str
    state: str
    """`running` or `done`."""
    asked_at: datetime
    answers: tuple[Reaudit, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """An answer that waits to be audited again."""

    job_id: str
    run_id: str
    principal: Principal


_CHANGES: TypeAdapter[tuple[ChangedVerdict, ...]] = TypeAdapter(tuple[ChangedVerdict, ...])


class ReauditBook:
    """Keeps the jobs."""

    def __init__(self, engine: Engine, *, ids: Callable[[], str] = lambda: uuid4().hex) -> None:
        self._engine = engine
        self._ids = ids

    def ask(self, principal: Principal, run_ids: Sequence[str], at: datetime) -> str:
        """Keep a new job for these answers of a principal; return its id."""
        job_id = self._ids()
        fixed = {"job_id": job_id, "tenant": principal.tenant, "asked_at": at, "principal": principal.model_dump_json()}
        with self._engine.begin() as connection:
            connection.execute(insert(reaudits), [{"run_id": each, **fixed} for each in dict.fromkeys(run_ids)])
        return job_id

    def next(self) -> Waiting | None:
        """Return the answer that waits longest."""
        query = (
            select(reaudits)
            .where(reaudits.c.done_at.is_(None))
            .order_by(reaudits.c.asked_at, reaudits.c.job_id, reaudits.c.run_id)
            .limit(1)
        )
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            return None
        return Waiting(row["job_id"], row["run_id"], Principal.model_validate_json(row["principal"]))

    def settle(self, waiting: Waiting, result: Reaudit, at: datetime) -> None:
        """Keep what became of an answer."""
        with self._engine.begin() as connection:
            connection.execute(
                update(reaudits)
                .where(reaudits.c.job_id == waiting.job_id, reaudits.c.run_id == waiting.run_id)
                .values(
                    done_at=at,
                    risk=result.risk,
                    changes=_CHANGES.dump_json(result.changes).decode(),
                    error_code=result.error_code,
                )
            )

    def job(self, job_id: str, principal: Principal) -> ReauditJob:
        """Return a job of a principal's own.

        Raises:
            UnknownRunError: there is none.
        """
        query = select(reaudits).where(reaudits.c.tenant == principal.tenant, reaudits.c.job_id == job_id)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(reaudits.c.run_id)).mappings().all()
        if not rows or Principal.model_validate_json(rows[0]["principal"]).user != principal.user:
            raise UnknownRunError(f"there is no job {job_id!r}")
        answers = tuple(
            Reaudit(
                run_id=row["run_id"],
                done=row["done_at"] is not None,
                risk=row["risk"],
                changes=_CHANGES.validate_json(row["changes"] or "[]"),
                error_code=row["error_code"],
            )
            for row in rows
        )
        asked_at: datetime = rows[0]["asked_at"]
        return ReauditJob(
            job_id=job_id,
            state="done" if all(each.done for each in answers) else "running",
            asked_at=asked_at if asked_at.tzinfo is not None else asked_at.replace(tzinfo=UTC),
            answers=answers,
        )
