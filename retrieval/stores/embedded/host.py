"""The engine process that serves now: started, started again when it dies, and replaced by another."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from retrieval.stores.embedded.generations import Generations
from retrieval.stores.embedded.process import EngineFailedError, EngineGoneError, EngineProcess

_log = logging.getLogger(__name__)


class EngineHost:
    """Owns the engine process of one index folder, whose lock is held. Used from several threads."""

    def __init__(
        self, folder: Path, schema: dict[str, Any], inherited: tuple[int, ...], revived: Callable[[], None]
    ) -> None:
        """Prepare; `open` starts the process.

        Args:
            folder: the index folder.
            schema: what the shard must hold (`wire.schema`).
            inherited: open files that keep the folder locked, for the process to hold too.
            revived: called when an engine has taken the place of one that died.
        """
        self._revived = revived
        self.generations = Generations(folder)
        self._schema, self._inherited = schema, inherited
        self._changing = threading.Lock()  # which process serves, and which others there are
        self._reviving = threading.Lock()  # one at a time starts an engine in the place of a dead one
        self._serving: EngineProcess | None = None
        self._others: set[EngineProcess] = set()
        self._closing = False
        self.path = self.generations.current
        # Linux ends a process with the thread that started it: this one lives as long as the host.
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="edge-starter")

    def open(self) -> dict[str, int]:
        """Settle the folder, start the engine on it and return `engine.Engine.sizes`."""
        try:
            self.generations.settle()
            self.path = self.generations.current
            self._serving, sizes = self._starter.submit(self._start, self.path, 0).result()
            self._others.clear()
        except BaseException:
            self._starter.shutdown()
            raise
        return sizes

    def call(self, command: str, *arguments: Any) -> Any:
        """Call the engine; one that has died is started again, once, and asked again.

        That is safe for changes too: what the dead one acknowledged is in its log, and to write,
        publish or delete the same once more changes nothing.

        Raises:
            EngineFailedError: the engine refused.
            EngineGoneError: it died twice, or the host is closed.
        """
        engine = self._process()
        try:
            return engine.call(command, *arguments)
        except EngineGoneError:
            return self._instead_of(engine).call(command, *arguments)

    def sync(self, path: Path | None = None) -> None:
        """Force the log of the serving shard, or of another one, to the disk.

        The engine's own flush writes everything and takes a second at 50,000 points; this takes 10 ms.
        """
        for file in ((path or self.path) / "wal").iterdir():
            with file.open("rb+") as log:
                os.fsync(log.fileno())

    def start(self, path: Path, nice: int = 0) -> EngineProcess:
        """Start one more engine process, on another shard folder."""
        engine, _ = self._starter.submit(self._start, path, nice).result()
        return engine

    def stop(self, engine: EngineProcess) -> None:
        """End a process that `start` gave, without writing anything more."""
        engine.kill()
        with self._changing:
            self._others.discard(engine)

    def replace(self, engine: EngineProcess, path: Path) -> None:
        """Let another process serve, and end the former one once it has answered the call at hand."""
        with self._changing:
            former, self._serving, self.path = self._serving, engine, path
            self._others.discard(engine)
        if former is not None:
            former.close()

    def abandon(self) -> None:
        """Start no more processes, and end those that do not serve."""
        with self._changing:
            self._closing = True
            others = list(self._others)
        for each in others:
            each.kill()

    def close(self) -> None:
        """Write everything to the shard and end all processes. Closing twice is allowed."""
        self.abandon()
        with self._changing:
            engine, self._serving = self._serving, None
        if engine is not None:
            try:
                # What is not flushed is in the log.
                with suppress(EngineGoneError, EngineFailedError):
                    engine.call("close")
            finally:
                engine.close()
        self._starter.shutdown()

    def _process(self) -> EngineProcess:
        with self._changing:
            if self._serving is None:
                raise EngineGoneError("the index is closed")
            return self._serving

    def _instead_of(self, dead: EngineProcess) -> EngineProcess:
        with self._reviving:
            engine = self._process()
            if engine is not dead:
                return engine
            _log.warning("engine process %d has died and is started again", dead.pid)
            engine = self._revive(dead)
        self._revived()
        return engine

    def _revive(self, dead: EngineProcess) -> EngineProcess:
        """Start an engine in the place of a dead one; give way to one that `replace` has put there meanwhile."""
        try:
            engine = self.start(self.path)
        except (EngineGoneError, EngineFailedError):
            # The folder may have gone with the shard that was replaced.
            if (serving := self._process()) is not dead:
                return serving
            raise
        with self._changing:
            still = self._serving is dead
            if still:
                self._serving = engine
                self._others.discard(engine)
        if still:
            return engine
        self.stop(engine)
        return self._process()

    def _start(self, path: Path, nice: int) -> tuple[EngineProcess, dict[str, int]]:
        engine = EngineProcess(nice, self._inherited)
        with self._changing:
            self._others.add(engine)
            closing = self._closing
        try:
            if closing:
                raise EngineGoneError("the index is being closed")
            return engine, engine.call("open", str(path), self._schema)
        except BaseException:
            self.stop(engine)
            raise
