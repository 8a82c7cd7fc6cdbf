"""The parser process: reads requests from standard input, writes results to its original standard output.

Started by `ingest.sandbox` alone. It trusts nothing it reads and holds no
secrets: no settings, no keys, an empty environment. It sends frames of JSON and
bytes: a hostile document that takes this process over can send text to its
parent, but no objects.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from ingest.detect import detect
from ingest.errors import DocumentTooLargeError, IngestError, ParserLimitError, SourceUnavailableError
from ingest.frames import BrokenFrameError, FrameKind, FrameReader
from ingest.parser_limits import DocumentLimits, forbid_files
from ingest.parser_session import FrameSession, FrameWriter
from ingest.parsers.office.office_decryption import decrypted
from ingest.parsers.registry import parse
from ingest.parsers.session import ParseSession
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

Handler = Callable[[Path, str, ParserSettings, FrameSession], ParsedDocument]
_READ = 64 * 1024


def parse_file(path: Path, display_name: str, limits: ParserSettings, session: ParseSession) -> ParsedDocument:
    """Detect and parse; the handler of every real worker."""
    try:
        with decrypted(path, display_name, session.password) as plain:
            return parse(plain, detect(plain, display_name), display_name, limits, session)
    except OSError as exc:
        raise SourceUnavailableError(f"{display_name}: the file cannot be read ({type(exc).__name__})") from exc


def main(handler_name: str) -> None:
    """Serve requests until standard input closes, which it does when the parent dies."""
    requests, replies = _take_over_streams()
    forbid_files()
    handler = _load(handler_name)
    inbox = _Inbox(requests)
    writer = FrameWriter(replies)
    writer.send(FrameKind.READY)
    while True:
        _serve(inbox.next(), handler, writer)


def _load(name: str) -> Handler:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def _take_over_streams() -> tuple[int, BinaryIO]:
    """Keep the pipe for replies alone: whatever a library prints goes to nowhere, not between the frames."""
    replies = os.fdopen(os.dup(1), "wb")
    requests = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    return requests, replies


class _Inbox:
    """Reads requests on a thread of its own, so that the parent's death ends a parser that is at work."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._request: dict[str, Any] = {}
        self._arrived = threading.Semaphore(0)
        threading.Thread(target=self._read, daemon=True, name="inbox").start()

    def next(self) -> dict[str, Any]:
        self._arrived.acquire()
        return self._request

    def _read(self) -> None:
        frames = FrameReader()
        while piece := os.read(self._descriptor, _READ):
            for frame in frames.feed(piece):
                self._request = json.loads(frame.body)
                self._arrived.release()
        os._exit(0)


def _serve(request: dict[str, Any], handler: Handler, writer: FrameWriter) -> None:
    settings = ParserSettings.model_validate(request["limits"])
    name = str(request["name"])
    limits = DocumentLimits(settings)
    session = FrameSession(
        writer,
        settings,
        limits,
        display_name=name,
        password=request["password"],
        skip_pages=frozenset(request["skip_pages"]),
        takes_attachments=request["attachments"],
        instructions=request["instructions"],
    )
    try:
        writer.send_document(handler(Path(request["path"]), name, settings, session))
    except Exception as exc:  # noqa: BLE001
        # A boundary: whatever a parser raises becomes that file's failure.
        writer.send(FrameKind.ERROR, json.dumps(_failure(exc, name, settings)).encode())
    finally:
        limits.lift()


def _failure(error: Exception, name: str, settings: ParserSettings) -> dict[str, str]:
    match error:
        case IngestError():
            return {"error": error.code, "message": str(error)}
        case MemoryError():
            return {
                "error": ParserLimitError.code,
                "message": f"{name}: parsing needs more than {settings.memory_mb} MB",
            }
        case RecursionError():
            return {"error": ParserLimitError.code, "message": f"{name}: the document is nested too deeply"}
        case BrokenFrameError():
            return {
                "error": DocumentTooLargeError.code,
                "message": f"{name}: one of its paragraphs or tables is too large",
            }
        case _:
            # Where it happened goes to the parent's log, without the message, which may quote the document.
            frames = traceback.extract_tb(error.__traceback__)
            return {
                "error": "corrupt_document",
                "message": f"{name}: the parser failed on it ({type(error).__name__})",
                "traceback": "\n".join(f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames),
            }


if __name__ == "__main__":
    main(sys.argv[1])
