"""One process at a time in an index folder, until the last engine process that it started has ended."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from retrieval.errors import FolderLockedError

_LEFT_BEHIND_S: Final = 5.0
"""How long the engine process of a killed server may take to end: it is ended by the system, but not at once."""
_LOOK_AGAIN_S: Final = 0.02


class FolderLock:
    """A lock file, and where the system has them (POSIX) a lock on the folder itself.

    The lock file may be removed by hand; the folder cannot be while the index is in it. Engine
    processes inherit the folder's lock: while one of a server that was killed still writes,
    nobody else opens the index, which would damage what it writes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = FileLock(folder / "lock", thread_local=False)
        self._handle: int | None = None

    @property
    def inherited(self) -> tuple[int, ...]:
        """Open files that engine processes must hold too."""
        return () if self._handle is None else (self._handle,)

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            FolderLockedError: another process, or another store of this one, holds it.
        """
        held = FolderLockedError(
            f"the index in {self._folder} is held by another process; stop it or ask through the running server"
        )
        try:
            self._file.acquire(blocking=False)
        except Timeout as exc:
            raise held from exc
        try:
            if os.name == "posix":
                self._handle = self._lock_folder()
        except BlockingIOError as exc:
            self._file.release()
            raise held from exc
        except BaseException:
            self._file.release()
            raise

    def release(self) -> None:
        """Give the lock back, whoever has inherited it."""
        if self._handle is not None:
            import fcntl

            fcntl.flock(self._handle, fcntl.LOCK_UN)
            os.close(self._handle)
            self._handle = None
        self._file.release()

    def _lock_folder(self) -> int | None:
        import fcntl

        handle = os.open(self._folder, os.O_RDONLY)
        until = time.monotonic() + _LEFT_BEHIND_S
        try:
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return handle
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(_LOOK_AGAIN_S)
        except BlockingIOError:
            os.close(handle)
            raise
        except OSError:  # a network file system without locks on folders: the lock file has to do
            with suppress(OSError):
                os.close(handle)
            return None
