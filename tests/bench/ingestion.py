"""Whole ingestion against the encoder alone on the same texts, in one run."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import texts

from api.auth import LOCAL_OWNER
from api.database import open_engine
from api.settings import Settings, load_settings
from ingest.assembly import assemble
from ingest.cutting import SymbolicCutter
from ingest.sandbox import ParserPool
from ingest.types import DocumentMeta
from retrieval.encoder import Encoder, ModelThread
from retrieval.encoders.select import load_encoder
from retrieval.stores.select import select_store
from retrieval.symbols.language import load_language
from retrieval.types import Chunk, Scope


async def measure(count: int) -> None:
    """Ingest `count` documents through the product's own parts, then encode the same chunks alone."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        settings = load_settings(home=home)
        files = [home / "files" / name for name, _ in texts.documents(count)]
        files[0].parent.mkdir()
        for path, (_, text) in zip(files, texts.documents(count), strict=True):
            path.write_text(text, encoding="utf-8")
        encoder = load_encoder(settings.models)
        encoder.encode_documents(["warm up"] * 4)
        chunks, seconds = await _ingest(home, files, settings, encoder)
        alone = _encode_alone(encoder, [c.index_text for c in chunks])
        tokens = sum(encoder.count_tokens(c.index_text) for c in chunks)
        n = len(chunks)
        print("| ingestion | documents | chunks | tokens | s | chunks/s | tokens/s |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for name, time_s in ((f"whole line, {encoder.info.name}", seconds), ("encoder alone", alone)):
            print(f"| {name} | {count} | {n} | {tokens} | {time_s:.1f} | {n / time_s:.1f} | {tokens / time_s:.0f} |")
        print(f"\nWhole line at {alone / seconds:.2f} of the encoder alone (tokens per second).\n")


async def _ingest(home: Path, files: list[Path], settings: Settings, encoder: Encoder) -> tuple[list[Chunk], float]:
    engine = open_engine(settings.database_url)
    language = load_language(bytes(32))
    thread = ModelThread("encoder")
    store = select_store(settings.vectors, home / "index")
    await store.open(encoder.info)
    parsers = ParserPool(settings.ingestion.parser)
    parts = assemble(
        engine=engine,
        folder=home / "originals",
        key=bytes(range(32)),
        parsers=parsers,
        cutter=SymbolicCutter(language, encoder.count_tokens, encoder.info.max_tokens, settings.chunk),
        encoder=encoder,
        encoder_thread=thread,
        store=store,
        settings=settings.ingestion,
    )
    for path in files:
        await parts.ingestion.submit(LOCAL_OWNER, path.name, path, DocumentMeta())
    started = time.perf_counter()
    await parts.worker.run_until_idle()
    seconds = time.perf_counter() - started
    chunks = [c async for batch in store.scan(Scope.of(LOCAL_OWNER)) for c in batch]
    parts.close()
    await store.close()
    await parsers.close()
    thread.close()
    engine.dispose()
    return chunks, seconds


def _encode_alone(encoder: Encoder, index_texts: list[str]) -> float:
    ordered = sorted(index_texts, key=len, reverse=True)
    started = time.perf_counter()
    for at in range(0, len(ordered), 16):
        encoder.encode_documents(ordered[at : at + 16])
    return time.perf_counter() - started
