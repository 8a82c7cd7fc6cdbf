"""Stored runs."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from agent.events import Event
from agent.journal import StoredRun
from api.auth import Caller
from api.container import Wired
from api.models import Limit
from api.revealing import reveal_run
from api.routes.vault import no_store
from api.vault_models import RevealedRun, RunRevealBody

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


@router.post("/{run_id}/reveal")
async def reveal(run_id: str, body: RunRevealBody, caller: Caller, wired: Wired, response: Response) -> RevealedRun:
    """Show a run of the caller's own with the values behind its pseudonyms. Needs the right `reveal`; logged."""
    no_store(response)
    return await asyncio.to_thread(reveal_run, wired.journal, wired.vault, wired.reveals, caller, run_id, body.reason)
