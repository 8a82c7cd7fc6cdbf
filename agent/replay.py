"""Replays a stored run without model, tools or search, and tells where the code of now makes other events."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from agent.control import RunControl
from agent.errors import ReplayEndedError
from agent.events import Event, Notice, RunCancelled, RunFailed
from agent.loop import Agent
from agent.run import RunRequest
from agent.tape import TIMED, Entry, Tape, ToolEntry
from retrieval.types import Principal, Value

_MOST = 20
_VOLATILE = frozenset({"at", "latency_ms", "trace_id", "run_id", "prompt_tokens", "money"})
"""Fields that differ between any two runs, or with the wording of prompts, which no model reads here."""


class Difference(Value):
    """One place where the replay is not what was stored."""

    seq: int
    stored: str
    """Kind of the stored event; empty where there is none."""
    made: str
    """Kind of the event that is made now; empty where there is none."""
    fields: tuple[str, ...] = ()
    """Of equal kinds, the fields that differ."""


class Replayed(Value):
    """What a replay found."""

    run_id: str
    events: int
    """Stored."""
    compared: int
    differences: tuple[Difference, ...]
    """The first ones, in order; empty: the code of now makes the same run."""


async def replay(
    agent: Agent, request: RunRequest, principal: Principal, stored: Sequence[Event], entries: Sequence[Entry]
) -> Replayed:
    """Make the run's events once more from its tape.

    An event that a restart cut off, or that tells of time, is not made again and not compared; neither
    are those that belong to a tool's call, which is taken from the tape as a whole.
    """
    tape = Tape(stored, entries, strict=True)
    made: dict[int, Event] = {}
    ended = False
    try:
        async with aclosing(agent.run(request, principal, control=RunControl(), tape=tape)) as events:
            async for event in events:
                made[event.seq] = event
                if event.seq >= len(stored) + _MOST:
                    break
    except ReplayEndedError:
        ended = True
    skipped = _skipped(stored, entries, made)
    differences: list[Difference] = []
    for seq in range(max(len(stored), max(made, default=-1) + 1)):
        before, now = stored[seq] if seq < len(stored) else None, made.get(seq)
        if now is None and (seq in skipped or (ended and isinstance(before, RunFailed | RunCancelled))):
            continue
        if (found := _difference(seq, before, now)) is not None:
            differences.append(found)
            if before is None or now is None or before.kind != now.kind:
                break  # from here on everything is shifted
    return Replayed(
        run_id=request.run_id, events=len(stored), compared=len(made), differences=tuple(differences[:_MOST])
    )


def _skipped(stored: Sequence[Event], entries: Sequence[Entry], made: dict[int, Event]) -> frozenset[int]:
    """Return the numbers of the events that a replay cannot make."""
    timed = {event.seq for event in stored if isinstance(event, Notice) and event.code in TIMED}
    within = {seq for entry in entries if isinstance(entry, ToolEntry) for seq in range(entry.seq, entry.end_seq)}
    lost: set[int] = set()
    for entry in entries:
        seq = entry.seq - 1
        while 0 <= seq < len(stored) and seq not in made:
            lost.add(seq)
            seq -= 1
    return frozenset(timed | within | lost)


def _difference(seq: int, before: Event | None, now: Event | None) -> Difference | None:
    if before is None or now is None or before.kind != now.kind:
        return Difference(seq=seq, stored=before.kind if before else "", made=now.kind if now else "")
    former, later = _stable(before), _stable(now)
    fields = tuple(sorted(name for name in former if former[name] != later.get(name)))
    return Difference(seq=seq, stored=before.kind, made=now.kind, fields=fields) if fields else None


def _stable(event: Event) -> dict[str, Any]:
    return event.model_dump(mode="json", exclude=set(_VOLATILE))
