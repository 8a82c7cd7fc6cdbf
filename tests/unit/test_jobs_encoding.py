"""Batches of the encoder: how large, in which order, and what a failure leaves."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.encoding import BatchEncoder
from ingest.leases import Claim
from ingest.settings import IngestSettings
from ingest.types import Document, DocumentMeta
from ingest.work import Work
from retrieval.encoder import ModelThread
from retrieval.errors import StoreUnavailableError
from retrieval.fakes import HashEncoder
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.types import Chunk, Encoding


class SlowEncoder(HashEncoder):
    """Takes a set time for each token, on a clock of its own."""

    def __init__(self, seconds_per_token: float) -> None:
        super().__init__(dim=4)
        self.now = 0.0
        self.seconds_per_token = seconds_per_token
        self.batches: list[list[int]] = []

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        self.batches.append([len(text) for text in texts])
        self.now += self.seconds_per_token * sum(len(text) for text in texts)
        return super().encode_documents(texts)


class NoLeases:
    def checkpoint(self, claim: Claim, **_progress: Any) -> None:
        assert claim.owner == "me"


def work(document_id: str, lengths: Sequence[int]) -> Work:
    chunks = tuple(
        Chunk(
            chunk_id=f"00000000-0000-0000-{document_id}-{n:012d}",
            tenant="t",
            document_id=document_id,
            ordinal=n,
            text="x" * length,
            index_text=f"{document_id[-1]}{n}".ljust(length, "x"),
            start_char=0,
            end_char=length,
            token_count=length,
        )
        for n, length in enumerate(lengths)
    )
    claim = Claim(document_id, "t", document_id, "hash", 1, 0, 0, None, "me")
    document = Document(
        document_id=document_id,
        tenant="t",
        source="s",
        version=1,
        state="pending",
        meta=DocumentMeta(),
        title="",
        size_bytes=1,
        created_by="u",
        created_at=datetime(2024, 1, 1, tzinfo=UTC),
    )
    return Work(claim, document, total=len(chunks), todo={chunk.chunk_id: chunk for chunk in chunks})


@pytest.fixture
async def store() -> AsyncIterator[InMemoryVectorStore]:
    store = InMemoryVectorStore()
    await store.open(HashEncoder(dim=4).info)
    yield store
    await store.close()


@pytest.fixture
def thread() -> Any:
    thread = ModelThread("encoder")
    yield thread
    thread.close()


def batches(encoder: SlowEncoder, store: InMemoryVectorStore, thread: ModelThread, **settings: Any) -> BatchEncoder:
    leases: Any = NoLeases()
    return BatchEncoder(encoder, thread, store, leases, IngestSettings(**settings), timer=lambda: encoder.now)


async def test_encoding_takes_the_longest_first_over_all_documents(
    store: InMemoryVectorStore, thread: ModelThread
) -> None:
    encoder = SlowEncoder(0.0)
    group = [work("000a", [3, 90, 5]), work("000b", [70, 4, 80])]
    await batches(encoder, store, thread, encode_batch=3).encode(group)
    assert list(itertools.chain(*encoder.batches)) == [90, 80, 70, 5, 4, 3]
    assert [each.todo for each in group] == [{}, {}]
    assert len(await store.chunk_ids("t", "000a")) == len(await store.chunk_ids("t", "000b")) == 3


async def test_encoding_batches_grow_on_a_fast_encoder(store: InMemoryVectorStore, thread: ModelThread) -> None:
    encoder = SlowEncoder(1e-6)
    await batches(encoder, store, thread, encode_batch=8, encode_batch_s=1).encode([work("000a", [100] * 31)])
    assert [len(batch) for batch in encoder.batches] == [1, 2, 4, 8, 8, 8]


async def test_encoding_batches_stay_within_the_time_a_question_waits(
    store: InMemoryVectorStore, thread: ModelThread
) -> None:
    encoder = SlowEncoder(0.001)
    both = batches(encoder, store, thread, encode_batch=16, encode_batch_s=0.3)
    await both.encode([work("000a", [100] * 12 + [10] * 60)])
    await both.encode([work("000b", [100] * 12)])
    assert max(sum(batch) for batch in encoder.batches) <= 300
    assert len(encoder.batches) < 30


async def test_encoding_that_failed_keeps_what_was_written_and_goes_on(
    store: InMemoryVectorStore, thread: ModelThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, group = SlowEncoder(0.0), [work("000a", [5] * 20)]
    both = batches(encoder, store, thread, encode_batch=4)
    real, calls = store.write, itertools.count(1)

    async def failing(chunks: Any) -> None:
        if next(calls) == 3:
            raise StoreUnavailableError("no answer")
        await real(chunks)

    monkeypatch.setattr(store, "write", failing)
    with pytest.raises(StoreUnavailableError):
        await both.encode(group)
    assert len(group[0].todo) == 20 - len(await store.chunk_ids("t", "000a")) == 17
    await both.encode(group)
    assert group[0].todo == {}
    assert len(await store.chunk_ids("t", "000a")) == 20


class Walked(dict[str, Chunk]):
    """Counts how often it is walked through."""

    walks = 0

    def __iter__(self) -> Iterator[str]:
        self.walks += 1
        return super().__iter__()

    def values(self) -> Any:
        self.walks += 1
        return super().values()


async def test_encoding_walks_through_what_is_to_do_once(store: InMemoryVectorStore, thread: ModelThread) -> None:
    large = work("000a", [5] * 60)
    large.todo = walked = Walked(large.todo)
    await batches(SlowEncoder(0.0), store, thread, encode_batch=4).encode([large])
    assert large.todo is walked
    assert (walked, walked.walks, large.done) == ({}, 1, 60)


async def test_encoding_of_nothing_calls_nothing(store: InMemoryVectorStore, thread: ModelThread) -> None:
    encoder = SlowEncoder(0.0)
    await batches(encoder, store, thread).encode([work("000a", [])])
    assert encoder.batches == []


class GatedEncoder(HashEncoder):
    """Stops in each batch of documents until it is let go on."""

    def __init__(self) -> None:
        super().__init__(dim=4)
        self.began: asyncio.Queue[threading.Event] = asyncio.Queue()
        self.loop = asyncio.get_running_loop()
        self.order: list[str] = []

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        go = threading.Event()
        self.loop.call_soon_threadsafe(self.began.put_nowait, go)
        assert go.wait(30)
        self.order.append("batch")
        return super().encode_documents(texts)

    def encode_query(self, text: str) -> Encoding:
        self.order.append("query")
        return super().encode_query(text)


async def test_a_query_waits_for_one_batch_of_all_that_is_encoded(
    store: InMemoryVectorStore, thread: ModelThread
) -> None:
    encoder = GatedEncoder()
    leases: Any = NoLeases()
    both = BatchEncoder(encoder, thread, store, leases, IngestSettings(encode_batch=1))
    # Two ingestions beside each other: a second batch waits while the first one runs.
    bulk = [asyncio.create_task(both.encode([work(name, [9, 7])])) for name in ("000a", "000b")]
    first = await encoder.began.get()
    query = asyncio.create_task(thread.run(encoder.encode_query, "how much"))
    await asyncio.sleep(0)
    first.set()
    await query
    assert encoder.order == ["batch", "query"]
    for _ in range(3):
        (await encoder.began.get()).set()
    await asyncio.gather(*bulk)
    assert encoder.order == ["batch", "query", "batch", "batch", "batch"]
