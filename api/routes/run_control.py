"""What people want of a run that is going on. Its owner may, and who administers the tenant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter

from agent.control import Edit, RunControl
from agent.errors import RunConflictError
from agent.replay import Replayed
from agent.rewriting import change_within
from api.auth import Caller, require
from api.container import Container, Wired
from api.run_models import AnswerBody, EditBody, ExportedRun, Standing
from retrieval.types import Principal

router = APIRouter(prefix="/v1/runs/{run_id}", tags=["runs"])


@router.post("/pause", status_code=202)
async def pause(run_id: str, caller: Caller, wired: Wired) -> Standing:
    """Stop before the next step or call; `run_paused` tells when it has."""
    return await _want(run_id, caller, wired, RunControl.pause)


@router.post("/resume", status_code=202)
async def resume(run_id: str, caller: Caller, wired: Wired) -> Standing:
    """Go on."""
    return await _want(run_id, caller, wired, RunControl.resume)


@router.post("/approve", status_code=202)
async def approve(run_id: str, caller: Caller, wired: Wired) -> Standing:
    """Say yes to the call or the plan item that waits."""
    return await _want(run_id, caller, wired, lambda control: control.decide(approved=True))


@router.post("/deny", status_code=202)
async def deny(run_id: str, caller: Caller, wired: Wired) -> Standing:
    """Say no to the call or the plan item that waits."""
    return await _want(run_id, caller, wired, lambda control: control.decide(approved=False))


@router.post("/answer", status_code=202)
async def answer(run_id: str, body: AnswerBody, caller: Caller, wired: Wired) -> Standing:
    """Answer the run's question."""
    text = wired.language.symbolise(body.text, tenant=caller.tenant).text
    return await _want(run_id, caller, wired, lambda control: control.answer(text))


@router.post("/edit", status_code=202)
async def edit(run_id: str, body: EditBody, caller: Caller, wired: Wired) -> Standing:
    """Change a paused run: its question, an item of its plan, or the arguments of the call that comes next."""

    def hidden(value: Any) -> Any:
        return change_within(value, lambda text: wired.language.symbolise(text, tenant=caller.tenant).text)

    if body.question is not None:
        wanted = Edit(target="question", text=hidden(body.question))
    elif body.plan_item is not None:
        wanted = Edit(target="plan_item", item=body.plan_item, text=hidden(body.text))
    else:
        wanted = Edit(target="call", arguments=hidden(body.arguments))
    return await _want(run_id, caller, wired, lambda control: control.edit(wanted))


@router.post("/cancel", status_code=202)
async def cancel(run_id: str, caller: Caller, wired: Wired) -> Standing:
    """End the run; its last event is `run_cancelled`."""
    require(caller, "chat")
    live = wired.runs.going(run_id, caller)
    if live is None:
        raise await _gone(run_id, caller, wired)
    await wired.runs.cancel(live)
    return Standing(run_id=run_id, state="cancelled")


@router.post("/replay")
async def replay(run_id: str, caller: Caller, wired: Wired) -> Replayed:
    """Make the run once more from its tape, without model, tools or search, and tell what comes out otherwise."""
    recorded = await asyncio.to_thread(wired.journal.recorded, run_id, caller)
    if wired.runs.going(run_id, caller) is not None:
        raise RunConflictError("the run is still going on")
    return await wired.runs.replay(recorded)


@router.get("/export")
async def export(run_id: str, caller: Caller, wired: Wired) -> ExportedRun:
    """Return the run as a case for evaluations: its question, its events and its tape, with pseudonyms only."""
    recorded = await asyncio.to_thread(wired.journal.recorded, run_id, caller)
    if recorded.kept is None:
        raise RunConflictError("the run was made before requests were kept; its events are all there is")
    asked = recorded.kept.request
    return ExportedRun(question=asked.question, language=asked.language, events=recorded.events, tape=recorded.entries)


async def _want(run_id: str, caller: Principal, wired: Container, wish: Callable[[RunControl], None]) -> Standing:
    require(caller, "chat")
    live = wired.runs.going(run_id, caller)
    if live is None:
        raise await _gone(run_id, caller, wired)
    wish(live.control)
    return Standing(run_id=run_id, state="running", waiting=live.control.waiting)


async def _gone(run_id: str, caller: Principal, wired: Container) -> RunConflictError:
    """Tell that the run has ended; for who may not know of it there is no such run."""
    run = await asyncio.to_thread(wired.journal.run, run_id, caller)
    return RunConflictError(f"the run has ended: {run.state}")
