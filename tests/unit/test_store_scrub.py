"""What was deleted from the embedded index is off the disk after a scrub, and all else is as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.fakes import HashEncoder
from retrieval.settings import StoreSettings
from retrieval.stores import rewriting
from retrieval.stores.edge import EdgeStore
from retrieval.types import Chunk, EncodedChunk, Principal, Scope

SCOPE = Scope.of(Principal(tenant="t", user="u"))


def chunk(number: int, text: str) -> Chunk:
    return Chunk(
        chunk_id=f"00000000-0000-0000-0000-{number:012d}",
        tenant="t",
        document_id="d",
        ordinal=number,
        text=text,
        index_text=text,
        start_char=0,
        end_char=len(text),
    )


def holding(folder: Path, word: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


async def test_deleted_text_is_off_the_disk_and_the_rest_is_found(tmp_path: Path) -> None:
    encoder = HashEncoder(dim=8)
    store = EdgeStore(tmp_path, StoreSettings())
    await store.open(encoder.info)
    chunks = [chunk(n, "a zebrafish" if n == 7 else f"text {n}") for n in range(100)]
    made = encoder.encode_documents([each.index_text for each in chunks])
    await store.write([EncodedChunk(c, made.dense[n], made.sparse[n]) for n, c in enumerate(chunks)])
    await store.publish("t", "d")
    kept = {each.chunk_id for each in chunks if "zebrafish" not in each.text}
    await store.prune("t", "d", kept)
    assert holding(tmp_path, "zebrafish")
    query = encoder.encode_query("text 3")
    before = [(hit.chunk, round(hit.score, 5)) for hit in await store.dense(query.dense[0], SCOPE, 5)]
    sparse = (await store.sparse(query.sparse[0], SCOPE, 5))[0].chunk
    await store.scrub()
    assert holding(tmp_path, "zebrafish") == []
    assert await store.chunk_ids("t", "d") == kept
    assert [(hit.chunk, round(hit.score, 5)) for hit in await store.dense(query.dense[0], SCOPE, 5)] == before
    # Its score may differ: word statistics count deleted chunks until then.
    assert (await store.sparse(query.sparse[0], SCOPE, 5))[0].chunk == sparse
    assert set(await store.encodings("t", ["text 3"])) == {"text 3"}
    await store.close()
    again = EdgeStore(tmp_path, StoreSettings())
    await again.open(encoder.info)
    assert await again.count(SCOPE) == len(kept)
    await again.close()


@pytest.mark.parametrize("crash", ["before", "between", "after"])
def test_one_folder_is_whole_whenever_a_crash_comes(tmp_path: Path, crash: str) -> None:
    path = tmp_path / "shard"
    path.mkdir()
    (path / "old").touch()
    fresh = rewriting.begin(path)
    (fresh / "new").touch()
    if crash == "between":
        path.rename(tmp_path / "shard.former")
    elif crash == "after":
        path.rename(tmp_path / "shard.former")
        fresh.rename(path)
    rewriting.settle(path)
    assert [each.name for each in tmp_path.iterdir()] == ["shard"]
    assert [each.name for each in path.iterdir()] == ["new" if crash == "after" else "old"]


def test_swap_leaves_the_new_folder_alone(tmp_path: Path) -> None:
    path = tmp_path / "shard"
    path.mkdir()
    (path / "old").touch()
    (rewriting.begin(path) / "new").touch()
    rewriting.swap(path)
    assert [each.name for each in path.iterdir()] == ["new"]
    assert [each.name for each in tmp_path.iterdir()] == ["shard"]
