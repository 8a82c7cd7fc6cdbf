"""Removing what a document left behind, and proving it: the deletion receipt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from ingest.catalog import Clock, utc_now
from ingest.children import StagedChildren
from ingest.lifecycle import Lifecycle
from ingest.originals import Originals
from ingest.types import DeletionReceipt
from ingest.vault import Vault
from retrieval.store import VectorStore


class Remains(Protocol):
    """One place where a document leaves traces. Other rooms may add theirs (caches, artifacts)."""

    @property
    def name(self) -> str:
        """Name of the probe on the receipt."""
        ...

    async def erase(self, tenant: str, document_id: str) -> int:
        """Remove the document's traces; return how many there were. Repeatable."""
        ...

    async def left(self, tenant: str, document_id: str) -> int:
        """Count what is still there."""
        ...


class ChunkRemains:
    """Chunks, their vectors and symbols in the store, staged ones included."""

    name = "chunks"

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    async def erase(self, tenant: str, document_id: str) -> int:
        """Delete the document's chunks."""
        return await self._store.delete(tenant, document_id)

    async def left(self, tenant: str, document_id: str) -> int:
        """Count the document's chunks."""
        return len(await self._store.chunk_ids(tenant, document_id))


class VaultRemains:
    """Vault values that no other document carries."""

    name = "vault_only_here"

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def erase(self, tenant: str, document_id: str) -> int:
        """Forget the document's secrets."""
        return await asyncio.to_thread(self._vault.forget, tenant, document_id)

    async def left(self, tenant: str, document_id: str) -> int:
        """Count values that only this document carries."""
        return await asyncio.to_thread(self._vault.count, tenant, document_id)


class OriginalRemains:
    """The encrypted original, its password, and the originals of what was found inside and not registered yet."""

    name = "originals"

    def __init__(self, originals: Originals, staged: StagedChildren) -> None:
        self._originals = originals
        self._staged = staged

    async def erase(self, tenant: str, document_id: str) -> int:
        """Remove the originals."""
        present = await self.left(tenant, document_id)
        await asyncio.to_thread(self._staged.remove, document_id)
        await asyncio.to_thread(self._originals.delete, document_id)
        return present

    async def left(self, tenant: str, document_id: str) -> int:
        """Count the originals that are there."""
        own = await asyncio.to_thread(self._originals.exists, document_id)
        return own + len(await asyncio.to_thread(self._staged.of, document_id))


class Purger:
    """Removes the remains of documents that are marked deleted. Safe to repeat after a failure half-way."""

    def __init__(self, lifecycle: Lifecycle, remains: Sequence[Remains], *, clock: Clock = utc_now) -> None:
        self._lifecycle = lifecycle
        self._remains = tuple(remains)
        self._clock = clock

    async def purge_all(self, tenant: str, document_id: str, inside: Sequence[str]) -> DeletionReceipt:
        """Purge a document and those found inside it; the receipt speaks of all together."""
        receipts = [await self.purge(tenant, each) for each in (*inside, document_id)]
        left = {name: sum(receipt.left[name] for receipt in receipts) for name in receipts[-1].left}
        return receipts[-1].model_copy(
            update={
                "deleted_chunks": sum(receipt.deleted_chunks for receipt in receipts),
                "deleted_children": len(inside),
                "left": left,
            }
        )

    async def purge(self, tenant: str, document_id: str) -> DeletionReceipt:
        """Erase everything, probe every place, and settle the tombstone when nothing is left."""
        erased = {each.name: await each.erase(tenant, document_id) for each in self._remains}
        left = {each.name: await each.left(tenant, document_id) for each in self._remains}
        if not any(left.values()):
            await asyncio.to_thread(self._lifecycle.purged, document_id)
        return DeletionReceipt(
            document_id=document_id,
            deleted_chunks=erased.get(ChunkRemains.name, 0),
            left=left,
            at=self._clock(),
        )
