"""Query latency by stage at several sizes of the index.

Dense vectors of the chunks are random: only their number counts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median, quantiles
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import texts

from api.settings import load_settings
from retrieval.encoder import ModelThread
from retrieval.encoders.select import load_encoder
from retrieval.labels import LabelBook
from retrieval.language_id import language_of
from retrieval.lexical import document_weights
from retrieval.rerankers.select import load_reranker
from retrieval.search import Searcher
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import load_language
from retrieval.types import Chunk, EncodedChunk, Principal, SearchFilter

_ASKER = Principal(tenant="bench", user="bench", rights=frozenset({"search"}))
_BATCH = 500
_CHUNKS_PER_DOCUMENT = 50


async def measure(sizes: list[int]) -> None:
    """Print p50 / p95 by stage for each size, without and with a filter."""
    settings = load_settings()
    encoder, reranker = load_encoder(settings.models), load_reranker(settings.models)
    language = load_language(bytes(32))
    encoder_thread, reranker_thread = ModelThread("encoder"), ModelThread("reranker")
    rows: list[tuple[str, dict[str, list[float]]]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            store = EdgeStore(Path(scratch) / "index", settings.vectors)
            await store.open(encoder.info)
            await _fill(store, size, encoder.info.dim)
            searcher = Searcher(encoder, encoder_thread, reranker, reranker_thread, store, language, settings.search)
            for name, filter in (("no filter", None), ("label", SearchFilter(labels=frozenset({"half"})))):
                stages: dict[str, list[float]] = {}
                for question in texts.questions():
                    found = await searcher.search(question, _ASKER, book=LabelBook(), filter=filter)
                    for stage, value in found.latencies_ms.items():
                        stages.setdefault(stage, []).append(value)
                rows.append((f"{size:,} chunks, {name}", stages))
            await store.close()
    encoder_thread.close()
    reranker_thread.close()
    names = list(rows[0][1])
    print(f"Query latency in ms, p50 / p95, encoder {encoder.info.name}, one caller\n")
    print(f"| index | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
    for name, stages in rows:
        print(f"| {name} | {' | '.join(_cell(stages.get(n, [0.0, 0.0])) for n in names)} |")
    print()


def _cell(values: list[float]) -> str:
    return f"{median(values):.1f} / {quantiles(values, n=20)[-1]:.1f}"


async def _fill(store: EdgeStore, size: int, dim: int) -> None:
    rng = np.random.default_rng(0)
    language = load_language(bytes(32))
    batch: list[EncodedChunk] = []
    for number, text in enumerate(texts.sentences(size)):
        document_id = uuid5(NAMESPACE_URL, str(number // _CHUNKS_PER_DOCUMENT)).hex
        read = language.symbolise(text, tenant=_ASKER.tenant)
        chunk = Chunk(
            chunk_id=str(uuid5(NAMESPACE_URL, f"chunk {number}")),
            tenant=_ASKER.tenant,
            document_id=document_id,
            ordinal=number % _CHUNKS_PER_DOCUMENT,
            text=read.text,
            index_text=read.index_text,
            start_char=0,
            end_char=len(read.text),
            language=language_of(text),
            symbols=read.symbols,
            labels=frozenset({"half"}) if (number // _CHUNKS_PER_DOCUMENT) % 2 else frozenset(),
        )
        dense = rng.standard_normal(dim).astype(np.float32)
        batch.append(EncodedChunk(chunk, dense / np.linalg.norm(dense), document_weights(read.index_text)))
        if len(batch) == _BATCH or number == size - 1:
            await store.write(batch)
            for published in {c.chunk.document_id for c in batch}:
                await store.publish(_ASKER.tenant, published)
            batch = []
