"""Ingestion jobs."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from api.auth import Caller
from api.container import Wired
from api.models import JobList, Limit, Offset
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
