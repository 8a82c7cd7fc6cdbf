"""Tapes and requests of runs in SQL, beside the journal. Blocking; call it from a thread.

A tape holds what a run was given, texts of documents among it. So it goes, whole, when a document
that the run used is erased: such a run can be read, but neither resumed nor replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, delete, func, insert, select, update

from agent.run import RunRequest
from agent.tables import run_requests, run_tapes
from agent.tape import ENTRY_ADAPTER, Entry
from agent.taped_texts import rewrite_entry
from retrieval.types import Principal, Value


class KeptRequest(Value):
    """What a run was asked, and for whom: with which rights it began."""

    request: RunRequest
    principal: Principal


def keep_request(connection: Connection, request: RunRequest, principal: Principal) -> None:
    """Write a run's request, before its first event."""
    body = KeptRequest(request=request, principal=principal).model_dump_json()
    connection.execute(insert(run_requests).values(run_id=request.run_id, body=body))


def read_request(connection: Connection, run_id: str) -> KeptRequest | None:
    """Return a run's request; None where none was kept."""
    body = connection.scalar(select(run_requests.c.body).where(run_requests.c.run_id == run_id))
    return None if body is None else KeptRequest.model_validate_json(body)


def add_entries(connection: Connection, run_id: str, entries: Sequence[Entry]) -> None:
    """Write more of a run's tape."""
    if not entries:
        return
    last = connection.scalar(select(func.max(run_tapes.c.n)).where(run_tapes.c.run_id == run_id))
    first = 0 if last is None else last + 1
    rows = [{"run_id": run_id, "n": n, "body": each.model_dump_json()} for n, each in enumerate(entries, first)]
    connection.execute(insert(run_tapes), rows)


def read_entries(connection: Connection, run_id: str) -> list[Entry]:
    """Return a run's tape in order."""
    bodies = connection.scalars(select(run_tapes.c.body).where(run_tapes.c.run_id == run_id).order_by(run_tapes.c.n))
    return [ENTRY_ADAPTER.validate_json(body) for body in bodies]


def erase_tapes(connection: Connection, run_ids: Sequence[str]) -> int:
    """Delete the tapes of these runs; return how many entries there were."""
    return connection.execute(delete(run_tapes).where(run_tapes.c.run_id.in_(run_ids))).rowcount if run_ids else 0


def count_entries(connection: Connection, run_ids: Sequence[str]) -> int:
    """Count what is left of the tapes of these runs."""
    query = select(func.count()).select_from(run_tapes).where(run_tapes.c.run_id.in_(run_ids))
    return (connection.scalar(query) or 0) if run_ids else 0


def rewrite_kept(connection: Connection, run_id: str, change: Callable[[str], str]) -> bool:
    """Put `change(text)` in the place of every text of a run's tape and request.

    Returns:
        False where an entry was changed by others meanwhile: roll back and try again.
    """
    kept = connection.scalar(select(run_requests.c.body).where(run_requests.c.run_id == run_id))
    if kept is not None:
        known = KeptRequest.model_validate_json(kept)
        update_ = {"question": change(known.request.question), "asked": change(known.request.asked)}
        body = known.model_copy(update={"request": known.request.model_copy(update=update_)}).model_dump_json()
        if body != kept:
            connection.execute(update(run_requests).where(run_requests.c.run_id == run_id).values(body=body))
    rows = connection.execute(select(run_tapes.c.n, run_tapes.c.body).where(run_tapes.c.run_id == run_id)).all()
    for n, before in rows:
        after = rewrite_entry(ENTRY_ADAPTER.validate_json(before), change).model_dump_json()
        if after == before:
            continue
        same = (run_tapes.c.run_id == run_id, run_tapes.c.n == n, run_tapes.c.body == before)
        if connection.execute(update(run_tapes).where(*same).values(body=after)).rowcount == 0:
            return False
    return True
