"""Parsers in processes of their own, with limits: path in, plain data out.

A document that hangs, crashes or explodes costs that document and one process;
the pool starts another and goes on. Workers are kept warm between documents.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ingest.errors import (
    CorruptDocumentError,
    DocumentTooLargeError,
    EncryptedDocumentError,
    IngestError,
    NoTextError,
    ParserLimitError,
    SourceUnavailableError,
    UnsupportedDocumentError,
)
from ingest.parser_worker import FRAME
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument
from ingest.work import ignore_page

_log = logging.getLogger(__name__)

_HANDLER = "ingest.parser_worker:parse_file"
_BOOT = "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from ingest.parser_worker import main; main(sys.argv[2])"
"""The child gets its parent's import path, as multiprocessing's spawn does it, but no `__main__` of the parent."""
_START_TIMEOUT_S = 120.0
_POLL_S = 0.1
_MAX_DOCUMENTS = 200
"""After so many documents a worker is replaced, so that leaks of native libraries end with it."""
_MEGABYTE = 1024 * 1024
_ERRORS: dict[str, type[IngestError]] = {
    error.code: error
    for error in (
        UnsupportedDocumentError,
        CorruptDocumentError,
        EncryptedDocumentError,
        NoTextError,
        DocumentTooLargeError,
        ParserLimitError,
        SourceUnavailableError,
    )
}


class ParserPool:
    """A fixed number of parser processes, started when first needed.

    May be used from any event loop, and from several one after the other; a call
    that is cancelled ends its worker. `close` leaves no process behind, and a
    worker whose parent dies without it ends by itself.
    """

    def __init__(self, settings: ParserSettings, *, handler: str = _HANDLER) -> None:
        """Take the limits; `handler` names the worker's function as `module:function`."""
        self._settings = settings
        self._handler = handler
        self._threads = ThreadPoolExecutor(settings.processes, thread_name_prefix="parser")
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        self._lock = threading.Lock()
        """Protects `_workers` and `_closed`."""
        self._workers: set[_Worker] = set()
        self._closed = False

    async def parse(
        self,
        path: Path,
        display_name: str,
        *,
        password: str | None = None,
        attachments: Path | None = None,
        on_page: Callable[[int, int | None], None] = ignore_page,
    ) -> ParsedDocument:
        """Detect and parse one file; waits for a free process. See `ingest.work.Parsers`.

        Raises:
            ParserLimitError: out of time or memory, or the process died; says which.
            IngestError: what the parser found wrong with the file.
        """
        if self._closed:
            raise RuntimeError("the parser pool is closed")
        call = _Call(path, display_name, password)
        future = asyncio.get_running_loop().run_in_executor(self._threads, self._run, call)
        try:
            return await future
        except asyncio.CancelledError:
            call.cancel()
            raise

    async def close(self) -> None:
        """End all processes, those at work too; their documents fail with `ParserLimitError`."""
        with self._lock:
            self._closed = True
            workers = list(self._workers)
        for worker in workers:
            worker.kill()
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)
        for worker in workers:
            worker.dispose()

    def _run(self, call: _Call) -> ParsedDocument:
        worker = self._take(call)
        try:
            call.attach(worker)
            parsed = worker.parse(call, self._settings)
        except _WorkerLostError as exc:
            raise ParserLimitError(f"{call.display_name}: {exc}") from exc
        finally:
            call.detach()
            self._give_back(worker)
        return parsed

    def _take(self, call: _Call) -> _Worker:
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return self._start(call)
            if worker.is_alive:
                return worker
            self._drop(worker)

    def _start(self, call: _Call) -> _Worker:
        with self._lock:
            if self._closed:
                raise ParserLimitError(f"{call.display_name}: the parser was shut down before it began")
            worker = _Worker(self._handler)
            self._workers.add(worker)
        try:
            worker.wait_until_ready()
        except _WorkerLostError as exc:
            self._drop(worker)
            raise ParserLimitError(f"{call.display_name}: the parser process did not start ({exc})") from exc
        return worker

    def _give_back(self, worker: _Worker) -> None:
        if worker.is_alive and worker.is_fit(self._settings) and not self._closed:
            self._idle.put(worker)
        else:
            self._drop(worker)

    def _drop(self, worker: _Worker) -> None:
        worker.dispose()
        with self._lock:
            self._workers.discard(worker)


class _WorkerLostError(Exception):
    """The process is gone or was ended; the text says why, for the reader of the failed document."""


class _Call:
    """One document on its way, with a switch that ends its worker."""

    def __init__(self, path: Path, display_name: str, password: str | None) -> None:
        self.path = path
        self.display_name = display_name
        self.password = password
        self._lock = threading.Lock()
        """Protects the two fields below against a cancel in between."""
        self._worker: _Worker | None = None
        self._cancelled = False

    def attach(self, worker: _Worker) -> None:
        with self._lock:
            self._worker = worker
            cancelled = self._cancelled
        if cancelled:
            worker.kill()

    def detach(self) -> None:
        with self._lock:
            self._worker = None

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            worker = self._worker
        if worker is not None:
            worker.kill()


class _Worker:
    """One child process and the pipes to it. Used by one thread at a time, except `kill`."""

    def __init__(self, handler: str) -> None:
        self._documents = 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, json.dumps(sys.path), handler],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # No secret of the parent's environment reaches a process that reads hostile files.
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def is_fit(self, settings: ParserSettings) -> bool:
        """Tell whether the worker may take another document: few served, memory given back."""
        return self._documents < _MAX_DOCUMENTS and self._resident_bytes() < settings.memory_mb * _MEGABYTE // 2

    def kill(self) -> None:
        """End the process; safe to call again, and from another thread than the one that reads the pipes."""
        self._process.kill()
        self._process.wait()

    def dispose(self) -> None:
        """End the process and close its pipes; only for the thread that uses them, or when none does."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def wait_until_ready(self) -> None:
        """Wait until the process has imported what it needs; its time counts for no document."""
        self._receive(time.monotonic() + _START_TIMEOUT_S, None)

    def parse(self, call: _Call, settings: ParserSettings) -> ParsedDocument:
        """Have one document parsed; after `_WorkerLostError` the process is of no more use."""
        self._documents += 1
        request = {
            "path": str(call.path),
            "name": call.display_name,
            "password": call.password,
            "limits": settings.model_dump(mode="json"),
        }
        try:
            self._send(json.dumps(request).encode())
            reply = self._receive(time.monotonic() + settings.timeout_s, settings)
            return _read_reply(reply, call.display_name)
        except _WorkerLostError:
            self.kill()
            raise

    def _send(self, body: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(FRAME.pack(len(body)) + body)
            stream.flush()
        except (OSError, ValueError) as exc:
            raise _WorkerLostError("the parser process was gone") from exc

    def _receive(self, deadline: float, settings: ParserSettings | None) -> bytes:
        head = self._read(FRAME.size, deadline, settings)
        length = FRAME.unpack(head)[0]
        limit = settings.memory_mb * _MEGABYTE if settings is not None else _MEGABYTE
        if length > limit:
            raise _WorkerLostError(f"the parser's result is larger than {limit // _MEGABYTE} MB")
        return self._read(length, deadline, settings)

    def _read(self, size: int, deadline: float, settings: ParserSettings | None) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        received = bytearray()
        while len(received) < size:
            if poller.poll(_POLL_S * 1000):
                piece = os.read(descriptor, min(size - len(received), _MEGABYTE))
                if not piece:
                    raise _WorkerLostError(self._last_words())
                received += piece
            elif settings is not None and self._resident_bytes() > settings.memory_mb * _MEGABYTE:
                raise _WorkerLostError(f"parsing needs more than {settings.memory_mb} MB and was stopped")
            if time.monotonic() > deadline and len(received) < size:
                seconds = settings.timeout_s if settings is not None else _START_TIMEOUT_S
                raise _WorkerLostError(f"stopped after {seconds:g} s")
        return bytes(received)

    def _last_words(self) -> str:
        code = self._process.wait()
        if code == 0 or code > 0:
            return f"the parser process ended unexpectedly (exit code {code})"
        if -code in (9, 14, 24):
            return "the parser process was ended for running too long or by the system (out of memory?)"
        return f"the parser process crashed (signal {-code})"

    def _resident_bytes(self) -> int:
        """Return resident memory; 0 where the system has no /proc, and the address limit alone counts."""
        try:
            fields = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()
            return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            return 0


def _read_reply(reply: bytes, display_name: str) -> ParsedDocument:
    """Turn a frame into a document or raise the error it names; a frame that is neither counts as a crash."""
    try:
        if reply.startswith(b'{"document":'):
            return ParsedDocument.model_validate_json(reply[len(b'{"document":') : -1])
        message: dict[str, Any] = json.loads(reply)
        error = _ERRORS[message["error"]]
        text = str(message["message"])
    except (ValueError, KeyError, TypeError, ValidationError) as exc:
        raise _WorkerLostError("the parser process answered with nonsense") from exc
    if "traceback" in message:
        _log.error("parser failed on %s\n%s", display_name, message["traceback"])
    raise error(text)
