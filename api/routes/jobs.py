"""Ingestion jobs."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from api.auth import Caller
from api.container import Wired
from api.models import JobList, Limit, Offset, RetryBody
from ingest.types import Job

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("")
async def jobs(caller: Caller, wired: Wired, limit: Limit = 100, offset: Offset = 0) -> JobList:
    """List the tenant's jobs, newest first."""
    found = await asyncio.to_thread(wired.ingestion.list_jobs, caller, limit=limit, offset=offset)
    return JobList(jobs=tuple(found))


@router.get("/{job_id}")
async def job(job_id: str, caller: Caller, wired: Wired) -> Job:
    """Show one job with its progress."""
    return await asyncio.to_thread(wired.ingestion.get_job, caller, job_id)


@router.post("/{job_id}/retry")
async def retry(job_id: str, caller: Caller, wired: Wired, body: RetryBody | None = None) -> Job:
    """Queue a failed job again, with another password where the document needs one; other jobs stay as they are."""
    given = body.password if body is not None else None
    return await wired.ingestion.retry(caller, job_id, password=given.get_secret_value() if given else None)


@router.post("/{job_id}/cancel")
async def cancel(job_id: str, caller: Caller, wired: Wired) -> Job:
    """End a job that is not over, and drop its document."""
    return await wired.ingestion.cancel(caller, job_id)
