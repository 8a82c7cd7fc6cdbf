"""The databases that a run may query: SQLite documents, and databases an operator configured and took in."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath

from agent.errors import ToolError
from agent.ports import DocumentCard, Library
from agent.tools.databases import DatabaseCard
from agent.tools.sql.reading import DatabaseAccess
from ingest.catalog import Catalog
from ingest.errors import IngestError
from ingest.originals import Originals
from retrieval.types import Principal, SearchFilter

_MOST = 500
_CONFIGURED = "database:"
_ODD_RE = re.compile(r"[^\w-]+")


class TenantDatabases:
    """Supplies `agent.tools.databases.Databases`: visible is what the library shows."""

    def __init__(self, library: Library, catalog: Catalog, originals: Originals, configured: Mapping[str, str]) -> None:
        """Take the parts; `configured` maps names to SQLAlchemy URLs."""
        self._library, self._catalog, self._originals, self._configured = library, catalog, originals, configured

    async def visible(self, principal: Principal, filter: SearchFilter) -> Sequence[DatabaseCard]:
        """Return the databases among the documents that principal and filter admit."""
        listed = await self._library.list_documents(principal, filter, limit=_MOST)
        databases = [card for card in listed if card.format in {"sqlite", "database"}]
        return await asyncio.to_thread(self._named, principal, databases)

    @contextmanager
    def open(self, principal: Principal, database: DatabaseCard) -> Generator[DatabaseAccess, None, None]:
        """Decrypt a SQLite document for the time of one query, or give the configured URL. Blocking."""
        try:
            document = self._catalog.get(principal, database.document_id)
            if document.format == "database":
                url = self._configured.get(document.source.removeprefix(_CONFIGURED))
                if url is None:
                    raise ToolError("The database is not configured any more.")
                yield DatabaseAccess(url)
                return
            with self._originals.plain(principal.tenant, database.document_id) as path:
                yield DatabaseAccess(f"sqlite:///{path}", immutable=True)
        except IngestError as exc:
            raise ToolError("The database cannot be read just now.") from exc

    def _named(self, principal: Principal, cards: Sequence[DocumentCard]) -> list[DatabaseCard]:
        sources: list[tuple[DocumentCard, str]] = []
        for card in cards:
            try:
                document = self._catalog.get(principal, card.document_id)
            except IngestError:
                continue  # deleted a moment ago
            name = document.source.removeprefix(_CONFIGURED)
            if document.format != "database" or name in self._configured:
                sources.append((card, _ODD_RE.sub("_", PurePath(name).stem)[:24] or "database"))
        often = Counter(name.casefold() for _, name in sources)
        return [
            DatabaseCard(
                name=name if often[name.casefold()] == 1 else f"{name[:16]}_{card.document_id[:6]}",
                document_id=card.document_id,
                title=card.title,
                authority=card.authority,
                labels=card.labels,
            )
            for card, name in sorted(sources, key=lambda pair: pair[1].casefold())
        ]
