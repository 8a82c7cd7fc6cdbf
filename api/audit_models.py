"""What the audits' routes take and give."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field, StringConstraints

from agent.audit_report import AuditReport
from agent.audits import AuditRow, RiskDay
from retrieval.types import Value

Of = Annotated[Literal["me", "tenant"], Query(description="`tenant` needs the right `admin`.")]
Days = Annotated[int, Query(ge=1, le=366, description="How many days back, today (UTC) included.")]


class AuditList(Value):
    """A page of audits, newest first."""

    audits: tuple[AuditRow, ...]


class RiskFigures(Value):
    """Risk by day, newest first."""

    days: tuple[RiskDay, ...]


class AuditExport(Value):
    """Reports for keeping: verdicts, references, and hashes of answers and evidence."""

    exported_at: datetime
    reports: tuple[AuditReport, ...]
    next_after: str | None = None
    """What to give as `after` for those that follow; None: these are the last."""


class ReauditBody(Value):
    """Which of one's own answers are to be audited again."""

    run_ids: tuple[Annotated[str, StringConstraints(min_length=1, max_length=64)], ...] = Field(
        default=(), max_length=500
    )
    """Empty: those that are stale, at most 500."""


class ReauditTaken(Value):
    """A job that was taken in."""

    job_id: str | None
    """None: there is nothing to audit again."""
    answers: int
