"""kill -9 at random moments of a working ingestion, round after round: `make bench-crash`.

Each round forks a process that opens the same folder (embedded store, SQLite, sealed
originals), uploads, uploads again and deletes at random while its worker runs, and is killed;
in some rounds the parsers run in processes of their own, and one of these is killed first. What
the process was told before it died is in a journal beside the folder. The next one checks that
all of it is there; after every few rounds, and at the end, the folder is worked to rest and
compared, chunk by chunk, with what the journal says it must hold.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select

from api.database import open_engine
from ingest.assembly import IngestParts, assemble
from ingest.cutting import SymbolicCutter
from ingest.errors import UnknownDocumentError
from ingest.parser_worker import parse_file
from ingest.parsers.session import QUIET
from ingest.sandbox import ParserPool
from ingest.settings import ChunkSettings, IngestSettings, ParserSettings
from ingest.tables import documents, jobs, vault_uses
from ingest.types import DocumentMeta, ParsedDocument
from ingest.work import Parsers
from retrieval.encoder import ModelThread
from retrieval.fakes import HashEncoder
from retrieval.settings import StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.types import ALL_RIGHTS, Principal, Scope

ANN = Principal(tenant="acme", user="ann", rights=ALL_RIGHTS)
SETTINGS = IngestSettings(
    encode_batch=4,
    encode_batch_s=3600,
    chunk=ChunkSettings(max_tokens=64, min_tokens=8),
    parser=ParserSettings(processes=2),
)
SECTIONS = 12
SUFFIXES = (".md", ".txt", ".html")
KINDS = ("Travel", "Budget", "Safety", "Hiring", "Storage", "Audit")


def content(source: str, number: int) -> str:
    """The text of a source as of operation `number`: every upload changes a third of its sections."""
    chance = random.Random(f"{source}/{number}")
    sections: list[str] = []
    for n in range(SECTIONS):
        revision = number if chance.random() < 0.35 or n == 0 else 0
        kind = KINDS[(n + number) % len(KINDS)] if revision else KINDS[n % len(KINDS)]
        body = (
            f"{kind} requests of {source} go to desk {n} within {n + 2} days, as revision {revision} says. "
            f"They are kept for {n + 1} years; questions go to 1391234{int(source[5:8]) % 100:02d}{n:02d}."
        )
        if source.endswith(".html"):
            sections.append(f"<h2>Rule {n}</h2><p>{body}</p>")
        else:
            sections.append(f"## Rule {n}\n\n{body}" if source.endswith(".md") else body)
    text = "\n\n".join(sections)
    return f"<html><body><h1>Rules</h1>{text}</body></html>" if source.endswith(".html") else text + "\n"


# ---- one process


class HereParsers:
    """Parses with the real parsers in this process: a fork of it starts at once."""

    async def parse(self, path: Path, display_name: str, **_options: Any) -> ParsedDocument:
        return await asyncio.to_thread(parse_file, path, display_name, SETTINGS.parser, QUIET)


@dataclass
class House:
    engine: Engine
    store: EdgeStore
    parts: IngestParts
    thread: ModelThread
    parsers: Parsers

    async def close(self) -> None:
        await self.store.close()
        if isinstance(self.parsers, ParserPool):
            await self.parsers.close()
        self.thread.close()
        self.parts.close()
        self.engine.dispose()


async def open_house(home: Path, language: SymbolLanguage, *, sandboxed: bool) -> House:
    engine = open_engine(f"sqlite:///{home / 'attest.sqlite3'}")
    encoder, thread = HashEncoder(dim=8), ModelThread("encoder")
    store = EdgeStore(home / "index", StoreSettings())
    await store.open(encoder.info)
    parsers: Parsers = ParserPool(SETTINGS.parser) if sandboxed else HereParsers()
    parts = assemble(
        engine=engine,
        folder=home / "originals",
        key=bytes(range(32)),
        parsers=parsers,
        cutter=SymbolicCutter(language, encoder.count_tokens, encoder.info.max_tokens, SETTINGS.chunk),
        encoder=encoder,
        encoder_thread=thread,
        store=store,
        settings=SETTINGS,
        poll_s=0.05,
        retry_delay_s=lambda _attempt: 0.0,
    )
    return House(engine, store, parts, thread, parsers)


class Journal:
    """What was begun, and what was acknowledged, one JSON line each; a killed process loses no line."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def write(self, **entry: Any) -> None:
        descriptor = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, json.dumps(entry).encode() + b"\n")
        os.close(descriptor)

    def read(self) -> list[dict[str, Any]]:
        if not self.file.exists():
            return []
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]


@dataclass
class Past:
    """What the journal tells: the operations in order, and which of them were acknowledged."""

    operations: dict[int, dict[str, Any]] = field(default_factory=dict)
    acknowledged: dict[int, dict[str, Any]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, journal: Journal) -> Past:
        past = cls()
        for entry in journal.read():
            if "fault" in entry:
                past.faults.append(entry["fault"])
            elif "ack" in entry:
                past.acknowledged[entry["ack"]] = entry
            else:
                past.operations[entry["n"]] = entry
        return past

    def doubtful(self) -> list[dict[str, Any]]:
        """Operations that nobody knows the outcome of: their process died in between."""
        return [each for n, each in self.operations.items() if n not in self.acknowledged]

    def expected(self) -> dict[str, int]:
        """Source → number of the upload whose text must be there; sources that were deleted last are left out."""
        last: dict[str, int] = {}
        for n, each in self.operations.items():
            if each["op"] == "delete":
                last.pop(each["source"], None)
            elif not self.acknowledged[n].get("lost"):
                last[each["source"]] = each["text"]
        return last


async def resolve(house: House, journal: Journal, past: Past) -> None:
    """Settle what is in doubt: a delete is done again, an upload is looked up by its content."""
    for each in past.doubtful():
        if each["op"] == "delete":
            await delete(house, each["source"])
            journal.write(ack=each["n"])
        else:
            digest = hashlib.sha256(content(each["source"], each["text"]).encode()).hexdigest()
            with house.engine.connect() as connection:
                there = connection.execute(select(jobs.c.job_id).where(jobs.c.content_hash == digest)).first()
            journal.write(ack=each["n"], lost=there is None)


async def delete(house: House, source: str) -> None:
    """Delete all versions of a source, the latest first."""
    for document in house.parts.ingestion.list_documents(ANN, source=source):
        receipt = await house.parts.ingestion.delete(ANN, document.document_id)
        assert not any(receipt.left.values()), receipt


async def check_at_rest(house: House, past: Past) -> list[str]:
    """What must hold whenever a process dies: everything that was acknowledged is there."""
    faults: list[str] = []
    with house.engine.connect() as connection:
        known = {row.job_id for row in connection.execute(select(jobs.c.job_id))}
        running = connection.execute(
            select(jobs.c.document_id, jobs.c.chunks_done).where(jobs.c.state == "running", jobs.c.chunks_done > 0)
        ).all()
        ready = connection.execute(
            select(documents.c.document_id, documents.c.chunk_count).where(documents.c.state == "ready")
        ).all()
        deleted = set(
            connection.execute(select(documents.c.document_id).where(documents.c.state == "deleted")).scalars()
        )
    faults += [
        f"acknowledged upload {n} has no job"
        for n, ack in past.acknowledged.items()
        if ack.get("job", "") not in known | {""}
    ]
    seen = [chunk async for batch in house.store.scan(Scope.of(ANN)) for chunk in batch]
    published = Counter(chunk.document_id for chunk in seen)
    if len({chunk.chunk_id for chunk in seen}) != len(seen):
        faults.append("a chunk is there twice")
    for document_id, count in ready:
        if published[document_id] != count:
            faults.append(f"ready document {document_id} shows {published[document_id]} of {count} chunks")
    for document_id, done in running:
        stored = len(await house.store.chunk_ids(ANN.tenant, document_id))
        if stored < done and document_id not in deleted:
            faults.append(f"document {document_id} holds {stored} chunks, {done} were reported done")
    return faults


async def live(
    home: Path, language: SymbolLanguage, seed: int, sources: list[str], ready: int, *, sandboxed: bool
) -> None:
    """One process until it is killed: check, settle doubts, then work."""
    house = await open_house(home, language, sandboxed=sandboxed)
    journal = Journal(home.parent / "journal.jsonl")
    past = Past.of(journal)
    for fault in await check_at_rest(house, past):
        journal.write(fault=fault)
    os.write(ready, b".")
    working = asyncio.create_task(house.parts.worker.run_forever(asyncio.Event()))
    await resolve(house, journal, past)
    chance = random.Random(seed)
    past = Past.of(journal)
    number = max(past.operations, default=0)
    for failed in house.parts.ingestion.list_jobs(ANN, states={"failed"}, limit=500):
        await retry(house, failed.job_id)
    while not working.done():
        number += 1
        source = chance.choice(sources)
        current = past.expected().get(source)
        if current is not None and chance.random() < 0.25:
            operation: dict[str, Any] = {"n": number, "op": "delete", "source": source}
            journal.write(**operation)
            await delete(house, source)
            answer: dict[str, Any] = {"ack": number}
        else:
            again = current is not None and chance.random() < 0.1
            text = current if again else number
            operation = {"n": number, "op": "upload", "source": source, "text": text}
            journal.write(**operation)
            job = await house.parts.ingestion.submit(ANN, source, pieces(content(source, text)), DocumentMeta())
            answer = {"ack": number, "job": job.job_id}
        journal.write(**answer)
        past.operations[number], past.acknowledged[number] = operation, answer
        await asyncio.sleep(chance.random() * 0.02)
    raise AssertionError("the worker ended")


async def retry(house: House, job_id: str) -> None:
    """Try a job again that failed because its parser was killed; one that was replaced since stays as it is."""
    with contextlib.suppress(UnknownDocumentError):
        await house.parts.ingestion.retry(ANN, job_id)


async def pieces(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def fill(home: Path, language: SymbolLanguage, sources: list[str]) -> None:
    """Take the whole corpus in, undisturbed."""
    house = await open_house(home, language, sandboxed=False)
    journal = Journal(home.parent / "journal.jsonl")
    for number, source in enumerate(sources, start=1):
        journal.write(n=number, op="upload", source=source, text=number)
        job = await house.parts.ingestion.submit(ANN, source, pieces(content(source, number)), DocumentMeta())
        journal.write(ack=number, job=job.job_id)
    await house.parts.worker.run_until_idle()
    await house.close()


async def settle(home: Path, language: SymbolLanguage) -> None:
    """Work to rest and compare everything; faults go to the journal."""
    house = await open_house(home, language, sandboxed=False)
    journal = Journal(home.parent / "journal.jsonl")
    await resolve(house, journal, Past.of(journal))
    await house.parts.worker.run_until_idle()
    for failed in house.parts.ingestion.list_jobs(ANN, states={"failed"}, limit=500):
        await retry(house, failed.job_id)
    await house.parts.worker.run_until_idle()
    past = Past.of(journal)
    for fault in [*await check_at_rest(house, past), *await check_settled(house, home, language, past)]:
        journal.write(fault=fault)
    await house.close()


async def check_settled(house: House, home: Path, language: SymbolLanguage, past: Past) -> list[str]:
    """Compare a folder at rest with the journal: jobs, documents, chunks, vault, originals."""
    faults: list[str] = []
    with house.engine.connect() as connection:
        states = Counter(connection.execute(select(jobs.c.state)).scalars())
        unended = connection.execute(
            select(jobs.c.state, jobs.c.error_code).where(jobs.c.state.in_(("queued", "running", "failed")))
        ).all()
        unpurged = connection.execute(
            select(documents.c.document_id).where(documents.c.state == "deleted", documents.c.purged.is_(False))
        ).all()
        carried = set(connection.execute(select(vault_uses.c.document_id)).scalars())
    # A failed job whose document was replaced by a later upload cannot be tried again.
    faults += [f"a job is {row.state} ({row.error_code})" for row in unended if row.error_code != "parser_limit"]
    faults += [f"deleted document {row.document_id} is not purged" for row in unpurged]
    listed = house.parts.ingestion.list_documents(ANN, limit=1000)
    expected = past.expected()
    if Counter(each.source for each in listed if each.state == "ready") != Counter(list(expected)):
        wanted, got = set(expected), {each.source for each in listed if each.state == "ready"}
        faults.append(f"sources missing: {sorted(wanted - got)}, left over: {sorted(got - wanted)}")
    if len(listed) != len(expected):
        faults.append(f"{len(listed)} documents are listed, {len(expected)} expected")
    chunks = [chunk async for batch in house.store.scan(Scope.of(ANN)) for chunk in batch]
    by_document: dict[str, list[str]] = {each.document_id: [] for each in listed}
    for chunk in chunks:
        by_document.setdefault(chunk.document_id, []).append(chunk.text)
    cutter = SymbolicCutter(language, HashEncoder(dim=8).count_tokens, 512, SETTINGS.chunk)
    scratch = home.parent / "scratch"
    for document in listed:
        if (number := expected.get(document.source)) is None:
            continue
        scratch.write_text(content(document.source, number), encoding="utf-8")
        parsed = parse_file(scratch, document.source, SETTINGS.parser, QUIET)
        wanted_texts = sorted(chunk.text for chunk in cutter.cut(parsed, document).chunks)
        if sorted(by_document[document.document_id]) != wanted_texts:
            faults.append(f"{document.source} does not hold the chunks of upload {number}")
    stale = set(by_document) - {each.document_id for each in listed}
    if stale:
        faults.append(f"chunks of {len(stale)} documents that are gone are visible in the store")
    points = house.store._held().call("sizes")["points"]
    if points != len(chunks):
        faults.append(f"the store holds {points} points, {len(chunks)} are visible")
    kept = {each.document_id for each in listed}
    if not carried <= kept:
        faults.append("the vault keeps uses of documents that are gone")
    originals = {path.stem for path in (home / "originals").rglob("*.original")}
    lost = sum(bool(ack.get("lost")) for ack in past.acknowledged.values())
    # What an upload left that was killed before it was acknowledged is swept after a day.
    if not kept <= originals or len(originals - kept) > lost:
        faults.append(f"{len(kept - originals)} originals are missing, {len(originals - kept)} are left over")
    if list((home / "originals").rglob("*.plain")):
        faults.append("a plain copy of an original is left")
    assert states
    return faults


# ---- the rounds


@dataclass
class Outcome:
    rounds: int = 0
    killed: int = 0
    parsers_killed: int = 0
    ended: int = 0
    faults: list[str] = field(default_factory=list)


def fork(task: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Run an async task in a child process; return its id."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(task())
            code = 0
        finally:
            os._exit(code)
    return child


def rounds(folder: Path, count: int, corpus: int, seed: int, settle_every: int) -> Outcome:
    import qdrant_edge  # noqa: F401 - imported once, before the forks

    home = folder / "home"
    home.mkdir()
    language = load_language(bytes(32))
    warm_up(folder)
    chance = random.Random(seed)
    sources = [f"rules{n:03d}{SUFFIXES[n % len(SUFFIXES)]}" for n in range(corpus)]
    outcome = Outcome()
    child = fork(lambda: fill(home, language, sources))
    assert os.waitpid(child, 0)[1] == 0, "the corpus could not be taken in"
    for n in range(count):
        sandboxed = n % 5 == 4
        one_round(home, language, sources, chance, outcome, sandboxed=sandboxed)
        if n % settle_every == settle_every - 1 or n == count - 1:
            child = fork(lambda: settle(home, language))
            if (status := os.waitpid(child, 0)[1]) != 0:
                outcome.faults.append(f"round {n}: the check ended with status {status}")
        outcome.faults = [*outcome.faults, *Past.of(Journal(folder / "journal.jsonl")).faults][:20]
        if outcome.faults:
            outcome.faults = [f"after round {n}: {fault}" for fault in outcome.faults]
            break
    return outcome


def warm_up(folder: Path) -> None:
    """Import the parsers once, before the forks."""
    for suffix in SUFFIXES:
        file = folder / f"warm{suffix}"
        file.write_text(content(f"rules000{suffix}", 1), encoding="utf-8")
        parse_file(file, file.name, SETTINGS.parser, QUIET)


def one_round(
    home: Path,
    language: SymbolLanguage,
    sources: list[str],
    chance: random.Random,
    outcome: Outcome,
    *,
    sandboxed: bool,
) -> None:
    read, write = os.pipe()
    print(".", end="", file=sys.stderr, flush=True)
    seed = chance.randrange(2**32)
    child = fork(lambda: live(home, language, seed, sources, write, sandboxed=sandboxed))
    os.close(write)
    # One in six dies while it opens, checks and mends; the others at work.
    if chance.random() > 1 / 6:
        os.read(read, 1)
        if sandboxed:
            time.sleep(0.5 + chance.random() * 2)
            outcome.parsers_killed += kill_a_parser(child)
        time.sleep(chance.random())
    else:
        time.sleep(chance.random() * 0.4)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(read)
    outcome.rounds += 1
    if status == signal.SIGKILL:
        outcome.killed += 1
    else:
        outcome.ended += 1
        outcome.faults.append(f"the process ended by itself with status {status}")


def kill_a_parser(parent: int) -> int:
    """Kill one child of a process, where it has any; return how many."""
    tasks = Path(f"/proc/{parent}/task")
    children = [pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
    if not children:
        return 0
    try:
        os.kill(int(random.choice(children)), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settle-every", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    shm = Path("/dev/shm")
    began = time.monotonic()
    # In memory where that is possible: a killed process loses nothing that a disk would keep.
    with tempfile.TemporaryDirectory(dir=shm if os.access(shm, os.W_OK) else None) as scratch:
        outcome = rounds(Path(scratch), options.rounds, options.documents, options.seed, options.settle_every)
        past = Past.of(Journal(Path(scratch) / "journal.jsonl"))
    operations = Counter(each["op"] for each in past.operations.values())
    figures = {
        "rounds": outcome.rounds,
        "killed": outcome.killed,
        "parsers_killed": outcome.parsers_killed,
        "documents": options.documents,
        "uploads": operations["upload"],
        "deletes": operations["delete"],
        "faults": outcome.faults,
        "seconds": round(time.monotonic() - began, 1),
    }
    if options.json:
        print(json.dumps(figures))
    else:
        print(
            f"{figures['rounds']} rounds, {figures['killed']} processes and {figures['parsers_killed']} parsers "
            f"killed, {figures['uploads']} uploads and {figures['deletes']} deletes over "
            f"{figures['documents']} documents, {len(outcome.faults)} faults, {figures['seconds']} s "
            f"(seed {options.seed})"
        )
        for fault in outcome.faults:
            print(f"- {fault}")
    sys.exit(bool(outcome.faults))


if __name__ == "__main__":
    main()
