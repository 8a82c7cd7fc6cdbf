"""Pictures of pages: where a citation stands, as the page shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

from ingest.catalog import Catalog
from ingest.errors import CorruptDocumentError, UnknownPageError
from ingest.originals import Originals
from ingest.types import Document, ParsedDocument
from ingest.vault import Vault
from retrieval.store import VectorStore
from retrieval.symbols.tenant_language import TenantLanguage
from retrieval.types import Box, Principal, Scope

_WITH_PAGES = frozenset({"pdf", "image"})


class Draughtsman(Protocol):
    """Draws in a process of its own; see `ingest.parsers.drawing.draw_page`."""

    async def parse(
        self,
        path: Path,
        display_name: str,
        *,
        password: str | None = None,
        attachments: Path | None = None,
        instructions: Mapping[str, object],
    ) -> ParsedDocument:
        """Follow the instructions and leave the picture among the attachments."""
        ...


class PageImages:
    """Draws pages of documents for principals; hides secrets from those who did not ask for them with the right."""

    def __init__(
        self,
        catalog: Catalog,
        originals: Originals,
        vault: Vault,
        store: VectorStore,
        draughtsman: Draughtsman,
        language: Callable[[str], TenantLanguage],
    ) -> None:
        """Take the parts; `language` gives that of a tenant, whose own secrets are hidden too."""
        self._catalog = catalog
        self._originals = originals
        self._vault = vault
        self._store = store
        self._draughtsman = draughtsman
        self._language = language

    async def png(
        self,
        principal: Principal,
        document_id: str,
        page_number: int,
        *,
        chunk_id: str | None = None,
        dpi: int = 110,
        reveal_reason: str | None = None,
    ) -> bytes:
        """Return a page as PNG.

        Args:
            principal: who asks.
            document_id: a document this principal may see.
            page_number: from 1.
            chunk_id: marks the boxes of this chunk.
            dpi: 36 to 300.
            reveal_reason: shows secrets too; needs the right `reveal`, and is logged.

        Raises:
            UnknownDocumentError: no such document for this principal.
            UnknownPageError: the document has no pages, not this one, or no such chunk.
            NotPermittedError: secrets asked for without the right.
            IngestError: the page cannot be drawn.
        """
        document = await asyncio.to_thread(self._catalog.get, principal, document_id)
        if document.format not in _WITH_PAGES:
            raise UnknownPageError(f"document {document_id!r}: its format has no pages to show")
        if document.page_count is not None and not 1 <= page_number <= document.page_count:
            raise UnknownPageError(f"document {document_id!r}: no page {page_number}, it has {document.page_count}")
        boxes = await self._boxes(principal, document, page_number, chunk_id)
        if reveal_reason is not None:
            # Logged before anything is shown: no secret leaves without a trace.
            await asyncio.to_thread(
                self._vault.permit_reveal, principal, f"page {page_number} of {document_id}", reveal_reason
            )
        return await self._draw(
            document,
            {
                "page_number": page_number,
                "dpi": dpi,
                "boxes": [(box.x0, box.y0, box.x1, box.y1) for box in boxes],
                "hides_secrets": reveal_reason is None,
                **(_own_secrets(self._language(principal.tenant)) if reveal_reason is None else {}),
            },
        )

    async def _boxes(
        self, principal: Principal, document: Document, page_number: int, chunk_id: str | None
    ) -> list[Box]:
        if chunk_id is None:
            return []
        chunks = await self._store.document_chunks(document.document_id, Scope.of(principal))
        for chunk in chunks:
            if chunk.chunk_id == chunk_id:
                return [box for box in chunk.boxes if box.page_number == page_number]
        raise UnknownPageError(f"document {document.document_id!r}: no chunk {chunk_id!r}")

    async def _draw(self, document: Document, instructions: dict[str, object]) -> bytes:
        tenant, document_id = document.tenant, document.document_id
        async with AsyncExitStack() as stack:
            path = await asyncio.to_thread(stack.enter_context, self._originals.plain(tenant, document_id))
            folder = await asyncio.to_thread(stack.enter_context, self._originals.inside(document_id))
            password = await asyncio.to_thread(self._originals.password, tenant, document_id)
            return await draw(self._draughtsman, path, document.source, folder, instructions, password)


def _own_secrets(language: TenantLanguage) -> dict[str, object]:
    """Return the texts that only this tenant calls secret, and those that were erased, as `Drawing` takes them."""
    rules, gone = language.rules, language.erased_texts
    names = [list(person.names) for person in rules.persons]
    names += [[each.text] for each in rules.corrections if each.verdict == "secret"]
    own: dict[str, object] = {"persons": [{"names": each} for each in names]}
    if gone is not None:
        own |= {"erased_texts": [each.model_dump() for each in gone.texts], "erased_key": gone.key.hex()}
    return own


async def draw(
    draughtsman: Draughtsman,
    path: Path,
    display_name: str,
    folder: Path,
    instructions: Mapping[str, object],
    password: str | None,
) -> bytes:
    """Have a page drawn and return it as PNG.

    Args:
        draughtsman: the drawing processes.
        path: the file.
        display_name: what messages call it.
        folder: an empty folder for the picture.
        instructions: fields of `ingest.parsers.pictures.canvas.Drawing`.
        password: opens an encrypted document.

    Raises:
        IngestError: the page cannot be drawn.
    """
    drawn = await draughtsman.parse(
        path, display_name, password=password, attachments=folder, instructions=instructions
    )
    if not drawn.attachments:
        raise CorruptDocumentError(f"{display_name}: the page cannot be drawn")
    return await asyncio.to_thread((folder / drawn.attachments[0].file).read_bytes)
