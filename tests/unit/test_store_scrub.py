"""What was deleted from the embedded index is off the disk after a scrub, and all else is as before."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.fakes import HashEncoder
from retrieval.settings import StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.stores.embedded.generations import Generations, copy_folder, size_on_disk
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


@pytest.fixture
def index_folder() -> Iterator[Path]:
    """In memory where that is possible: the engine forces files to the disk at every turn."""
    shm = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shm if os.access(shm, os.W_OK) else None) as name:
        yield Path(name)


async def test_deleted_text_is_off_the_disk_and_the_rest_is_found(index_folder: Path) -> None:
    encoder = HashEncoder(dim=8)
    store = EdgeStore(index_folder, StoreSettings())
    await store.open(encoder.info)
    chunks = [chunk(n, "a zebrafish" if n == 7 else f"text {n}") for n in range(100)]
    made = encoder.encode_documents([each.index_text for each in chunks])
    await store.write([EncodedChunk(c, made.dense[n], made.sparse[n]) for n, c in enumerate(chunks)])
    await store.publish("t", "d")
    kept = {each.chunk_id for each in chunks if "zebrafish" not in each.text}
    await store.prune("t", "d", kept)
    assert holding(index_folder, "zebrafish")
    query = encoder.encode_query("text 3")
    before = [(hit.chunk, round(hit.score, 5)) for hit in await store.dense(query.dense[0], SCOPE, 5)]
    sparse = (await store.sparse(query.sparse[0], SCOPE, 5))[0].chunk
    await store.scrub()
    assert holding(index_folder, "zebrafish") == []
    assert await store.chunk_ids("t", "d") == kept
    assert [(hit.chunk, round(hit.score, 5)) for hit in await store.dense(query.dense[0], SCOPE, 5)] == before
    # Its score may differ: word statistics count deleted chunks until then.
    assert (await store.sparse(query.sparse[0], SCOPE, 5))[0].chunk == sparse
    assert set(await store.encodings("t", ["text 3"])) == {"text 3"}
    await store.close()
    again = EdgeStore(index_folder, StoreSettings())
    await again.open(encoder.info)
    assert await again.count(SCOPE) == len(kept)
    await again.close()


@pytest.mark.parametrize("crash", ["before", "after"])
def test_one_folder_is_whole_whenever_a_crash_comes(tmp_path: Path, crash: str) -> None:
    generations = Generations(tmp_path)
    former, fresh = generations.current, generations.following()
    for path in (former, fresh):
        path.mkdir()
        (path / path.name).touch()
    if crash == "after":
        generations.switch(fresh)
    again = Generations(tmp_path)
    again.settle()
    whole = fresh if crash == "after" else former
    assert again.current == whole
    assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == [whole.name]
    assert (whole / whole.name).exists()


def test_a_switch_that_was_cut_off_changes_nothing(tmp_path: Path) -> None:
    generations = Generations(tmp_path)
    generations.current.mkdir()
    (tmp_path / "current.tmp").write_text("shard.1", encoding="utf-8")
    generations.settle()
    assert generations.current == tmp_path / "shard"
    assert generations.current.is_dir()


def test_generations_follow_each_other(tmp_path: Path) -> None:
    generations = Generations(tmp_path)
    generations.current.mkdir()
    for number in (1, 2):
        fresh = generations.following()
        fresh.mkdir()
        generations.switch(fresh)
        generations.settle()
        assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == [f"shard.{number}"]


@pytest.mark.parametrize("crash", ["between", "after"])
def test_folders_that_an_older_release_renamed_are_settled(tmp_path: Path, crash: str) -> None:
    (tmp_path / "shard.former").mkdir()
    (tmp_path / "shard.former" / "old").touch()
    fresh = tmp_path / ("shard" if crash == "after" else "shard.fresh")
    fresh.mkdir()
    (fresh / "new").touch()
    Generations(tmp_path).settle()
    assert [each.name for each in tmp_path.iterdir()] == ["shard"]
    assert [each.name for each in (tmp_path / "shard").iterdir()] == ["new" if crash == "after" else "old"]


def test_a_copy_of_a_file_with_holes_is_equal_and_no_larger(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    with (source / "inner" / "file").open("wb") as file:
        file.seek(1 << 20)
        file.write(b"middle")
        file.truncate(3 << 20)
    (source / "empty").touch()
    copy_folder(source, tmp_path / "copy")
    assert (tmp_path / "copy" / "inner" / "file").read_bytes() == (source / "inner" / "file").read_bytes()
    assert (tmp_path / "copy" / "empty").read_bytes() == b""
    assert size_on_disk(tmp_path / "copy") <= size_on_disk(source)
