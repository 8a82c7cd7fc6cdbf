"""What only the in-process store promises: its folder, its lock, and survival of a kill."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoder import EncoderInfo
from retrieval.errors import FolderLockedError, IndexMismatchError, StoreUnavailableError
from retrieval.settings import StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.stores.embedded import wire
from retrieval.stores.qdrant import QdrantStore
from retrieval.stores.select import select_store
from retrieval.types import Chunk, EncodedChunk, Principal, Scope, SparseVector

ENCODER = EncoderInfo(name="hash", revision="1", dim=2, max_tokens=512, sparse="bm25")
SCOPE = Scope.of(Principal(tenant="acme", user="ann"))

# A second process: holds the folder, writes one chunk at a time, says each once it is
# acknowledged, and waits to be killed.
WRITER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_edge_store import ENCODER, EdgeStore, StoreSettings, encoded

async def main():
    store = EdgeStore(Path(sys.argv[1]), StoreSettings())
    await store.open(ENCODER)
    for n in range(int(sys.argv[3])):
        await store.write([encoded(n)])
        if n % 2:
            await store.publish("acme", f"d{n}")
        print(n, flush=True)
    print("done", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


def encoded(n: int) -> EncodedChunk:
    chunk = Chunk(
        chunk_id=f"00000000-0000-4000-8000-{n:012d}",
        tenant="acme",
        document_id=f"d{n}",
        ordinal=0,
        text=f"text {n}",
        index_text=f"text {n}",
        start_char=0,
        end_char=6,
    )
    sparse = SparseVector(np.asarray([n], dtype=np.uint32), np.ones(1, dtype=np.float32))
    return EncodedChunk(chunk, np.asarray([1, n], dtype=np.float32), sparse)


def start_writer(folder: Path, chunks: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent), str(chunks)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    for said in process.stdout:
        if said.strip() == line:
            return
    raise AssertionError(f"the writer ended before it said {line!r}")


async def test_edge_acknowledged_chunks_survive_a_kill(folder: Path) -> None:
    with start_writer(folder, chunks=12) as writer:
        wait_for(writer, "9")
        writer.kill()
    store = EdgeStore(folder, StoreSettings())
    await store.open(ENCODER)
    try:
        for n in range(10):
            assert await store.chunk_ids("acme", f"d{n}") == {encoded(n).chunk.chunk_id}
        seen = [chunk async for batch in store.scan(SCOPE) for chunk in batch]
        assert {f"d{n}" for n in range(1, 10, 2)} <= {chunk.document_id for chunk in seen}
        hits = await store.sparse(encoded(3).sparse, SCOPE, 5)
        assert [hit.chunk.text for hit in hits] == ["text 3"]
    finally:
        await store.close()


async def test_edge_folder_is_locked_against_a_second_process_until_it_dies(folder: Path) -> None:
    store = EdgeStore(folder, StoreSettings())
    with start_writer(folder, chunks=1) as writer:
        wait_for(writer, "done")
        with pytest.raises(FolderLockedError, match="held by another process"):
            await store.open(ENCODER)
        writer.kill()
    await store.open(ENCODER)
    assert await store.chunk_ids("acme", "d0") == {encoded(0).chunk.chunk_id}
    await store.close()


async def test_edge_folder_is_locked_within_one_process(folder: Path) -> None:
    first, second = EdgeStore(folder, StoreSettings()), EdgeStore(folder, StoreSettings())
    await first.open(ENCODER)
    with pytest.raises(FolderLockedError):
        await second.open(ENCODER)
    await second.close()
    await first.write([encoded(1)])
    assert await first.chunk_ids("acme", "d1") == {encoded(1).chunk.chunk_id}
    await first.close()


async def test_edge_a_refused_encoder_leaves_the_folder_free(folder: Path) -> None:
    store = EdgeStore(folder, StoreSettings())
    await store.open(ENCODER)
    await store.close()
    refused = EdgeStore(folder, StoreSettings())
    with pytest.raises(IndexMismatchError):
        await refused.open(ENCODER.model_copy(update={"dim": 3}))
    await refused.close()
    again = EdgeStore(folder, StoreSettings())
    await again.open(ENCODER)
    await again.close()


@pytest.mark.parametrize("damage", ["missing", "garbled"])
async def test_edge_an_index_without_a_readable_record_is_refused(folder: Path, damage: str) -> None:
    store = EdgeStore(folder, StoreSettings())
    await store.open(ENCODER)
    await store.close()
    record = folder / "attest" / "encoder.json"
    record.unlink() if damage == "missing" else record.write_text("{", encoding="utf-8")
    with pytest.raises(IndexMismatchError, match="does not record which encoder"):
        await EdgeStore(folder, StoreSettings()).open(ENCODER)


async def test_edge_a_damaged_shard_is_an_error_of_ours(folder: Path) -> None:
    store = EdgeStore(folder, StoreSettings())
    await store.open(ENCODER)
    await store.close()
    (folder / "attest" / "shard" / "edge_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreUnavailableError, match="gave no answer"):
        await EdgeStore(folder, StoreSettings()).open(ENCODER)


async def test_edge_a_flush_between_batches_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.stores.embedded.upkeep._FLUSH_AFTER", 2)
    store = EdgeStore(folder, StoreSettings())
    await store.open(ENCODER)
    for n in range(5):
        await store.write([encoded(n)])
    await store.close()
    again = EdgeStore(folder, StoreSettings())
    await again.open(ENCODER)
    assert [len(await again.chunk_ids("acme", f"d{n}")) for n in range(5)] == [1] * 5
    await again.close()


async def test_edge_an_index_from_before_texts_were_recorded_opens_and_lends_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, fields = wire.payload_of, wire.KEYWORD_FIELDS

    def before(*args: Any) -> dict[str, Any]:
        payload = now(*args)
        del payload["encoded_from"]
        return payload

    monkeypatch.setattr(wire, "payload_of", before)
    monkeypatch.setattr(wire, "KEYWORD_FIELDS", tuple(field for field in fields if field != "encoded_from"))
    old = EdgeStore(folder, StoreSettings())
    await old.open(ENCODER)
    await old.write([encoded(1)])
    await old.close()
    monkeypatch.undo()
    store = EdgeStore(folder, StoreSettings())
    await store.open(ENCODER)
    assert await store.encodings("acme", ["text 1"]) == {}
    await store.write([encoded(2)])
    assert list(await store.encodings("acme", ["text 1", "text 2"])) == ["text 2"]
    assert await store.publish("acme", "d1") == 1
    await store.close()


def test_select_store_makes_the_store_the_settings_name(folder: Path) -> None:
    assert isinstance(select_store(StoreSettings(store="edge"), folder), EdgeStore)
    assert isinstance(select_store(StoreSettings(store="qdrant", qdrant_url=":memory:"), folder), QdrantStore)
    with pytest.raises(ValueError, match="needs a URL"):
        select_store(StoreSettings(store="qdrant"), folder)
