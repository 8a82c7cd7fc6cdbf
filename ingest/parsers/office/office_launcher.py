"""Becomes LibreOffice under limits of its own. Run as a script by `office_conversion`, which only takes its path.

Arguments: megabytes of address space, seconds of CPU time, megabytes of one written file, the document and where
to copy it, then the command.
The limits of the parser process that starts it fit a parser, not an office suite; these take their place.
Standard library only, because it runs without the environment's packages.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import sys
from pathlib import Path

_MEGABYTE = 1024 * 1024
_PR_SET_PDEATHSIG = 1
_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000


def main(memory_mb: int, cpu_s: int, file_mb: int, document: str, copy: str, command: list[str]) -> None:
    """Set limits, copy the document, leave the network, and become `command`.

    LibreOffice wants a file with a suffix in a folder; what is given may be a stored file without one, or memory
    of the parser process, which has a path but no folder.
    """
    _limit(resource.RLIMIT_FSIZE, file_mb * _MEGABYTE)
    shutil.copyfile(document, copy)
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        _leave_network(library)
        # The parser process may be killed at any moment, and what it started must not outlive it.
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, cpu_s)
    _limit(resource.RLIMIT_AS, memory_mb * _MEGABYTE)
    os.execv(command[0], command)


def _limit(kind: int, value: int) -> None:
    """Set both limits, as far as the hard one allows; macOS refuses some of them."""
    hard = resource.getrlimit(kind)[1]
    with contextlib.suppress(ValueError, OSError):
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (wanted, wanted))


def _leave_network(library: ctypes.CDLL) -> None:
    """Move into a network namespace without interfaces, where the kernel lets an ordinary user do so."""
    user, group = os.getuid(), os.getgid()
    if library.unshare(_CLONE_NEWNET) == 0 or library.unshare(_CLONE_NEWNET | _CLONE_NEWUSER) != 0:
        return
    with contextlib.suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5], sys.argv[6:])
