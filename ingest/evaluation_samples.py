"""The sample documents as texts for question sets: parsed and cut as they are when they are taken in."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ingest.preview import preview
from ingest.work import Cutter, Parsers
from retrieval.evaluation_data import Text


async def sample_chunks(folder: Path, parsers: Parsers, cutter: Cutter) -> list[Text]:
    """Return a text per chunk; its id is the file's name, `#` and the chunk's ordinal."""
    texts: list[Text] = []
    for path in await asyncio.to_thread(_files, folder):
        shown = await preview(path, parsers, cutter)
        texts += [
            Text(text_id=f"{path.name}#{chunk.ordinal}", title=" / ".join(chunk.heading_path), text=chunk.text)
            for chunk in shown.chunks
        ]
    return texts


async def sample_documents(folder: Path, parsers: Parsers, cutter: Cutter) -> list[Text]:
    """Return a text per file; its id is the file's name."""
    documents: dict[str, list[Text]] = {}
    for chunk in await sample_chunks(folder, parsers, cutter):
        documents.setdefault(chunk.text_id.partition("#")[0], []).append(chunk)
    return [
        Text(text_id=name, title=chunks[0].title.partition(" / ")[0], text="\n".join(chunk.text for chunk in chunks))
        for name, chunks in documents.items()
    ]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and path.suffix != ".json")
