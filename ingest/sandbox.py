"""Parsers in processes of their own, with limits: path in, plain data out.

A document that hangs, crashes or explodes costs that document and one process;
where it has pages, and the parser tells of them, it costs that page: the document
is parsed again without it. Workers are kept warm between documents.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ingest.errors import CorruptDocumentError, NoTextError, ParserLimitError
from ingest.sandbox_result import Result
from ingest.sandbox_worker import Request, Worker, WorkerLostError
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument
from ingest.work import ignore_page

_HANDLER = "ingest.parser_worker:parse_file"
_MAX_LOST_PAGES = 3
"""A document that loses more pages than this to hangs and crashes fails as a whole."""


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
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        self._lock = threading.Lock()
        """Protects `_workers` and `_closed`."""
        self._workers: set[Worker] = set()
        self._closed = False

    async def parse(
        self,
        path: Path,
        display_name: str,
        *,
        password: str | None = None,
        attachments: Path | None = None,
        on_page: Callable[[int, int | None], None] = ignore_page,
        instructions: Mapping[str, object] = MappingProxyType({}),
    ) -> ParsedDocument:
        """Detect and parse one file; waits for a free process. See `ingest.work.Parsers`.

        Pages that hang or crash the parser are left out, at most three, and named in the notes.
        `instructions` are for handlers that do more than parse.

        Raises:
            ParserLimitError: out of time or memory, or the process died; says which.
            IngestError: what the parser found wrong with the file.
        """
        if self._closed:
            raise RuntimeError("the parser pool is closed")
        call = _Call(path, display_name, password, attachments, on_page, instructions, _Switch())
        future = asyncio.get_running_loop().run_in_executor(self._threads, self._run, call)
        try:
            return await future
        except asyncio.CancelledError:
            call.switch.turn()
            raise

    async def close(self) -> None:
        """End all processes, those at work too; their documents fail with `ParserLimitError`."""
        with self._lock:
            self._closed = True
            workers = list(self._workers)
        for worker in workers:
            worker.end()
        await asyncio.to_thread(self._clear_up, workers)

    def _clear_up(self, workers: Sequence[Worker]) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in workers:
            worker.dispose()

    def _run(self, call: _Call) -> ParsedDocument:
        """Parse, and again without the page that was at work whenever the worker is lost."""
        lost: dict[int, str] = {}
        while True:
            result = Result(call.path, call.display_name, self._settings, call.attachments, call.on_page)
            try:
                self._attempt(call, result, frozenset(lost))
            except WorkerLostError as exc:
                page = result.page_at_work
                if (
                    page is None
                    or page in lost
                    or len(lost) >= _MAX_LOST_PAGES
                    or call.switch.is_turned
                    or self._closed
                ):
                    raise ParserLimitError(
                        f"{call.display_name}: {_sentence({**lost, **_at(page, exc)}, exc)}"
                    ) from exc
                lost[page] = str(exc)
            except (NoTextError, CorruptDocumentError) as exc:
                # Without the pages that were left out there is nothing; what is wrong is what they did.
                if not lost:
                    raise
                raise ParserLimitError(f"{call.display_name}: {_sentence(lost, exc)}") from exc
            else:
                assert result.document is not None
                return _with_notes(result.document, lost)

    def _attempt(self, call: _Call, result: Result, skip_pages: frozenset[int]) -> None:
        worker = self._take()
        whole = False
        try:
            call.switch.put(worker)
            request = Request(
                path=call.path,
                display_name=call.display_name,
                password=call.password,
                skip_pages=skip_pages,
                takes_attachments=call.attachments is not None,
                settings=self._settings,
                instructions=call.instructions,
            )
            worker.parse(request, result)
            whole = True
        finally:
            call.switch.put(None)
            self._give_back(worker, is_ended=call.switch.is_turned)
            if not whole:
                result.discard()

    def _take(self) -> Worker:
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return self._start()
            if worker.is_alive:
                return worker
            self._drop(worker)

    def _start(self) -> Worker:
        with self._lock:
            if self._closed:
                raise WorkerLostError("the parser was shut down before it began")
            worker = Worker(self._handler)
            self._workers.add(worker)
        try:
            worker.wait_until_ready()
        except WorkerLostError as exc:
            self._drop(worker)
            raise WorkerLostError(f"the parser process did not start ({exc})") from exc
        return worker

    def _give_back(self, worker: Worker, *, is_ended: bool) -> None:
        # One that was ended may seem alive for a moment.
        if not is_ended and worker.is_alive and worker.is_fit(self._settings) and not self._closed:
            self._idle.put(worker)
        else:
            self._drop(worker)

    def _drop(self, worker: Worker) -> None:
        worker.dispose()
        with self._lock:
            self._workers.discard(worker)


class _Switch:
    """Ends the worker that has a document, whenever it is turned; the worker's own thread clears up after it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """Protects the two fields below against a cancel in between."""
        self._worker: Worker | None = None
        self.is_turned = False

    def put(self, worker: Worker | None) -> None:
        with self._lock:
            self._worker = worker
            self._end()

    def turn(self) -> None:
        with self._lock:
            self.is_turned = True
            self._end()

    def _end(self) -> None:
        # Under the lock: a worker that was taken out again is not ended while it has another document.
        if self.is_turned and self._worker is not None:
            self._worker.end()


@dataclass(frozen=True, slots=True)
class _Call:
    """One document on its way."""

    path: Path
    display_name: str
    password: str | None
    attachments: Path | None
    on_page: Callable[[int, int | None], None]
    instructions: Mapping[str, object]
    switch: _Switch


def _at(page: int | None, error: Exception) -> dict[int, str]:
    return {} if page is None else {page: str(error)}


def _sentence(lost: Mapping[int, str], error: Exception) -> str:
    """Return the reason in words: of the pages where it was pages, else of the whole."""
    return "; ".join(f"page {page}: {reason}" for page, reason in sorted(lost.items())) or str(error)


def _with_notes(document: ParsedDocument, lost: Mapping[int, str]) -> ParsedDocument:
    notes = tuple(f"page {page} was left out: {reason}" for page, reason in sorted(lost.items()))
    return document.model_copy(update={"notes": document.notes + notes}) if notes else document
