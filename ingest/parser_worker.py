"""The parser process: reads requests from standard input, writes results to its original standard output.

Started by `ingest.sandbox` alone. It trusts nothing it reads and holds no
secrets: no settings, no keys, an empty environment. Frames are eight bytes of
length, big endian, then JSON: a hostile document that takes this process over
can send text to its parent, but no objects.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from ingest.detect import detect
from ingest.errors import IngestError, ParserLimitError, SourceUnavailableError
from ingest.parsers.registry import parse
from ingest.parsers.session import ParseSession, QuietSession
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

FRAME = struct.Struct(">Q")
Handler = Callable[[Path, str, ParserSettings, ParseSession], ParsedDocument]
_MEGABYTE = 1024 * 1024
_ADDRESS_SLACK_MB = 1024
"""Address space that libraries map without using it: thread stacks, allocator arenas, model files."""
_GRACE_S = 5


def parse_file(path: Path, display_name: str, limits: ParserSettings, session: ParseSession) -> ParsedDocument:
    """Detect and parse; the handler of every real worker."""
    try:
        return parse(path, detect(path, display_name), display_name, limits, session)
    except OSError as exc:
        raise SourceUnavailableError(f"{display_name}: the file cannot be read ({type(exc).__name__})") from exc


def main(handler_name: str) -> None:
    """Serve requests until standard input closes, which it does when the parent dies."""
    requests, replies = _take_over_streams()
    _forbid_files()
    handler = _load(handler_name)
    inbox = _Inbox(requests)
    _send(replies, {"ready": True})
    while (request := inbox.next()) is not None:
        _send(replies, _answer(request, handler))


def _load(name: str) -> Handler:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def _take_over_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipe for replies alone: whatever a library prints goes to nowhere, not between the frames."""
    replies = os.fdopen(os.dup(1), "wb")
    requests = os.fdopen(os.dup(0), "rb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    return requests, replies


def _forbid_files() -> None:
    """No core dumps, no files of more than 1 MB written."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MEGABYTE, _MEGABYTE))


class _Inbox:
    """Reads requests on a thread of its own, so that the parent's death ends a parser that is at work."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._request: dict[str, Any] | None = None
        self._arrived = threading.Semaphore(0)
        threading.Thread(target=self._read, daemon=True, name="inbox").start()

    def next(self) -> dict[str, Any] | None:
        self._arrived.acquire()
        return self._request

    def _read(self) -> None:
        while True:
            head = self._stream.read(FRAME.size)
            if len(head) < FRAME.size:
                os._exit(0)
            self._request = json.loads(self._stream.read(FRAME.unpack(head)[0]))
            self._arrived.release()


def _send(stream: BinaryIO, message: dict[str, Any] | bytes) -> None:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    stream.write(FRAME.pack(len(body)))
    stream.write(body)
    stream.flush()


def _answer(request: dict[str, Any], handler: Handler) -> dict[str, Any] | bytes:
    limits = ParserSettings.model_validate(request["limits"])
    name = str(request["name"])
    _limit(limits)
    try:
        parsed = handler(Path(request["path"]), name, limits, QuietSession(request.get("password")))
        return b'{"document":' + parsed.model_dump_json().encode() + b"}"
    except IngestError as exc:
        return {"error": exc.code, "message": str(exc)}
    except MemoryError:
        return {"error": ParserLimitError.code, "message": f"{name}: parsing needs more than {limits.memory_mb} MB"}
    except RecursionError:
        return {"error": ParserLimitError.code, "message": f"{name}: the document is nested too deeply"}
    except Exception as exc:  # noqa: BLE001
        # A boundary: a parser's own fault becomes that file's failure. Where it happened goes to
        # the parent's log, without the exception's message, which may quote the document.
        return {
            "error": "corrupt_document",
            "message": f"{name}: the parser failed on it ({type(exc).__name__})",
            "traceback": "\n".join(f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in _frames(exc)),
        }
    finally:
        signal.alarm(0)


def _frames(error: Exception) -> traceback.StackSummary:
    return traceback.extract_tb(error.__traceback__)


def _limit(limits: ParserSettings) -> None:
    """Set the kernel's limits for one document: address space, CPU seconds, and an alarm that outlives the parent.

    All of them end the process even while C code holds the interpreter lock.
    """
    seconds = int(limits.timeout_s) + 1
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds + _GRACE_S)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + seconds + 1
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    mapped = _mapped_bytes()
    if mapped:
        ceiling = mapped + (limits.memory_mb + _ADDRESS_SLACK_MB) * _MEGABYTE
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (ceiling, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _mapped_bytes() -> int:
    """Return the address space in use; 0 where the system does not tell (macOS ignores the limit anyway)."""
    try:
        fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return int(fields[0]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main(sys.argv[1])
