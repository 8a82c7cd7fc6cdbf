"""Peak memory and time of one large document in the ingesting process: `large.py --pages 5000`.

The parser's result is made up (its process has limits of its own), and the encoder costs
nothing; chunker, symbol language, SQL and the in-process store are the product's.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from api.database import open_engine
from ingest.assembly import assemble
from ingest.cutting import SymbolicCutter
from ingest.settings import IngestSettings
from ingest.types import Block, DocumentMeta, PageYield, ParsedDocument
from retrieval.encoder import ModelThread
from retrieval.fakes import HashEncoder
from retrieval.settings import StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language
from retrieval.types import ALL_RIGHTS, Box, Encoding, Principal, SparseVector

WORDS = [
    "the",
    "revenue",
    "of",
    "group",
    "rose",
    "by",
    "percent",
    "in",
    "quarter",
    "while",
    "costs",
    "fell",
    "under",
    "plan",
    "customers",
    "risk",
    "fund",
    "market",
    "report",
    "annual",
    "cash",
    "flow",
    "2,380",
    "million",
    "5.2%",
    "2024",
    "Q3",
    "RMB",
    "assets",
]
PAGE_CHARACTERS = 3000
DIM = 384


class MadeUp:
    """Parses nothing: gives pages of a heading and paragraphs with many figures."""

    def __init__(self, pages: int) -> None:
        self._pages = pages

    async def parse(self, path: Path, display_name: str, **_options: Any) -> ParsedDocument:
        return await asyncio.to_thread(self._make)

    def _make(self) -> ParsedDocument:
        chance = random.Random(1)
        blocks: list[Block] = []
        for page in range(1, self._pages + 1):
            box = (Box(page_number=page, x0=72, y0=72, x1=520, y1=84),)
            texts = [f"Section {page}: results of unit {page}"]
            while sum(map(len, texts)) < PAGE_CHARACTERS:
                texts.append(" ".join(chance.choice(WORDS) for _ in range(90)) + f" {chance.randrange(10**6)}.")
            for text in texts:
                place: dict[str, Any] = {"page_number": page, "page_end": page, "boxes": box}
                is_heading = text.startswith("Section")
                kind, level = ("heading", 2) if is_heading else ("paragraph", 0)
                blocks.append(Block.model_validate({"kind": kind, "level": level, "text": text, **place}))
        pages = tuple(PageYield(page_number=n + 1, characters=PAGE_CHARACTERS) for n in range(self._pages))
        return ParsedDocument(format="pdf", blocks=tuple(blocks), page_count=self._pages, title="Large", pages=pages)


class Costless(HashEncoder):
    """One vector for all texts."""

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        dense = np.zeros((len(texts), DIM), dtype=np.float32)
        dense[:, 0] = 1
        terms = SparseVector(np.arange(50, dtype=np.uint32), np.ones(50, dtype=np.float32))
        return Encoding(dense, tuple(terms for _ in texts))


async def measure(pages: int) -> None:
    """Ingest one document of so many pages and print a row."""
    before = _peak_mb()
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        engine, encoder, thread = open_engine(f"sqlite:///{home / 'large.sqlite3'}"), Costless(DIM), ModelThread("e")
        store, settings = EdgeStore(home / "index", StoreSettings()), IngestSettings()
        await store.open(encoder.info)
        cutter = SymbolicCutter(load_language(bytes(32)), lambda text: len(text) // 4 + 2, 512, settings.chunk)
        parts = assemble(
            engine=engine,
            folder=home / "originals",
            key=bytes(range(32)),
            parsers=MadeUp(pages),
            cutter=cutter,
            encoder=encoder,
            encoder_thread=thread,
            store=store,
            settings=settings,
        )
        who = Principal(tenant="bench", user="bench", rights=ALL_RIGHTS)
        job = await parts.ingestion.submit(who, "large.pdf", _nothing(), DocumentMeta())
        began, began_cpu = time.perf_counter(), time.process_time()
        await parts.worker.run_until_idle()
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        job = parts.ingestion.get_job(who, job.job_id)
        assert job.state == "succeeded", job.error
        await store.close()
        parts.close()
        thread.close()
        engine.dispose()
    print("| pages | chunks | s | CPU s | peak MB | of these at the start |")
    print("| --- | --- | --- | --- | --- | --- |")
    print(f"| {pages} | {job.chunks_done} | {seconds:.0f} | {cpu:.0f} | {_peak_mb():.0f} | {before:.0f} |")


async def _nothing() -> AsyncIterator[bytes]:
    yield b"%PDF"


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5000)
    asyncio.run(measure(parser.parse_args().pages))
