"""The engine in a process of its own, as the serving process sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from retrieval.stores.embedded.frames import receive, send

_CODE: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from retrieval.stores.embedded.child import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)
_ROOT: Final = Path(__file__).resolve().parents[3]
_STOP_S: Final = 30.0


class EngineGoneError(Exception):
    """The engine's process has ended; what it acknowledged is in its write-ahead log."""


class EngineFailedError(Exception):
    """The engine refused a command."""


class EngineProcess:
    """One engine process. Calls are answered one by one, in no promised order."""

    def __init__(self, nice: int = 0, keep: tuple[int, ...] = ()) -> None:
        """Start the process.

        It dies with the thread that starts it (Linux), so that thread must live as long as it shall.

        Args:
            nice: how much it gives way to other processes.
            keep: open files that it holds too, so that a lock on them lasts until it has ended.
        """
        command = [sys.executable, "-I", "-c", _CODE, str(_ROOT), str(os.getpid()), str(nice)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=keep if os.name == "posix" else ()
        )
        self._one_at_a_time = threading.Lock()  # the pipe: a command and its answer
        self._alive = True
        try:
            self._receive()
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def call(self, command: str, *arguments: Any) -> Any:
        """Have one method of `engine.Engine` called there.

        Raises:
            EngineFailedError: it raised; the message is the engine's.
            EngineGoneError: the process ended before it answered.
        """
        with self._one_at_a_time:
            if not self._alive:
                raise EngineGoneError(f"engine process {self.pid} is gone")
            try:
                assert self._process.stdin is not None
                send(self._process.stdin, (command, arguments))  # type: ignore[arg-type]
                return self._receive()
            except OSError as exc:
                self._end()
                raise EngineGoneError(f"engine process {self.pid} is gone") from exc

    def close(self) -> None:
        """Let the call at hand finish, and end the process."""
        with self._one_at_a_time:
            self._end()

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        with suppress(ProcessLookupError):
            self._process.kill()
        self.close()

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        try:
            kind, value = receive(self._process.stdout)  # type: ignore[arg-type]
        except EOFError as exc:
            self._end()
            raise EngineGoneError(f"engine process {self.pid} is gone") from exc
        if kind == "error":
            raise EngineFailedError(value)
        return value

    def _end(self) -> None:
        self._alive = False
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
