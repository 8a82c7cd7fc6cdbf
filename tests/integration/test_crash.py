"""kill -9 at every step of an ingestion on the embedded store: nothing lost, nothing doubled, nothing stale.

The module is also the program that is killed: `python test_crash.py FOLDER` forks one child
per scenario, and each child kills itself at its scenario's point. The tests then resume.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from ingest.assembly import IngestParts, assemble
from ingest.fakes import InProcessParsers, ParagraphCutter, sqlite_engine
from ingest.settings import IngestSettings
from ingest.tables import documents, vault_uses
from ingest.types import DocumentMeta
from retrieval.encoder import ModelThread
from retrieval.fakes import HashEncoder
from retrieval.settings import StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.types import ALL_RIGHTS, Encoding, Principal, Scope

ANN = Principal(tenant="acme", user="ann", rights=ALL_RIGHTS)
SETTINGS = IngestSettings(encode_batch=4, encode_batch_s=3600)
OLD = [f"old paragraph {n}" for n in range(6)] + ["kept paragraph", "secret:old"]
NEW = [f"new paragraph {n}" + "x" * n for n in range(20)] + ["kept paragraph", "secret:new"]
OTHER = ["another document", "with a few", "paragraphs"]


@dataclass(frozen=True)
class Point:
    """Kill before or after the n-th call of a step, or at the n-th SQL statement."""

    step: str
    call: int = 1
    after: bool = False

    def __str__(self) -> str:
        return f"{self.step}-{self.call}-{'after' if self.after else 'before'}"


STEPS = [
    Point("plain"),
    Point("parse", after=True),
    Point("vault"),
    Point("vault", after=True),
    Point("encode", 3),
    Point("write"),
    Point("write", 3),
    Point("write", 3, after=True),
    Point("write", 6, after=True),
    Point("admit", after=True),
    Point("publish"),
    Point("publish", after=True),
    Point("switch", after=True),
    Point("delete"),
    Point("delete", after=True),
    Point("purged"),
    Point("hash"),
    Point("succeed", after=True),
]
_random = random.Random(20240930)
RANDOM = [Point("sql", call) for call in sorted(_random.sample(range(1, 60), 6))]
TWICE = [(Point("sql", _random.randrange(10, 50)), Point("sql", _random.randrange(1, 30))) for _ in range(3)]
SCENARIOS: dict[str, tuple[Point, ...]] = {
    **{str(point): (point,) for point in (*STEPS, *RANDOM)},
    **{f"{first}+{second}": (first, second) for first, second in TWICE},
}


class CountingEncoder(HashEncoder):
    def __init__(self) -> None:
        super().__init__(dim=8)
        self.texts: list[str] = []

    def encode_documents(self, texts: Any) -> Encoding:
        self.texts += texts
        return super().encode_documents(texts)


@dataclass
class House:
    engine: Engine
    store: EdgeStore
    encoder: CountingEncoder
    thread: ModelThread
    parts: IngestParts

    async def close(self) -> None:
        await self.store.close()
        self.thread.close()
        self.parts.close()
        self.engine.dispose()


async def open_house(home: Path) -> House:
    engine, encoder, thread = sqlite_engine(home), CountingEncoder(), ModelThread("encoder")
    store = EdgeStore(home / "index", StoreSettings())
    await store.open(encoder.info)
    parts = assemble(
        engine=engine,
        folder=home / "originals",
        key=bytes(range(32)),
        parsers=InProcessParsers(),
        cutter=ParagraphCutter(),
        encoder=encoder,
        encoder_thread=thread,
        store=store,
        settings=SETTINGS,
        poll_s=0.01,
    )
    return House(engine, store, encoder, thread, parts)


async def submit(house: House, source: str, paragraphs: list[str]) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield "\n\n".join(paragraphs).encode()

    await house.parts.ingestion.submit(ANN, source, content(), DocumentMeta())


# ---- the program that is killed


def arm(house: House, point: Point) -> None:
    """Set the point at which this process kills itself."""
    calls = 0

    def reached() -> bool:
        nonlocal calls
        calls += 1
        return calls == point.call

    if point.step == "sql":

        def on_statement(*_args: Any) -> None:
            if reached():
                die()

        event.listen(house.engine, "after_cursor_execute", on_statement)
        return
    pipeline: Any = house.parts.worker._pipeline  # type: ignore[attr-defined]
    target, name = {
        "plain": (pipeline._originals, "_read"),
        "parse": (pipeline._parsers, "parse"),
        "vault": (pipeline._vault, "write"),
        "chunk_ids": (house.store, "chunk_ids"),
        "encode": (house.encoder, "encode_documents"),
        "write": (house.store, "write"),
        "admit": (pipeline._lifecycle, "admit"),
        "publish": (house.store, "publish"),
        "switch": (pipeline._lifecycle, "switch"),
        "delete": (house.store, "delete"),
        "purged": (pipeline._lifecycle, "purged"),
        "hash": (pipeline._lifecycle, "record_hash"),
        "succeed": (pipeline._leases, "succeed"),
        "unlink": (house.parts.originals, "delete"),
    }[point.step]
    setattr(target, name, killing(getattr(target, name), reached, after=point.after))


def killing(real: Callable[..., Any], reached: Callable[[], bool], *, after: bool) -> Callable[..., Any]:
    if asyncio.iscoroutinefunction(real):

        async def wrapped_async(*args: Any, **kwargs: Any) -> Any:
            now = reached()
            if now and not after:
                die()
            result = await real(*args, **kwargs)
            if now:
                die()
            return result

        return wrapped_async

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        now = reached()
        if now and not after:
            die()
        result = real(*args, **kwargs)
        if now:
            die()
        return result

    return wrapped


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def play(home: Path, points: tuple[Point, ...], number: int) -> None:
    """Life `number` of a scenario: the first one makes a ready document and queues a new version and another file."""
    house = await open_house(home)
    if number == 0:
        await submit(house, "a.txt", OLD)
        await house.parts.worker.run_until_idle()
        await submit(house, "a.txt", NEW)
        await submit(house, "b.txt", OTHER)
    arm(house, points[number])
    await house.parts.worker.run_until_idle()


def forked(task: Callable[[], Any]) -> int:
    """Run an async task in a child process; return its wait status."""
    child = os.fork()
    if child == 0:
        asyncio.run(task())
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main(folder: Path) -> None:
    """Play all scenarios; write down the wait statuses of each."""
    import qdrant_edge  # noqa: F401 - imported once, before the forks

    statuses: dict[str, list[int]] = {}
    for name, points in SCENARIOS.items():
        home = folder / name
        home.mkdir()
        statuses[name] = [forked(partial(play, home, points, life)) for life in range(len(points))]
    (folder / "statuses.json").write_text(json.dumps(statuses), encoding="utf-8")


# ---- the tests


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[int]]]:
    folder = tmp_path_factory.mktemp("crash")
    subprocess.run([sys.executable, __file__, str(folder)], check=True, timeout=280)
    return folder, json.loads((folder / "statuses.json").read_bytes())


@pytest.mark.parametrize("name", SCENARIOS)
async def test_crash_killed_at_any_step_resumes_to_the_same_end(
    killed: tuple[Path, dict[str, list[int]]], name: str
) -> None:
    folder, statuses = killed
    killings = statuses[name]
    # A random statement may lie behind the end of what a second run had left to do.
    assert killings[0] == signal.SIGKILL
    assert set(killings) <= {signal.SIGKILL, 0}

    house = await open_house(folder / name)
    queued = house.parts.ingestion.list_jobs(ANN)[:2]
    written = sum([len(await house.store.chunk_ids("acme", job.document_id)) for job in queued])
    await house.parts.worker.run_until_idle()

    # The batches that were written are not encoded again, nor is what the former version has.
    assert len(house.encoder.texts) <= len(NEW) + len(OTHER) - written
    assert "kept paragraph" not in house.encoder.texts
    assert len(set(house.encoder.texts)) == len(house.encoder.texts)
    jobs = house.parts.ingestion.list_jobs(ANN)
    assert [(job.source, job.state, job.error) for job in jobs] == [
        ("b.txt", "succeeded", None),
        ("a.txt", "succeeded", None),
        ("a.txt", "succeeded", None),
    ]
    ready = house.parts.ingestion.list_documents(ANN)
    assert [(each.source, each.state, each.version) for each in ready] == [("b.txt", "ready", 1), ("a.txt", "ready", 2)]
    assert all(each.content_hash for each in ready)
    with house.engine.connect() as connection:
        known = list(connection.execute(select(documents.c.document_id)).scalars())
        carried = set(connection.execute(select(vault_uses.c.pseudonym)).scalars())
    stored = {document_id: await house.store.chunk_ids("acme", document_id) for document_id in known}
    assert {document_id: len(ids) for document_id, ids in stored.items() if ids} == {
        ready[0].document_id: len(OTHER),
        ready[1].document_id: len(NEW),
    }
    assert len(known) == 3
    found = [chunk async for batch in house.store.scan(Scope.of(ANN)) for chunk in batch]
    assert sorted(chunk.text for chunk in found) == sorted(OTHER + NEW[:-1] + ["[SECRET_wen]"])
    assert carried == {"[SECRET_wen]"}
    assert house.parts.vault.reveal(ANN, "[SECRET_wen]", "test") == "new"
    originals = {path.stem for path in (folder / name / "originals").rglob("*.original")}
    assert originals == {each.document_id for each in ready}
    assert list((folder / name / "originals").rglob("*.plain")) == []
    await house.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
