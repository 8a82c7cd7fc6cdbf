"""The kernel's limits on a parser process: files, address space, CPU time, and an alarm that outlives the parent.

All of them end the process even while C code holds the interpreter lock.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from pathlib import Path

from ingest.settings import ParserSettings

_MEGABYTE = 1024 * 1024
_ADDRESS_SLACK_MB = 1024
"""Address space that libraries map without using it: thread stacks, allocator arenas, model files."""
_GRACE_S = 5
"""The parent stops a parser first and says why; the kernel's limits are for when it cannot."""


_MAX_CONVERTED_MB = 256
"""Size of a file that LibreOffice may write: the hard limit, up to which its launcher raises its own."""


def forbid_files() -> None:
    """No core dumps, no files of more than 1 MB written; a program started to convert one may write more."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MEGABYTE, _MAX_CONVERTED_MB * _MEGABYTE))


class DocumentLimits:
    """The limits of one document, set anew for each of its pages."""

    def __init__(self, settings: ParserSettings) -> None:
        """Set the limits for a document whose pages are not known yet."""
        self._settings = settings
        self._began = time.monotonic()
        _limit_address_space(settings.memory_mb)
        self._allow(settings.timeout_s)

    def page(self, pages_done: int, pages_total: int | None) -> None:
        """Count from now for the next page; after the last, for what the whole document has left."""
        left = self._settings.document_timeout_s(pages_total) - (time.monotonic() - self._began)
        at_work = pages_total is None or pages_done < pages_total
        self._allow(min(left, self._settings.page_timeout_s) if at_work else left)

    def lift(self) -> None:
        """End the alarm; the process waits for its next document."""
        signal.alarm(0)

    def _allow(self, seconds: float) -> None:
        whole = max(0, int(seconds)) + 1
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(whole + _GRACE_S)
        # Threads of one document (OCR may have several) each use CPU time while a second passes.
        cpu = int(_cpu_s()) + (whole + 1) * self._settings.ocr_threads
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _limit_address_space(memory_mb: int) -> None:
    mapped = _mapped_bytes()
    if mapped:
        ceiling = mapped + (memory_mb + _ADDRESS_SLACK_MB) * _MEGABYTE
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (ceiling, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _mapped_bytes() -> int:
    """Return the address space in use; 0 where the system does not tell (macOS ignores the limit anyway)."""
    try:
        fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return int(fields[0]) * os.sysconf("SC_PAGE_SIZE")
