"""Stored runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Response, WebSocket, WebSocketDisconnect

from agent.errors import UnknownRunError
from agent.events import Event
from agent.journal import StoredRun
from api.auth import Caller, authenticate
from api.container import Container, Wired
from api.errors import UnauthenticatedError
from api.models import Limit
from api.revealing import reveal_run
from api.routes.vault import no_store
from api.sse import event_stream
from api.vault_models import RevealedRun, RunRevealBody
from retrieval.types import Principal

router = APIRouter(prefix="/v1/runs", tags=["runs"])
live = APIRouter(tags=["runs"])
_REFUSED = 1008


@router.get("")
async def runs(caller: Caller, wired: Wired, limit: Limit = 100, after: str | None = None) -> list[StoredRun]:
    """List the caller's runs, newest first."""
    return await asyncio.to_thread(wired.journal.list_runs, caller, limit=limit, after=after)


@router.get("/{run_id}")
async def run(run_id: str, caller: Caller, wired: Wired) -> StoredRun:
    """Show one run; a completed one carries the same terminal event that was streamed."""
    return await asyncio.to_thread(wired.journal.run, run_id, caller)


@router.get("/{run_id}/events", response_model=list[Event])
async def events(
    run_id: str,
    caller: Caller,
    wired: Wired,
    after: int = -1,
    accept: Annotated[str, Header()] = "",
    last_event_id: Annotated[str, Header()] = "",
) -> Response | list[Event]:
    """Return a run's journal, from the event after `after` on.

    With `Accept: text/event-stream` the events are streamed, and a run that goes on is followed to its end;
    `Last-Event-ID` is the `after` of a browser that connects again.
    """
    if "text/event-stream" not in accept:
        return await asyncio.to_thread(wired.journal.events, run_id, caller, after)
    if last_event_id.isdecimal():
        after = int(last_event_id[:9])
    return event_stream(await follow(wired, caller, run_id, after))


@live.websocket("/v1/runs/{run_id}/ws")
async def websocket(socket: WebSocket, run_id: str, after: int = -1) -> None:
    """Follow a run like its `events`, a JSON text for each; closed with 1000 at its end."""
    wired: Container = socket.app.state.container
    try:
        told = await follow(wired, authenticate(socket), run_id, after)
    except (UnauthenticatedError, UnknownRunError):
        await socket.close(_REFUSED)
        return
    await socket.accept()
    try:
        async for event in told:
            await socket.send_text(event.model_dump_json())
        await socket.close()
    except WebSocketDisconnect:
        return


async def follow(wired: Container, caller: Principal, run_id: str, after: int) -> AsyncIterator[Event]:
    """Return a run's events from the one after `after` on: of one in flight to its end, else what is stored.

    Raises:
        UnknownRunError: no such run, or another user's.
    """
    going = wired.runs.going(run_id, caller)
    if going is not None:
        return going.follow(after)
    return _each(await asyncio.to_thread(wired.journal.events, run_id, caller, after))


async def _each(stored: list[Event]) -> AsyncIterator[Event]:
    for event in stored:
        yield event


@router.post("/{run_id}/reveal")
async def reveal(run_id: str, body: RunRevealBody, caller: Caller, wired: Wired, response: Response) -> RevealedRun:
    """Show a run of the caller's own with the values behind its pseudonyms. Needs the right `reveal`; logged."""
    no_store(response)
    return await asyncio.to_thread(reveal_run, wired.journal, wired.vault, wired.reveals, caller, run_id, body.reason)
