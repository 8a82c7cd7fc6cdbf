"""Server-sent events: the only place that knows their form."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse, ServerSentEvent

from agent.events import Event

_PING_S = 15


def event_stream(events: AsyncIterator[Event]) -> EventSourceResponse:
    """Send each event as `id: <seq>`, `event: <kind>`, `data: <json>`.

    After the first byte the HTTP status cannot change, so a failure is an event
    (`run_failed`) and the last one.
    """
    return EventSourceResponse(_serialise(events), ping=_PING_S, headers={"Cache-Control": "no-store"})


async def _serialise(events: AsyncIterator[Event]) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        yield ServerSentEvent(data=event.model_dump_json(), event=event.kind, id=str(event.seq))
