"""What the evaluations of search share: models and language by settings, a store for each index, kept vectors."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TaskID

from api.commands.evaluating import KEY
from api.commands.session import err
from api.settings import Settings
from retrieval.encoder import Encoder, Reranker
from retrieval.encoders.select import load_encoder
from retrieval.evaluation import Progress as Report
from retrieval.evaluation_compare import Arm
from retrieval.kept_vectors import KeptVectors
from retrieval.rerankers.select import load_reranker
from retrieval.store import VectorStore
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import SymbolLanguage, load_language

Vectors = Annotated[
    Path | None, typer.Option("--vectors", help="Keep the encoder's vectors in this file (.npz), for the next run.")
]


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What a search is made of."""

    encoder: Encoder
    reranker: Reranker
    language: SymbolLanguage
    settings: Settings

    @classmethod
    @contextmanager
    def of(cls, settings: Settings, vectors: Path | None = None) -> Generator[SearchParts, None, None]:
        """Load what the settings name; vectors are written into their file at the end, also of a broken run."""
        encoder: Encoder = load_encoder(settings.models)
        kept = KeptVectors(encoder, vectors) if vectors is not None else None
        language = load_language(KEY, settings.symbols.folder)
        try:
            yield cls(kept or encoder, load_reranker(settings.models), language, settings)
        finally:
            if kept is not None:
                kept.save()

    def arm(self, name: str) -> Arm:
        """Return the whole search."""
        return Arm(name, self.encoder, self.reranker, self.language, self.settings.search)

    @asynccontextmanager
    async def new_store(self) -> AsyncGenerator[VectorStore, None]:
        """Give an empty store, and delete it."""
        with tempfile.TemporaryDirectory() as scratch:
            store = EdgeStore(Path(scratch) / "index", self.settings.vectors)
            try:
                yield store
            finally:
                await store.close()


@contextmanager
def progress(*, quiet: bool) -> Generator[Report, None, None]:
    """Show on the terminal how far each stage is."""
    with Progress(console=err, disable=quiet) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=None)
            bar.update(tasks[stage], completed=done, total=total)

        yield show
