"""Audits: what they came to, which are stale, reports, exports, and past answers audited again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from agent.audit.verdicts import Risk
from agent.audit_report import AuditReport, report_of
from agent.audits import AuditRow
from agent.errors import UnknownRunError
from agent.reaudits import ReauditJob
from api.audit_models import AuditExport, AuditList, Days, Of, ReauditBody, ReauditTaken, RiskFigures
from api.audit_page import PAGE_HEADERS, render_audit
from api.auth import Caller, require
from api.container import Wired
from api.models import Limit
from retrieval.types import Principal

router = APIRouter(prefix="/v1/audits", tags=["audits"])

_EXPORTED = 200
_AGAIN = 500


@router.get("")
async def audits(
    caller: Caller,
    wired: Wired,
    of: Of = "me",
    risk: Annotated[Risk | None, Query(description="Only of this risk.")] = None,
    limit: Limit = 100,
    after: Annotated[str | None, Query(description="Run of the last audit that was read.")] = None,
) -> AuditList:
    """List audits, newest first: risk, verdicts in figures, sources by reference and hash."""
    user = _user(caller, of)
    rows = await asyncio.to_thread(
        wired.audits.book.rows, caller.tenant, user=user, risk=risk, limit=limit, after=after
    )
    return AuditList(audits=tuple(rows))


@router.get("/stale")
async def stale(caller: Caller, wired: Wired, of: Of = "me", limit: Limit = 100, after: str | None = None) -> AuditList:
    """List the answers that relied on documents which are replaced or deleted now."""
    user = _user(caller, of)
    await wired.audits.recall.check(caller.tenant)
    rows = await asyncio.to_thread(
        wired.audits.book.rows, caller.tenant, user=user, stale=True, limit=limit, after=after
    )
    return AuditList(audits=tuple(rows))


@router.get("/risk")
async def risk(caller: Caller, wired: Wired, of: Of = "me", days: Days = 30) -> RiskFigures:
    """Show the risk figures of each day that had answers."""
    user = _user(caller, of)
    found = await asyncio.to_thread(wired.audits.book.days, caller.tenant, _since(days), user=user)
    return RiskFigures(days=tuple(found))


@router.get("/export")
async def export(
    caller: Caller,
    wired: Wired,
    of: Of = "me",
    days: Days = 30,
    after: Annotated[str | None, Query(description="`next_after` of the former page.")] = None,
) -> AuditExport:
    """Export audits for keeping, newest first. Texts stand only in those of the caller's own answers."""
    user = _user(caller, of)
    rows = await asyncio.to_thread(
        wired.audits.book.rows, caller.tenant, user=user, since=_since(days), limit=_EXPORTED + 1, after=after
    )
    reports: list[AuditReport] = []
    for row in rows[:_EXPORTED]:
        with suppress(UnknownRunError):  # deleted since the list was read
            reports.append(await _report(wired, caller, row))
    return AuditExport(
        exported_at=datetime.now(UTC),
        reports=tuple(reports),
        next_after=rows[_EXPORTED - 1].run_id if len(rows) > _EXPORTED else None,
    )


@router.post("/reaudits", status_code=202)
async def reaudit(body: ReauditBody, caller: Caller, wired: Wired) -> ReauditTaken:
    """Audit past answers of the caller's own against the documents of now, in the background."""
    require(caller, "chat")
    run_ids = body.run_ids
    if not run_ids:
        await wired.audits.recall.check(caller.tenant)
        rows = await asyncio.to_thread(
            wired.audits.book.rows, caller.tenant, user=caller.user, stale=True, limit=_AGAIN
        )
        run_ids = tuple(row.run_id for row in rows)
    if not run_ids:
        return ReauditTaken(job_id=None, answers=0)
    job_id = await wired.audits.reauditor.ask(caller, run_ids)
    return ReauditTaken(job_id=job_id, answers=len(set(run_ids)))


@router.get("/reaudits/{job_id}")
async def reaudit_job(job_id: str, caller: Caller, wired: Wired) -> ReauditJob:
    """Show a job of the caller's own: which verdicts are others by the documents of now."""
    return await asyncio.to_thread(wired.audits.jobs.job, job_id, caller)


@router.get("/{run_id}")
async def audit(run_id: str, caller: Caller, wired: Wired) -> AuditReport:
    """Show the audit of one answer. With the right `admin` also of others' answers, then without texts."""
    return await _report(wired, caller, await _row(wired, caller, run_id))


@router.get("/{run_id}/page", response_class=HTMLResponse)
async def page(run_id: str, caller: Caller, wired: Wired) -> Response:
    """Show the audit of one answer as a page: each sentence beside what its sources say."""
    report = await _report(wired, caller, await _row(wired, caller, run_id))
    return HTMLResponse(render_audit(report), headers=PAGE_HEADERS)


def _user(caller: Principal, of: str) -> str | None:
    """Return whose audits are meant; None: all of the tenant."""
    if of == "me":
        return caller.user
    require(caller, "admin")
    return None


def _since(days: int) -> date:
    return datetime.now(UTC).date() - timedelta(days=days - 1)


async def _row(wired: Wired, caller: Principal, run_id: str) -> AuditRow:
    user = None if caller.may("admin") else caller.user
    return await asyncio.to_thread(wired.audits.book.row, run_id, caller.tenant, user=user)


async def _report(wired: Wired, caller: Principal, row: AuditRow) -> AuditReport:
    owner = Principal(tenant=caller.tenant, user=row.user)
    stored = await asyncio.to_thread(wired.journal.run, row.run_id, owner)
    if stored.completed is None:
        raise UnknownRunError(f"there is no audit of a run {row.run_id!r}")
    return report_of(row, stored.completed, stored.question, texts=row.user == caller.user)
