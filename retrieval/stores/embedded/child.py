"""The engine's process: reads a command, answers it, and so on until the serving process closes the pipe.

The engine holds the interpreter's lock during its calls, for seconds at times. Here that stops
nobody but those who wait for this very answer.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from retrieval.stores.embedded.frames import receive, send


def main(parent: int, nice: int) -> None:
    """Serve the process that started this one; give way to others by `nice`."""
    # A signal for the whole group is the parent's to act on: it still needs this process to stop well.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    _die_with(parent)
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    requests, replies = sys.stdin.buffer, _own_stdout()
    from retrieval.stores.embedded.engine import Engine

    engine = Engine()
    with suppress(EOFError, BrokenPipeError):
        send(replies, ("ok", None))
        while True:
            name, arguments = receive(requests)
            send(replies, _answer(engine, name, arguments))


def _answer(engine: Any, name: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "ok", getattr(engine, name)(*arguments)
    except Exception as exc:  # noqa: BLE001 - a boundary: the engine raises bare `Exception` for everything
        return "error", f"{exc}"


def _own_stdout() -> BinaryIO:
    """Keep the pipe for answers alone: whatever else prints goes to the error stream."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(pipe, "wb")


def _die_with(parent: int) -> None:
    """Ask Linux to end this process with its parent; elsewhere the closed pipe does, after the command at hand."""
    if not sys.platform.startswith("linux"):
        return
    set_parent_death_signal = 1
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it went before it could be asked for
        os._exit(1)
