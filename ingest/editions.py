"""How a new version takes its place among the versions of its line."""

from __future__ import annotations

from datetime import date
from itertools import count
from pathlib import PurePosixPath

from sqlalchemy import ColumnElement, Connection, and_, select, update

from ingest.naming import source_name
from ingest.tables import documents, jobs
from ingest.types import Document


def same_line(document: Document) -> ColumnElement[bool]:
    """Return the condition that a row of `documents` is a version of the same line."""
    named = named_like(document.tenant, document.source, document.created_by)
    return and_(named, found_inside(document.parent_id is not None))


def named_like(tenant: str, source: str, created_by: str) -> ColumnElement[bool]:
    """Return the condition for rows of one name, uploads and documents found inside: they share version numbers."""
    return and_(
        documents.c.tenant == tenant,
        documents.c.source == source,
        documents.c.created_by == created_by,
    )


def found_inside(inside: bool) -> ColumnElement[bool]:
    """Return the condition for rows found inside others, or for uploads: neither takes the other's place."""
    return documents.c.parent_id.is_not(None) if inside else documents.c.parent_id.is_(None)


def rename_line(connection: Connection, tenant: str, source: str, created_by: str, name: str) -> str:
    """Give all versions of a name another one, and their jobs, in the caller's transaction; return the one given.

    Where others have it already, a number is put to it: two lines never become one.
    """
    if source == name:
        return name
    free = name
    for number in count(2):
        taken = connection.execute(select(documents.c.document_id).where(named_like(tenant, free, created_by)).limit(1))
        if taken.first() is None:
            break
        path = PurePosixPath(name)
        numbered = f"{path.stem} ({number}){path.suffix}"
        free = source_name(name[: len(name) - len(path.name)] + numbered, fallback=numbered)
    connection.execute(update(documents).where(named_like(tenant, source, created_by)).values(source=free))
    connection.execute(
        update(jobs)
        .where(jobs.c.tenant == tenant, jobs.c.source == source, jobs.c.created_by == created_by)
        .values(source=free)
    )
    return free


def take_place(connection: Connection, document: Document) -> bool:
    """Order the line's editions around `document`, which has just been made ready.

    - Another edition with the same effective date, or the ready one when `document` is
      undated: corrected, becomes deleted. An undated `document` takes over its first day, or
      begins where the last of the superseded ones ends.
    - The nearest edition before it: superseded from `document`'s first day on.
    - An edition after it: `document` itself is superseded from that one's first day on.
    - Failed versions before it: become deleted, so that nobody tries them again.

    A version may come late: one that failed and is tried again beside a later upload. A later
    version that is undated, or has the same date, has corrected it by then.

    Returns:
        False when a later version corrects `document`: it became deleted itself.
    """
    begins = document.meta.effective_from
    corrected: list[tuple[str, date | None]] = []
    ended: list[tuple[date, str]] = []
    former: tuple[date, str, date | None] | None = None
    later: tuple[date, str] | None = None
    editions = connection.execute(
        select(
            documents.c.document_id,
            documents.c.version,
            documents.c.effective_from,
            documents.c.superseded_from,
            documents.c.state,
        ).where(
            same_line(document),
            documents.c.state.in_(("ready", "superseded")),
            documents.c.document_id != document.document_id,
        )
    ).all()
    for edition in editions:
        starts: date | None = edition.effective_from
        overtakes = edition.version > document.version
        if overtakes and starts in (begins, None):
            _set(connection, document.document_id, state="deleted", purged=False)
            return False
        if begins is None and not overtakes:
            if edition.state == "ready":
                corrected.append((edition.document_id, starts))
            else:
                ended.append((edition.superseded_from, edition.document_id))
        elif begins is not None and starts == begins:
            corrected.append((edition.document_id, starts))
        elif starts is None or (begins is not None and starts < begins):
            place = (starts or date.min, edition.document_id, edition.superseded_from)
            former = place if former is None or place[0] > former[0] else former
        elif later is None or starts < later[0]:
            later = (starts, edition.document_id)
    for corrected_id, _ in corrected:
        _correct(connection, corrected_id, document.document_id)
    if begins is None:
        first = max((starts for _, starts in corrected if starts is not None), default=None)
        if not corrected and ended:
            # Named as its successor, so that the two are not in force together where that day is still to come.
            first, last = max(ended)
            _set(connection, last, superseded_by=document.document_id)
        _set(connection, document.document_id, effective_from=first)
    if former is not None and begins is not None:
        # Where the edition between the two was deleted, the gap stays a gap: a deleted
        # edition never brings an older one back.
        until = min(former[2] or begins, begins)
        _set(connection, former[1], state="superseded", superseded_from=until, superseded_by=document.document_id)
    if later is not None:
        _set(connection, document.document_id, state="superseded", superseded_from=later[0], superseded_by=later[1])
    connection.execute(
        update(documents)
        .where(same_line(document), documents.c.state == "failed", documents.c.version < document.version)
        .values(state="deleted", purged=False)
    )
    return True


def _correct(connection: Connection, corrected_id: str, document_id: str) -> None:
    _set(connection, corrected_id, state="deleted", purged=False)
    connection.execute(
        update(documents).where(documents.c.superseded_by == corrected_id).values(superseded_by=document_id)
    )


def _set(connection: Connection, document_id: str, **values: object) -> None:
    connection.execute(update(documents).where(documents.c.document_id == document_id).values(**values))
