"""S3, S4: a hang, a crash or a bomb costs one document; others go on, and no process is left."""

from __future__ import annotations

import asyncio
import io
import os
import select
import subprocess
import sys
import textwrap
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import docx
import pytest

from ingest.errors import (
    CorruptDocumentError,
    DocumentTooLargeError,
    IngestError,
    NoTextError,
    ParserLimitError,
    SourceUnavailableError,
    UnsupportedDocumentError,
)
from ingest.sandbox import ParserPool
from ingest.sandbox_worker import Worker
from ingest.settings import ParserSettings

HOSTILE = """
import ctypes, os, sys, time
from pathlib import Path
from ingest.errors import NoTextError
from ingest.types import Block, ParsedDocument

def parse(path, name, limits, session):
    order = Path(path).read_text()
    if name.endswith("began"):
        open(name, "w").close()  # a FIFO: tells the test that the parser is at work
    if order == "hang":
        while True:
            pass
    if order == "sleep":
        time.sleep(600)
    if order == "hold the interpreter":
        ctypes.PyDLL(None).sleep(600)
    if order == "exit":
        os._exit(7)
    if order == "crash":
        ctypes.string_at(0)
    if order == "eat":
        held = []
        while True:
            held.append(bytearray(8 * 1024 * 1024))
            held[-1][::4096] = b"x" * len(held[-1][::4096])
    if order == "allocate":
        bytearray(64 * 1024 * 1024 * 1024)
    if order == "recurse":
        return parse_forever(0)
    if order == "raise":
        raise LookupError("words of the document")
    if order == "nothing":
        raise NoTextError(f"{name}: nothing")
    if order == "print":
        print("noise between the frames")
        sys.stdout.flush()
        os.write(1, b"more noise")
    if order == "pid":
        order = str(os.getpid())
    if order == "environment":
        order = repr(sorted(os.environ))
    return ParsedDocument(format="text", blocks=(Block(kind="paragraph", text=order),))

def parse_forever(depth):
    return parse_forever(depth + 1)
"""


@pytest.fixture
def orders(tmp_path: Path) -> Callable[[str], Path]:
    def write(order: str) -> Path:
        path = tmp_path / order.replace(" ", "-")
        path.write_text(order, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ParserPool]:
    """A pool whose parser does what the file says; one second and 256 MB per document."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile_parser.py").write_text(HOSTILE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("ATTEST_SECRET", "k")
        pool = ParserPool(ParserSettings(processes=1, timeout_s=1.0, memory_mb=256), handler="hostile_parser:parse")
        yield pool
        asyncio.run(pool.close())


async def told(pool: ParserPool, path: Path) -> str:
    return (await pool.parse(path, path.name)).blocks[0].text


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("hang", "stopped after 1 s"),
        ("sleep", "stopped after 1 s"),
        ("hold the interpreter", "stopped after 1 s"),
        ("exit", "exit code 7"),
        ("crash", "signal 11"),
        ("eat", "256 MB"),
        ("allocate", "256 MB"),
        ("recurse", "nested too deeply"),
    ],
)
async def test_sandbox_ends_a_bad_document_with_the_reason_and_serves_the_next(
    hostile: ParserPool, orders: Callable[[str], Path], order: str, reason: str
) -> None:
    with pytest.raises(ParserLimitError, match=reason) as caught:
        await hostile.parse(orders(order), "bad file.pdf")
    assert "bad file.pdf" in str(caught.value)
    assert await told(hostile, orders("fine")) == "fine"


async def test_sandbox_keeps_a_worker_warm(hostile: ParserPool, orders: Callable[[str], Path]) -> None:
    assert await told(hostile, orders("pid")) == await told(hostile, orders("pid"))


async def test_sandbox_turns_a_parsers_fault_into_that_files_failure(
    hostile: ParserPool, orders: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(CorruptDocumentError, match="LookupError") as caught:
        await hostile.parse(orders("raise"), "m/a name in a document.pdf")
    assert "words of the document" not in str(caught.value) + caplog.text
    assert "a name in a document" not in caplog.text
    # The file's own name, which is the document's id.
    assert "parser failed on raise\n" in caplog.text
    assert "hostile_parser.py" in caplog.text


async def test_sandbox_passes_our_errors_on(hostile: ParserPool, orders: Callable[[str], Path]) -> None:
    with pytest.raises(NoTextError, match="x: nothing"):
        await hostile.parse(orders("nothing"), "x")


async def test_sandbox_survives_noise_on_standard_output(hostile: ParserPool, orders: Callable[[str], Path]) -> None:
    assert await told(hostile, orders("print")) == "print"
    assert await told(hostile, orders("fine")) == "fine"


async def test_sandbox_gives_the_parser_nothing_of_the_environment(
    hostile: ParserPool, orders: Callable[[str], Path]
) -> None:
    assert "SECRET" not in await told(hostile, orders("environment"))


async def test_sandbox_serves_many_at_once(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(12)]
    for path in paths:
        path.write_text(f"This is file {path.name}.", encoding="utf-8")
    pool = ParserPool(ParserSettings(processes=2))
    try:
        parsed = await asyncio.gather(*(pool.parse(path, path.name) for path in paths))
    finally:
        await pool.close()
    assert [document.blocks[0].text for document in parsed] == [f"This is file {path.name}." for path in paths]


async def at_work(pool: ParserPool, order: Path) -> asyncio.Task[object]:
    """Start a parse and return when its worker has begun."""
    began = order.with_name(f"{order.name}-began")
    os.mkfifo(began)
    task: asyncio.Task[object] = asyncio.create_task(pool.parse(order, str(began)))
    await asyncio.to_thread(began.read_bytes)
    return task


async def test_sandbox_cancel_ends_the_worker(hostile: ParserPool, orders: Callable[[str], Path]) -> None:
    before = int(await told(hostile, orders("pid")))
    task = await at_work(hostile, orders("sleep"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert int(await told(hostile, orders("pid"))) != before


async def test_sandbox_close_ends_a_parser_at_work_and_leaves_no_process(
    hostile: ParserPool, orders: Callable[[str], Path]
) -> None:
    pool = ParserPool(ParserSettings(processes=1, timeout_s=60), handler="hostile_parser:parse")
    pid = int(await told(pool, orders("pid")))
    task = await at_work(pool, orders("sleep"))
    await pool.close()
    with pytest.raises(ParserLimitError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(RuntimeError, match="closed"):
        await pool.parse(orders("fine"), "x")


async def test_sandbox_waits_for_ended_processes_outside_the_event_loop(
    hostile: ParserPool, orders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[threading.Thread] = []
    real = Worker.kill

    def kill(worker: Worker) -> None:
        waited.append(threading.current_thread())
        real(worker)

    monkeypatch.setattr(Worker, "kill", kill)
    pool = ParserPool(ParserSettings(processes=1, timeout_s=60), handler="hostile_parser:parse")
    task = await at_work(pool, orders("sleep"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await told(pool, orders("fine")) == "fine"  # the thread is through with the cancelled one
    cancelled = len(waited)
    await pool.close()
    assert len(waited) > cancelled > 0
    assert threading.current_thread() not in waited


def test_sandbox_may_be_used_from_one_event_loop_after_another(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words", encoding="utf-8")
    pool = ParserPool(ParserSettings())

    async def parse() -> str:
        return (await pool.parse(path, "a.txt")).blocks[0].text

    assert [asyncio.run(parse()), asyncio.run(parse())] == ["words", "words"]
    asyncio.run(pool.close())


PARENT = """
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from ingest.sandbox import ParserPool
from ingest.settings import ParserSettings

async def main():
    pool = ParserPool(ParserSettings(timeout_s=60), handler="hostile_parser:parse")
    print((await pool.parse(Path({order!r}), "x")).blocks[0].text, flush=True)
    await pool.parse(Path({hang!r}), "x")

asyncio.run(main())
"""


def test_sandbox_worker_at_work_ends_when_its_parent_is_killed(tmp_path: Path, orders: Callable[[str], Path]) -> None:
    (tmp_path / "hostile_parser.py").write_text(HOSTILE, encoding="utf-8")
    script = textwrap.dedent(PARENT).format(folder=str(tmp_path), order=str(orders("pid")), hang=str(orders("hang")))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        watch = os.pidfd_open(worker)
        parent.kill()
    try:
        # A pidfd becomes readable when its process ends.
        assert select.select([watch], [], [], 20)[0]
    finally:
        os.close(watch)


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    pool = ParserPool(ParserSettings())
    yield pool
    asyncio.run(pool.close())


def bomb() -> bytes:
    buffer = io.BytesIO()
    source = docx.Document()
    source.save(buffer)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/media/bomb.bin", b"\0" * (40 * 1024 * 1024))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (bomb(), DocumentTooLargeError),
        (b"%PDF-1.7 nothing else", CorruptDocumentError),
        (b"\x89PNG\r\n\x1a\n", CorruptDocumentError),
        (b"ID3\x04\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00", UnsupportedDocumentError),
        (b"", NoTextError),
        (b"<div>" * 100_000, CorruptDocumentError),
        (b"> " * 50_000 + b"x", None),
        (b"[" * 2000, None),
    ],
)
async def test_sandbox_real_parsers_answer_hostile_files(
    pool: ParserPool, tmp_path: Path, content: bytes, error: type[IngestError] | None
) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)
    if error is None:
        assert (await pool.parse(path, "upload.md")).blocks
        return
    with pytest.raises(error, match="upload"):
        await pool.parse(path, "upload.html" if content.startswith(b"<") else "upload.md")


async def test_sandbox_missing_and_oversized_files(pool: ParserPool, tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailableError):
        await pool.parse(tmp_path / "gone", "gone.pdf")
    path = tmp_path / "large"
    path.write_bytes(b"words " * 1000)
    small = ParserPool(ParserSettings(max_bytes=100))
    with pytest.raises(DocumentTooLargeError, match="6000 bytes"):
        await small.parse(path, "large.txt")
    await small.close()
