"""One parser process seen from its parent: its pipes, its limits, its last words."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import ParserLimitError
from ingest.frames import BrokenFrameError, Frame, FrameKind, FrameReader, pack
from ingest.parsers.office.office_conversion import remove_leftovers
from ingest.sandbox_result import NonsenseError, Result
from ingest.settings import ParserSettings

_BOOT = "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from ingest.parser_worker import main; main(sys.argv[2])"
"""The child gets its parent's import path, as multiprocessing's spawn does it, but no `__main__` of the parent."""
_START_TIMEOUT_S = 120.0
_POLL_S = 0.1
_MAX_DOCUMENTS = 200
"""After so many documents a worker is replaced, so that leaks of native libraries end with it."""
_MEGABYTE = 1024 * 1024


class WorkerLostError(Exception):
    """The process is gone or was ended; the text says why, for the reader of the failed document."""


@dataclass(frozen=True, slots=True)
class Request:
    """One file for a worker to parse."""

    path: Path
    display_name: str
    password: str | None
    skip_pages: frozenset[int]
    takes_attachments: bool
    settings: ParserSettings
    instructions: Mapping[str, object]

    def to_json(self) -> bytes:
        """Return what the worker reads."""
        return json.dumps({
            "path": str(self.path),
            "name": self.display_name,
            "password": self.password,
            "skip_pages": sorted(self.skip_pages),
            "attachments": self.takes_attachments,
            "limits": self.settings.model_dump(mode="json"),
            "instructions": dict(self.instructions),
        }).encode()


class Worker:
    """One child process and the pipes to it. Used by one thread at a time, except `end`."""

    def __init__(self, handler: str) -> None:
        """Start the process; `handler` names its function as `module:function`."""
        self._documents = 0
        self._frames = FrameReader()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, json.dumps(sys.path), handler],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # No secret of the parent's environment reaches a process that reads hostile files.
            env={
                "PATH": os.defpath,
                "LC_ALL": "C.UTF-8",
                "PYTHONDONTWRITEBYTECODE": "1",
                "OMP_NUM_THREADS": "1",
                "TMPDIR": tempfile.gettempdir(),
            },
            start_new_session=True,
        )

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def is_fit(self, settings: ParserSettings) -> bool:
        """Tell whether the worker may take another document: few served, memory given back."""
        return self._documents < _MAX_DOCUMENTS and self._resident_bytes() < settings.memory_mb * _MEGABYTE // 2

    def end(self) -> None:
        """End the process without waiting until it is gone; from any thread, an event loop's as well."""
        self._process.kill()

    def kill(self) -> None:
        """End the process, wait until it is gone and remove what it left; safe to call again."""
        self.end()
        self._process.wait()
        remove_leftovers()

    def dispose(self) -> None:
        """End the process and close its pipes; only for the thread that uses them, or when none does."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def wait_until_ready(self) -> None:
        """Wait until the process has imported what it needs; its time counts for no document.

        Raises:
            WorkerLostError: it ended, or took two minutes.
        """
        watch = _Watch(time.monotonic() + _START_TIMEOUT_S, f"did not start within {_START_TIMEOUT_S:g} s")
        if [frame.kind for frame in self._read(watch)] != [FrameKind.READY]:
            raise WorkerLostError("the parser process began with nonsense")

    def parse(self, request: Request, result: Result) -> None:
        """Have one document parsed into `result`.

        After an error that is not the parser's own answer the process is of no more use, and is ended.

        Raises:
            WorkerLostError: out of time or memory, or the process died.
            IngestError: what the parser found wrong with the file.
        """
        self._documents += 1
        try:
            self._send(request.to_json())
            self._receive(request.settings, result)
        except (NonsenseError, BrokenFrameError) as exc:
            raise WorkerLostError("the parser process answered with nonsense") from exc
        finally:
            if not result.is_answered:
                self.kill()
        if isinstance(result.failure, ParserLimitError):
            # The parser noticed by itself, mostly of memory; what it left behind is not worth keeping.
            self.kill()
            raise WorkerLostError(str(result.failure).removeprefix(f"{request.display_name}: "))
        if result.failure is not None:
            raise result.failure

    def _send(self, body: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(pack(FrameKind.REQUEST, body))
            stream.flush()
        except (OSError, ValueError) as exc:
            raise WorkerLostError("the parser process was gone") from exc

    def _receive(self, settings: ParserSettings, result: Result) -> None:
        began = time.monotonic()
        watch = _Watch(began + settings.timeout_s, f"stopped after {settings.timeout_s:g} s", settings.memory_mb)
        while not result.is_answered:
            for frame in self._read(watch):
                result.take(frame)
                if frame.kind is FrameKind.PROGRESS:
                    watch = _page_watch(began, settings, result)

    def _read(self, watch: _Watch) -> list[Frame]:
        """Wait for the pipe's next bytes and return the frames they complete."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        while True:
            self._check(watch)
            if poller.poll(_POLL_S * 1000):
                piece = os.read(descriptor, _MEGABYTE)
                if not piece:
                    raise WorkerLostError(self._last_words())
                return list(self._frames.feed(piece))

    def _check(self, watch: _Watch) -> None:
        if time.monotonic() > watch.deadline:
            raise WorkerLostError(watch.reason)
        if watch.memory_mb is not None and self._resident_bytes() > watch.memory_mb * _MEGABYTE:
            raise WorkerLostError(f"parsing needs more than {watch.memory_mb} MB and was stopped")

    def _last_words(self) -> str:
        code = self._process.wait()
        if code >= 0:
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


@dataclass(frozen=True, slots=True)
class _Watch:
    """What a wait for the worker must not exceed."""

    deadline: float
    reason: str
    memory_mb: int | None = None


def _page_watch(began: float, settings: ParserSettings, result: Result) -> _Watch:
    """Return the limits until the next page is done, or until the end after the last."""
    allowed = settings.document_timeout_s(result.pages_total)
    page_deadline = time.monotonic() + settings.page_timeout_s
    if result.page_at_work is not None and page_deadline < began + allowed:
        return _Watch(page_deadline, f"stopped after {settings.page_timeout_s:g} s", settings.memory_mb)
    return _Watch(began + allowed, f"stopped after {allowed:g} s in all", settings.memory_mb)
