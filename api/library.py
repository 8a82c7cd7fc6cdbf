"""The documents as the agent's tools see them: catalogue and index, behind the principal's rights."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent.ports import DocumentCard
from ingest.catalog import Catalog
from ingest.types import Document
from retrieval.ports import LiveDocuments
from retrieval.store import VectorStore
from retrieval.types import Chunk, Principal, Scope, SearchFilter

_PAGE = 200


class DocumentLibrary:
    """Supplies `agent.ports.Library`."""

    def __init__(self, catalog: Catalog, store: VectorStore, live: LiveDocuments) -> None:
        self._catalog = catalog
        self._store = store
        self._live = live

    async def list_documents(self, principal: Principal, filter: SearchFilter, *, limit: int) -> Sequence[DocumentCard]:
        """Return the ready documents that the principal and the filter admit, newest first."""
        cards: list[DocumentCard] = []
        offset = 0
        while len(cards) < limit:
            page = await asyncio.to_thread(
                self._catalog.list, principal, states=("ready",), source=None, limit=_PAGE, offset=offset
            )
            cards += [_card(d) for d in page if _admits(filter, d) and await self._states(d, principal, filter)]
            offset += _PAGE
            if len(page) < _PAGE:
                break
        return cards[:limit]

    async def _states(self, document: Document, principal: Principal, filter: SearchFilter) -> bool:
        """Tell whether any chunk passes what the catalogue cannot answer: period and symbols."""
        if filter.period is None and not filter.symbols:
            return True
        only = filter.model_copy(update={"document_ids": frozenset({document.document_id})})
        return await self._store.count(Scope.of(principal, only)) > 0

    async def read_document(self, principal: Principal, document_id: str, filter: SearchFilter) -> Sequence[Chunk]:
        """Return a document's chunks in order; empty when it does not exist or is not admitted."""
        if document_id not in await self._live.live(principal.tenant, {document_id}):
            return ()
        return await self._store.document_chunks(document_id, Scope.of(principal, filter))


def _admits(filter: SearchFilter, document: Document) -> bool:
    """Apply the filter to a document as the store applies it to its chunks."""
    meta = document.meta
    if filter.document_ids is not None and document.document_id not in filter.document_ids:
        return False
    if filter.authority is not None and meta.authority != filter.authority:
        return False
    if filter.as_of is not None:
        begun = meta.effective_from is None or meta.effective_from <= filter.as_of
        ended = meta.effective_to is not None and meta.effective_to <= filter.as_of
        if not begun or ended:
            return False
    return filter.labels <= meta.labels and (filter.language is None or meta.language in {None, filter.language})


def _card(document: Document) -> DocumentCard:
    meta = document.meta
    return DocumentCard(
        document_id=document.document_id,
        title=document.title,
        issuer=meta.issuer,
        authority=meta.authority,
        language=meta.language or "other",
        format=document.format or "",
        pages=document.page_count,
        labels=meta.labels,
    )
