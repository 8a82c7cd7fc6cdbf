"""Choose the vector store the settings name."""

from __future__ import annotations

from pathlib import Path

from retrieval.settings import StoreSettings
from retrieval.store import VectorStore


def select_store(settings: StoreSettings, folder: Path) -> VectorStore:
    """Return the store, not yet open; `folder` is where the in-process one keeps its data."""
    match settings.store:
        case "edge":
            from retrieval.stores.edge import EdgeStore

            return EdgeStore(folder, settings)
        case "qdrant":
            from retrieval.stores.qdrant import QdrantStore

            return QdrantStore(settings)
