"""Documents inside documents, as SQL sees them: who is whose child, and what becomes of children with their parent.

A child is a document like any other (own line, own versions, own access list) that names its parent.
All functions write in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, func, select, update

from ingest.editions import same_line
from ingest.tables import documents
from ingest.types import Document

MAX_DEPTH = 3
"""A message in an archive in a message: what lies deeper is not opened."""
_KEPT = ("pending", "ready", "superseded", "failed")


def descendants(connection: Connection, *roots: ColumnElement[bool], kept: bool = True) -> list[str]:
    """Return the ids of all documents inside the documents that match `roots`, parents first.

    Args:
        connection: the caller's transaction.
        roots: conditions on the rows of `documents` to begin with; these are not returned.
        kept: leave out deleted ones, and what is inside them.
    """
    alive = (documents.c.state.in_(_KEPT),) if kept else ()
    found: list[str] = []
    parents: Collection[str] = connection.execute(select(documents.c.document_id).where(*roots)).scalars().all()
    for _ in range(MAX_DEPTH):
        inside = select(documents.c.document_id).where(documents.c.parent_id.in_(parents), *alive)
        parents = connection.execute(inside.order_by(documents.c.document_id)).scalars().all()
        found += parents
        if not parents:
            break
    return found


def depth(connection: Connection, document: Document) -> int:
    """Return how many documents the document lies in; 0 for an upload."""
    return len(_above(connection, document))


def size_below_root(connection: Connection, document: Document) -> tuple[int, int]:
    """Return how many documents were found inside the outermost one so far, and their bytes."""
    above = _above(connection, document)
    root = above[-1] if above else document.document_id
    inside = descendants(connection, documents.c.document_id == root)
    size = connection.execute(
        select(func.coalesce(func.sum(documents.c.size_bytes), 0)).where(documents.c.document_id.in_(inside))
    ).scalar_one()
    return len(inside), int(size)


def delete_inside(connection: Connection, document_ids: Collection[str]) -> list[str]:
    """Mark everything inside these documents deleted; return the ids of what was not deleted before."""
    inside = descendants(connection, documents.c.document_id.in_(document_ids))
    _delete(connection, inside)
    return inside


def follow_parent(connection: Connection, parent: Document, sources: Collection[str]) -> list[str]:
    """Let the children of the other versions of `parent`'s line go where it took the place of these.

    `parent` has just been made ready, and has children named `sources`. Of a version that was corrected,
    children of these names become `parent`'s, to be followed by their new version or to be found unchanged;
    the others are deleted with all inside them. Of a version that is superseded now, children that
    `parent` does not have end on the same day as it.

    Returns:
        The ids of the deleted ones: their jobs are to be stopped.
    """
    others = connection.execute(
        select(
            documents.c.document_id, documents.c.state, documents.c.superseded_from, documents.c.superseded_by
        ).where(same_line(parent), documents.c.document_id != parent.document_id)
    ).all()
    corrected = [each.document_id for each in others if each.state == "deleted"]
    connection.execute(
        update(documents)
        .where(documents.c.parent_id.in_(corrected), documents.c.source.in_(sources), documents.c.state.in_(_KEPT))
        .values(parent_id=parent.document_id)
    )
    gone = delete_inside(connection, corrected)
    for each in others:
        if each.state == "superseded" and each.superseded_by == parent.document_id:
            left = _children(connection, each.document_id, documents.c.source.not_in(sources))
            _end(connection, left, each.superseded_from, each.superseded_by)
    return gone


def end_with_parent(connection: Connection, document: Document) -> None:
    """Give a child that has just been made ready the last day of its parent, where that is superseded already."""
    parent = connection.execute(
        select(documents.c.superseded_from, documents.c.superseded_by).where(
            documents.c.document_id == document.parent_id, documents.c.state == "superseded"
        )
    ).one_or_none()
    if parent is not None:
        _end(connection, [document.document_id], parent.superseded_from, parent.superseded_by)


def _above(connection: Connection, document: Document) -> list[str]:
    """Return the ids of the documents that the document lies in, the nearest first."""
    above: list[str] = []
    parent = document.parent_id
    while parent is not None and len(above) <= MAX_DEPTH:
        above.append(parent)
        parent = connection.execute(
            select(documents.c.parent_id).where(documents.c.document_id == parent)
        ).scalar_one_or_none()
    return above


def _children(connection: Connection, document_id: str, *conditions: ColumnElement[bool]) -> list[str]:
    children = connection.execute(
        select(documents.c.document_id).where(documents.c.parent_id == document_id, *conditions)
    ).scalars()
    return list(children)


def _end(connection: Connection, document_ids: Collection[str], day: object, by: str) -> None:
    """Supersede ready documents, and all inside them, from a day on."""
    inside = descendants(connection, documents.c.document_id.in_(document_ids))
    connection.execute(
        update(documents)
        .where(documents.c.document_id.in_([*document_ids, *inside]), documents.c.state == "ready")
        .values(state="superseded", superseded_from=day, superseded_by=by)
    )


def _delete(connection: Connection, document_ids: Collection[str]) -> None:
    connection.execute(
        update(documents).where(documents.c.document_id.in_(document_ids)).values(state="deleted", purged=False)
    )
