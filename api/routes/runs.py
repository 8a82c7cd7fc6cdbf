"""Stored runs."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from agent.events import Event
from agent.journal import StoredRun
from api.auth import Caller
from api.container import Wired
from api.models import Limit

router = APIRouter(prefix="/v1/runs", tags=["runs"])


@router.get("")
async def runs(caller: Caller, wired: Wired, limit: Limit = 100, after: str | None = None) -> list[StoredRun]:
    """List the caller's runs, newest first."""
    return await asyncio.to_thread(wired.journal.list_runs, caller, limit=limit, after=after)


@router.get("/{run_id}")
async def run(run_id: str, caller: Caller, wired: Wired) -> StoredRun:
    """Show one run; a completed one carries the same terminal event that was streamed."""
    return await asyncio.to_thread(wired.journal.run, run_id, caller)


@router.get("/{run_id}/events")
async def events(run_id: str, caller: Caller, wired: Wired, after: int = -1) -> list[Event]:
    """Return a run's journal, from the event after `after` on."""
    return await asyncio.to_thread(wired.journal.events, run_id, caller, after)
