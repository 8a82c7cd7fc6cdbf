"""Documents inside documents, as SQL sees them: who is whose child, and what becomes of children with their parent.

A child is a document like any other (own line, own versions, own access list) that names its parent.
All functions write in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, update

from ingest.editions import same_line
from ingest.tables import documents
from ingest.types import Document

MAX_DEPTH = 3
"""A message in an archive in a message: what lies deeper is not opened."""
_MANY = 500
_KEPT = ("pending", "ready", "superseded", "failed")


def descendants(
    connection: Connection, *roots: ColumnElement[bool], kept: bool = True, only: ColumnElement[bool] | None = None
) -> list[str]:
    """Return the ids of all documents inside the documents that match `roots`, parents first.

    Args:
        connection: the caller's transaction.
        roots: conditions on the rows of `documents` to begin with; these are not returned.
        kept: leave out deleted ones, and what is inside them.
        only: a condition on those that are returned, not on those in between.
    """
    conditions = () if only is None else (only,)
    found: list[str] = []
    for level in _levels(*roots, kept=kept):
        ids = connection.execute(level.where(*conditions).order_by(documents.c.document_id))
        found += [each.document_id for each in ids]
    return found


def depth(connection: Connection, document: Document) -> int:
    """Return how many documents the document lies in; 0 for an upload."""
    return len(_above(connection, document))


def size_below_root(connection: Connection, document: Document) -> tuple[int, int]:
    """Return how many documents were found inside the outermost one so far, and their bytes."""
    above = _above(connection, document)
    root = above[-1] if above else document.document_id
    number = size = 0
    for level in _levels(documents.c.document_id == root):
        inside = level.with_only_columns(func.count(), func.coalesce(func.sum(documents.c.size_bytes), 0))
        counted = connection.execute(inside).one()
        number, size = number + int(counted[0]), size + int(counted[1])
    return number, size


def delete_inside(connection: Connection, *roots: ColumnElement[bool]) -> list[str]:
    """Mark everything inside the documents that match `roots` deleted; return the ids of what was not before."""
    inside = descendants(connection, *roots)
    for some in _pieces(inside):
        connection.execute(
            update(documents).where(documents.c.document_id.in_(some)).values(state="deleted", purged=False)
        )
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
    corrected = and_(same_line(parent), documents.c.state == "deleted")
    theirs = documents.c.parent_id.in_(select(documents.c.document_id).where(corrected).correlate(None))
    for some in _pieces(sources):
        connection.execute(
            update(documents)
            .where(theirs, documents.c.source.in_(some), documents.c.state.in_(_KEPT))
            .values(parent_id=parent.document_id)
        )
    gone = delete_inside(connection, corrected)
    ended = connection.execute(
        select(documents.c.document_id, documents.c.superseded_from, documents.c.superseded_by).where(
            same_line(parent),
            documents.c.state == "superseded",
            documents.c.superseded_by == parent.document_id,
        )
    ).all()
    for each in ended:
        children = connection.execute(
            select(documents.c.document_id, documents.c.source).where(documents.c.parent_id == each.document_id)
        )
        left = [child.document_id for child in children if child.source not in sources]
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


def _levels(*roots: ColumnElement[bool], kept: bool = True) -> Iterator[Select[tuple[str]]]:
    """Give, for each depth, the statement for the ids of the documents there."""
    alive = (documents.c.state.in_(_KEPT),) if kept else ()
    level = select(documents.c.document_id).where(*roots).correlate(None)
    for _ in range(MAX_DEPTH):
        # Nested statements instead of lists of ids: a line has as many tombstones as it ever had versions.
        level = select(documents.c.document_id).where(documents.c.parent_id.in_(level), *alive).correlate(None)
        yield level


def _end(connection: Connection, document_ids: Sequence[str], day: object, by: str) -> None:
    """Supersede ready documents, and all inside them, from a day on."""
    for some in _pieces(document_ids):
        inside = descendants(connection, documents.c.document_id.in_(some))
        for each in _pieces([*some, *inside]):
            connection.execute(
                update(documents)
                .where(documents.c.document_id.in_(each), documents.c.state == "ready")
                .values(state="superseded", superseded_from=day, superseded_by=by)
            )


def _pieces(values: Collection[str]) -> Iterator[Sequence[str]]:
    """Part values for `IN`: databases bound the number of parameters."""
    rest = iter(values)
    while some := list(islice(rest, _MANY)):
        yield some
