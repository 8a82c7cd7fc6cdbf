"""The embedded index is rewritten while it serves; whoever is killed meanwhile, nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from retrieval.encoder import EncoderInfo
from retrieval.errors import FolderLockedError, StoreUnavailableError
from retrieval.settings import StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.stores.embedded import lock, rewrite
from retrieval.stores.embedded.host import EngineHost
from retrieval.stores.embedded.process import EngineProcess
from retrieval.stores.embedded.upkeep import Upkeep
from retrieval.types import Chunk, EncodedChunk, Principal, Scope, SparseVector

ENCODER = EncoderInfo(name="hash", revision="1", dim=2, max_tokens=512, sparse="bm25")
SCOPE = Scope.of(Principal(tenant="acme", user="ann"))
SETTINGS = StoreSettings(edge_optimise_after=0)

# Holds the folder, writes and says so, rewrites, stops at a stage of that and goes on writing until it is killed.
REWRITER = """
import asyncio, sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_edge_rewriting import ENCODER, SETTINGS, EdgeStore, encoded, rewrite
from retrieval.stores.embedded.generations import Generations

stage = sys.argv[3]
stopped = threading.Event()

def stop(*_args):
    print("stopped", flush=True)
    stopped.set()
    threading.Event().wait()

def then_stop(work):
    def both(*args):
        work(*args)
        stop()
    return both

if stage == "carried":
    rewrite.Rewriter._carry_all = then_stop(rewrite.Rewriter._carry_all)
elif stage == "optimised":
    rewrite._to_disk = stop
elif stage == "on disk":
    rewrite._to_disk = then_stop(rewrite._to_disk)
elif stage == "before the switch":
    Generations.switch = stop
elif stage == "after the switch":
    Generations.switch = then_stop(Generations.switch)

async def main():
    store = EdgeStore(Path(sys.argv[1]), SETTINGS)
    await store.open(ENCODER)
    await store.write([encoded(n) for n in range(60)])
    await store.publish("acme", "d0")
    await store.prune("acme", "d1", set())
    print("ready", flush=True)
    task = asyncio.create_task(store.scrub())
    await asyncio.to_thread(stopped.wait)
    if "the switch" not in stage:
        for n in range(2000, 2010):
            await store.write([encoded(n)])
        await store.delete("acme", "d2")
        print("written", flush=True)
    await task

asyncio.run(main())
"""


def encoded(n: int) -> EncodedChunk:
    chunk = Chunk(
        chunk_id=f"00000000-0000-4000-8000-{n:012d}",
        tenant="acme",
        document_id=f"d{n % 3 if n < 2000 else n}",
        ordinal=n,
        text=f"text {n}",
        index_text=f"text {n}",
        start_char=0,
        end_char=6,
    )
    sparse = SparseVector(np.asarray([n], dtype=np.uint32), np.ones(1, dtype=np.float32))
    return EncodedChunk(chunk, np.asarray([1, n], dtype=np.float32), sparse)


@asynccontextmanager
async def opened(folder: Path, settings: StoreSettings = SETTINGS) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(folder, settings)
    await store.open(ENCODER)
    try:
        yield store
    finally:
        await store.close()


def shards(folder: Path) -> list[str]:
    return sorted(each.name for each in (folder / "attest").iterdir() if each.is_dir())


def engines() -> set[int]:
    """Processes that this one has started."""
    tasks = Path("/proc/self/task")
    return {int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()}


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")


class Pause:
    """Holds the rewriting up once its new shard is on the disk, before changes follow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._reached, self._go_on = threading.Event(), threading.Event()
        work = rewrite._to_disk

        def to_disk(path: Path) -> None:
            work(path)
            self._reached.set()
            assert self._go_on.wait(300)

        monkeypatch.setattr(rewrite, "_to_disk", to_disk)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._reached.wait, 300)

    def go_on(self) -> None:
        self._go_on.set()


Rewriting = Callable[[EdgeStore], "asyncio.Task[object]"]


def scrubbing(store: EdgeStore) -> asyncio.Task[object]:
    return asyncio.create_task(store.scrub())


def optimising(store: EdgeStore) -> asyncio.Task[object]:
    return asyncio.create_task(store.optimise())


@pytest.mark.parametrize("rewriting", [scrubbing, optimising])
async def test_what_is_asked_and_changed_while_the_index_is_rewritten_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rewriting: Rewriting
) -> None:
    pause = Pause(monkeypatch)
    async with opened(folder) as store:
        await store.write([encoded(n) for n in range(1500)])
        await store.publish("acme", "d0")
        await store.delete("acme", "d1")
        task = rewriting(store)
        await pause.reached()
        hits = await store.sparse(encoded(3).sparse, SCOPE, 5)
        assert [hit.chunk.text for hit in hits] == ["text 3"]
        await store.write([encoded(n) for n in range(2000, 2200)])
        await store.publish("acme", "d2000")
        await store.publish("acme", "d2")
        await store.delete("acme", "d0")
        await store.write([encoded(0)])
        pause.go_on()
        await task
        for _ in range(2):
            assert await store.chunk_ids("acme", "d0") == {encoded(0).chunk.chunk_id}
            assert await store.chunk_ids("acme", "d1") == set()
            assert await store.chunk_ids("acme", "d2199") == {encoded(2199).chunk.chunk_id}
            assert await store.count(SCOPE) == 501
            assert [h.chunk.text for h in await store.sparse(encoded(2000).sparse, SCOPE, 5)] == ["text 2000"]
            assert await store.sparse(encoded(3).sparse, SCOPE, 5) == []
            assert shards(folder) == ["shard.1"]
            await store.close()
            store = EdgeStore(folder, SETTINGS)
            await store.open(ENCODER)
        await store.close()


async def test_optimising_an_index_that_needs_it_not_changes_nothing(folder: Path) -> None:
    async with opened(folder) as store:
        await store.write([encoded(1)])
        assert not await store.optimise()
        assert shards(folder) == ["shard"]
        assert await store.chunk_ids("acme", "d1") == {encoded(1).chunk.chunk_id}


async def test_the_index_is_optimised_by_itself_after_enough_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimised, work = threading.Event(), Upkeep._optimise

    def optimise(self: Upkeep) -> None:
        work(self)
        optimised.set()

    monkeypatch.setattr(Upkeep, "_optimise", optimise)
    wide = ENCODER.model_copy(update={"dim": 4096})  # the engine makes a graph from 10 MB of vectors on
    directions = np.random.default_rng(0).standard_normal((660, 4096)).astype(np.float32)
    store = EdgeStore(folder, StoreSettings(edge_optimise_after=660))
    await store.open(wide)
    try:
        chunks = [dataclasses.replace(encoded(n), dense=directions[n]) for n in range(660)]
        await store.write(chunks[:640])
        assert not optimised.is_set()
        await store.write(chunks[640:])
        await store.publish("acme", "d0")
        assert await asyncio.to_thread(optimised.wait, 300)
        assert shards(folder) == ["shard.1"]
        hits = await store.dense(directions[3], SCOPE, 1)
        assert [hit.chunk.text for hit in hits] == ["text 3"]
    finally:
        await store.close()


async def test_a_disk_without_room_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite, "_ROOM", 10**9)
    async with opened(folder) as store:
        await store.write([encoded(1)])
        with pytest.raises(StoreUnavailableError, match="are free"):
            await store.scrub()
        assert await store.chunk_ids("acme", "d1") == {encoded(1).chunk.chunk_id}
        assert shards(folder) == ["shard"]


@needs_proc
async def test_a_rewriting_process_that_is_killed_leaves_the_index_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = engines()
    async with opened(folder) as store:
        await store.write([encoded(n) for n in range(30)])
        serving = engines() - before

        def kill(self: rewrite.Rewriter, fresh: object) -> None:
            for pid in engines() - before - serving:
                os.kill(pid, signal.SIGKILL)

        monkeypatch.setattr(rewrite.Rewriter, "_carry_all", kill)
        with pytest.raises(StoreUnavailableError, match="is gone"):
            await store.scrub()
        assert shards(folder) == ["shard"]
        assert len(await store.chunk_ids("acme", "d0")) == 10
        monkeypatch.undo()
        await store.scrub()
        assert len(await store.chunk_ids("acme", "d0")) == 10


@needs_proc
async def test_an_engine_that_is_killed_is_started_again(folder: Path) -> None:
    before = engines()
    async with opened(folder) as store:
        await store.write([encoded(3)])
        await store.publish("acme", "d0")
        for pid in engines() - before:
            os.kill(pid, signal.SIGKILL)
        hits = await asyncio.gather(*(store.sparse(encoded(3).sparse, SCOPE, 5) for _ in range(5)))
        assert [[hit.chunk.text for hit in each] for each in hits] == [["text 3"]] * 5
        for pid in engines() - before:
            os.kill(pid, signal.SIGKILL)
        await store.write([encoded(6)])
        assert await store.chunk_ids("acme", "d0") == {encoded(3).chunk.chunk_id, encoded(6).chunk.chunk_id}
    assert engines() == before


@needs_proc
async def test_an_engine_that_is_started_again_gives_way_to_the_one_that_took_its_place_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, pause = engines(), Pause(monkeypatch)
    started, rewritten = threading.Event(), threading.Event()
    start = EngineHost.start

    def slow(host: EngineHost, path: Path, nice: int = 0) -> EngineProcess:
        engine = start(host, path, nice)
        if path == host.path:
            started.set()
            assert rewritten.wait(300)
        return engine

    async with opened(folder) as store:
        await store.write([encoded(n) for n in range(30)])
        await store.publish("acme", "d0")
        serving = engines() - before
        task = scrubbing(store)
        await pause.reached()
        monkeypatch.setattr(EngineHost, "start", slow)
        for pid in serving:
            os.kill(pid, signal.SIGKILL)
        asked = asyncio.create_task(store.sparse(encoded(3).sparse, SCOPE, 5))
        assert await asyncio.to_thread(started.wait, 300)
        pause.go_on()
        await task
        rewritten.set()
        assert [hit.chunk.text for hit in await asked] == ["text 3"]
        await store.write([encoded(2000)])
        assert len(engines() - before) == 1
    monkeypatch.undo()
    async with opened(folder) as store:
        assert await store.chunk_ids("acme", "d2000") == {encoded(2000).chunk.chunk_id}


def run_until_it_says(last: str, folder: Path, stage: str) -> None:
    command = [sys.executable, "-c", REWRITER, str(folder), str(Path(__file__).parent), stage]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line.strip() == last for line in process.stdout)
        process.kill()


@pytest.mark.parametrize("stage", ["carried", "optimised", "on disk", "before the switch", "after the switch"])
async def test_whenever_the_server_is_killed_the_index_is_whole(folder: Path, stage: str) -> None:
    last = "stopped" if "the switch" in stage else "written"
    run_until_it_says(last, folder, stage)
    async with opened(folder) as store:
        assert len(await store.chunk_ids("acme", "d0")) == 20
        assert await store.count(SCOPE) == 20
        assert await store.chunk_ids("acme", "d1") == set()
        if last == "written":
            assert await store.chunk_ids("acme", "d2") == set()
            assert await store.chunk_ids("acme", "d2009") == {encoded(2009).chunk.chunk_id}
        else:
            assert len(await store.chunk_ids("acme", "d2")) == 20
        assert shards(folder) == ["shard.1" if stage == "after the switch" else "shard"]


@pytest.mark.skipif(os.name != "posix", reason="folders are locked on POSIX alone")
async def test_the_folder_stays_locked_when_the_lock_file_is_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_LEFT_BEHIND_S", 0.1)
    async with opened(folder) as store:
        (folder / "attest" / "lock").unlink()
        with pytest.raises(FolderLockedError):
            await EdgeStore(folder, SETTINGS).open(ENCODER)
        await store.write([encoded(1)])
    async with opened(folder) as again:
        assert await again.chunk_ids("acme", "d1") == {encoded(1).chunk.chunk_id}


async def test_a_folder_that_cannot_be_written_is_an_error_of_ours(folder: Path) -> None:
    (folder / "attest").write_text("a file in the way", encoding="utf-8")
    store = EdgeStore(folder, SETTINGS)
    with pytest.raises(StoreUnavailableError, match="gave no answer"):
        await store.open(ENCODER)
    await store.close()
