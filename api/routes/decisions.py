"""The decision log: why something was found, or not."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from api.auth import Caller, require
from api.container import Wired
from api.models import DecisionList, Limit
from retrieval.decisions import Decision, Kind

router = APIRouter(prefix="/v1", tags=["decisions"])


@router.get("/decisions")
async def decisions(
    caller: Caller,
    wired: Wired,
    run_id: Annotated[str | None, Query(description="Only those of this run.")] = None,
    kind: Annotated[Kind | None, Query(description="Only these.")] = None,
    limit: Limit = 100,
    after: Annotated[str | None, Query(description="Id of a decision: only those that follow it.")] = None,
) -> DecisionList:
    """List what the trigger and search decided in the caller's tenant, newest first. Needs the right `admin`."""
    require(caller, "admin")
    found = await wired.decisions.read(caller.tenant, kind=kind, run_id=run_id, limit=limit, after=after)
    return DecisionList(decisions=tuple(found))


@router.get("/decisions/{decision_id}")
async def decision(decision_id: str, caller: Caller, wired: Wired) -> Decision:
    """Show one decision. Needs the right `admin`."""
    require(caller, "admin")
    return await wired.decisions.get(caller.tenant, decision_id)


@router.get("/runs/{run_id}/decisions")
async def decisions_of_run(run_id: str, caller: Caller, wired: Wired, limit: Limit = 100) -> DecisionList:
    """List what was decided in a run of the caller's own, newest first."""
    await asyncio.to_thread(wired.journal.run, run_id, caller)  # for anybody else there is no such run
    found = await wired.decisions.read(caller.tenant, run_id=run_id, limit=limit)
    return DecisionList(decisions=tuple(found))
