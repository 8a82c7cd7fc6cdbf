"""What became of documents that others relied on: still current, replaced, or deleted. Blocking; no access check."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from sqlalchemy import Connection, Engine, select

from ingest.catalog import select_documents
from ingest.editions import same_line
from ingest.tables import documents
from ingest.types import Document

_AT_ONCE = 500


class Standing:
    """Reads it from the catalogue."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def gone(self, tenant: str, document_ids: Collection[str]) -> dict[str, Literal["replaced", "deleted"]]:
        """Return those of the documents that are not current any more.

        `replaced`: a later version of its line is ready. An edition that a later one follows is replaced too,
        though it is still found as of its time. One whose row is gone was deleted.
        """
        found: dict[str, Literal["replaced", "deleted"]] = {}
        wanted = sorted(document_ids)
        with self._engine.connect() as connection:
            for at in range(0, len(wanted), _AT_ONCE):
                some = wanted[at : at + _AT_ONCE]
                mine = (documents.c.tenant == tenant, documents.c.document_id.in_(some))
                known = {each.document_id: each for each in select_documents(connection, *mine)}
                for document_id in some:
                    document = known.get(document_id)
                    if document is None:
                        found[document_id] = "deleted"
                    elif document.state in ("deleted", "superseded"):
                        follows = document.state == "superseded" or _successor(connection, document) is not None
                        found[document_id] = "replaced" if follows else "deleted"
        return found

    def successor(self, tenant: str, document_id: str) -> str | None:
        """Return the ready version of a document's line, itself where it is the one; None where there is none."""
        with self._engine.connect() as connection:
            found = select_documents(
                connection, documents.c.tenant == tenant, documents.c.document_id == document_id, limit=1
            )
            return _successor(connection, found[0]) if found else None


def _successor(connection: Connection, document: Document) -> str | None:
    ready = (
        select(documents.c.document_id)
        .where(same_line(document), documents.c.state == "ready", documents.c.version >= document.version)
        .order_by(documents.c.version.desc())
        .limit(1)
    )
    return connection.scalar(ready)
