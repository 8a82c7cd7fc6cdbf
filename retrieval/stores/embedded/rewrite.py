"""The shard written anew in another process and folder, while the serving one answers and takes writes.

Two ways. *Optimise*: the folder is copied as it is (writes wait for the copy), and in the copy
graphs are built for the points that have none. *Scrub*: every point is carried over into an empty
shard, so that nothing deleted is left, and that one is optimised. Either way the points that were
written meanwhile follow, the last of them while writes wait, and one durable change of a small
file puts the new folder in the place of the old one.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from retrieval.durable import sync_folder
from retrieval.stores.embedded.generations import copy_folder, size_on_disk
from retrieval.stores.embedded.host import EngineHost
from retrieval.stores.embedded.process import EngineProcess

_log = logging.getLogger(__name__)

_BATCH: Final = 64
"""Points at a time from one process to the other: queries come in between."""
_LEARN: Final = 256
_FEW: Final = 128
"""Changed points that may be carried over while writes wait."""
_ROUNDS: Final = 20
_ROOM: Final = 3
"""Times the shard's size that must be free: the copy, what is made of it, and something to spare."""
_NICE: Final = 10

T = TypeVar("T")

Way = Literal["optimise", "scrub"]


class NoRoomError(Exception):
    """The disk has no room for the shard a second time."""


class Rewriter:
    """Rewrites the shard of a host; one call of `run` at a time."""

    def __init__(self, host: EngineHost, writer: Executor) -> None:
        """Prepare.

        Args:
            host: what serves the shard.
            writer: runs every change of the shard, one after the other.
        """
        self._host, self._writer = host, writer
        self._noting = threading.Lock()  # `_touched`: the writer adds, the rewriting thread takes
        self._touched: set[str] | None = None

    @property
    def follows(self) -> bool:
        """Whether changed points must be named to `touch`. Asked, and told, on the writer."""
        return self._touched is not None

    def touch(self, ids: Collection[str]) -> None:
        """Say which points a change has met, once it is made."""
        with self._noting:
            if self._touched is not None:
                self._touched.update(ids)

    def run(self, way: Way) -> bool:
        """Rewrite; return whether another shard serves now.

        Raises:
            NoRoomError: nothing was done.
            EngineFailedError, EngineGoneError, OSError: the shard serves as it was.
        """
        host, source = self._host, self._host.path
        needed, free = _ROOM * size_on_disk(source), shutil.disk_usage(source).free
        if free < needed:
            raise NoRoomError(f"{needed >> 20} MiB are needed beside {source} and {free >> 20} MiB are free")
        began, target = time.monotonic(), host.generations.following()
        running: EngineProcess | None = None
        try:
            self._writing(lambda: self._begin(source, target, way))
            running = host.start(target, _NICE)
            if way == "scrub":
                self._carry_all(running)
            changed = running.call("optimise")
            if not changed and way == "optimise":
                return False
            running.call("close")
            host.stop(running)
            _to_disk(target)
            running = host.start(target)
            while not running.call("learn", _LEARN):
                pass
            for _ in range(_ROUNDS):
                if len(self._touched or ()) <= _FEW:
                    break
                self._follow(running)
            fresh = running
            paused = self._writing(lambda: self._finish(fresh, target))
            running = None
        finally:
            self._touched = None
            if running is not None:
                host.stop(running)
            for left in {source, target} - {host.path}:
                shutil.rmtree(left, ignore_errors=True)
        _log.info(
            "index rewritten (%s) in %.1f s; writes waited %.0f ms at the end", way, time.monotonic() - began, paused
        )
        return True

    def _begin(self, source: Path, target: Path, way: Way) -> None:
        """Start to note changes, and take the state that they come after."""
        self._touched = set()
        if way == "optimise":
            copy_folder(source, target)

    def _finish(self, fresh: EngineProcess, target: Path) -> float:
        began = time.monotonic()
        self._follow(fresh)
        self._host.sync(target)
        generations = self._host.generations
        try:
            generations.switch(target)
        finally:
            # What the file names serves, even where the switch could not be forced to the disk.
            if generations.current == target:
                self._host.replace(fresh, target)
                self._touched = None
        return (time.monotonic() - began) * 1e3

    def _carry_all(self, fresh: EngineProcess) -> None:
        offset: str | None = None
        while True:
            points, offset = self._host.call("export", _BATCH, offset)
            if points:
                fresh.call("upsert", points)
            if offset is None:
                return

    def _follow(self, fresh: EngineProcess) -> None:
        """Carry over what was changed since the last time."""
        with self._noting:
            touched, self._touched = sorted(self._touched or ()), set()
        for start in range(0, len(touched), _BATCH):
            ids = touched[start : start + _BATCH]
            points: Sequence[Any] = self._host.call("export_ids", ids)
            if points:
                fresh.call("upsert", points)
            if gone := sorted(set(ids) - {point[0] for point in points}):
                fresh.call("delete", gone)

    def _writing(self, work: Callable[[], T]) -> T:
        return self._writer.submit(work).result()


def _to_disk(path: Path) -> None:
    """Force all files of a folder to the disk."""
    for each in path.rglob("*"):
        if each.is_dir():
            sync_folder(each)
        else:
            with each.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(path)
