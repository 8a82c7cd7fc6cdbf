"""What is done for an index beside its work: its words are learned, and its shard is rewritten; one after the other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from retrieval.errors import StoreUnavailableError
from retrieval.stores.embedded.host import EngineHost
from retrieval.stores.embedded.process import EngineFailedError, EngineGoneError
from retrieval.stores.embedded.rewrite import NoRoomError, Rewriter, Way

_log = logging.getLogger(__name__)

_LEARN_BATCH: Final = 256
_SHARE: Final = 0.05
"""Points without a graph are compared one by one: 1 ms more for each 2,500 of them at 384 dimensions."""
_FIRST_LOOK_S: Final = 3.0
"""Time that an index is open before it may be optimised for what it was opened with: who asks once is gone by then."""
_FLUSH_AFTER: Final = 16_384
"""The engine's flush takes it a second at 50,000 points, whatever it writes. It only bounds how much of its log the
next start reads again."""


class Upkeep:
    """Looks after the shard of one host, on a thread of its own."""

    def __init__(self, host: EngineHost, writer: Executor, sizes: dict[str, int], optimise_after: int) -> None:
        """Prepare; `start` begins.

        Args:
            host: serves the shard.
            writer: runs every change of the shard, one after the other.
            sizes: `engine.Engine.sizes` when it was opened.
            optimise_after: points without a graph before it optimises by itself; 0: never.
        """
        self._host, self._writer, self._after = host, writer, optimise_after
        self._points, self._plain = sizes["points"], sizes["plain"]
        self._accepted = 0
        """Points without a graph that the engine left so when it was last asked: too few for one."""
        self._unflushed = 0
        self._waits = False
        self._stopping = threading.Event()
        self.rewriter = Rewriter(host, writer)
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="edge-upkeep")
        """Runs `rewrite`."""
        self._first_look = threading.Timer(_FIRST_LOOK_S, lambda: self._later(self._writer, self._look))
        self._first_look.daemon = True

    def start(self) -> None:
        """Learn the words, and look after a while whether to optimise."""
        self.learn()
        self._first_look.start()

    def stop(self) -> None:
        """End what is being done, which leaves the shard as it was."""
        self._stopping.set()
        self._first_look.cancel()
        self._host.abandon()
        self.thread.shutdown()

    def learn(self) -> None:
        """Let a started engine learn the words of the index; until it knows them it counts at each question."""
        self._later(self.thread, self._learn)

    def changed(self, points: int, new: int = 0) -> None:
        """Note, on the writer, that so many points were changed, and how many of them are new."""
        self._points += new
        self._plain += points
        self._unflushed += points
        if self._unflushed >= _FLUSH_AFTER:
            self._host.call("flush")
            self._unflushed = 0
        self._look()

    def rewrite(self, way: Way) -> bool:
        """Rewrite the shard; return whether another one serves now. Runs on `thread`.

        Raises:
            StoreUnavailableError: the index is being closed.
            NoRoomError, EngineFailedError, EngineGoneError, OSError: the shard serves as it was.
        """
        if self._stopping.is_set():
            raise StoreUnavailableError("the index is being closed")
        plain, self._plain = self._plain, 0
        changed = self.rewriter.run(way)
        self._accepted = 0 if changed else plain
        return changed

    def _learn(self) -> None:
        try:
            while not self._stopping.is_set() and not self._host.call("learn", _LEARN_BATCH):
                pass
        except (EngineGoneError, EngineFailedError) as exc:
            _log.info("word statistics were not read: %s", exc)

    def _look(self) -> None:
        """Optimise when there is enough to do. Points that are written, or published, have no graph at first."""
        enough = self._accepted + max(self._after, int(self._points * _SHARE))
        if not self._after or self._waits or self._plain < enough:
            return
        self._plain = self._host.call("sizes")["plain"]  # what was added up above counts points twice
        if self._plain >= enough:
            self._waits = True
            self._later(self.thread, self._optimise)

    def _optimise(self) -> None:
        try:
            self.rewrite("optimise")
        except (NoRoomError, EngineGoneError, EngineFailedError, StoreUnavailableError, OSError) as exc:
            if not self._stopping.is_set():
                _log.warning("the index in %s was not optimised: %s", self._host.path, exc)
        finally:
            self._waits = False

    def _later(self, executor: Executor, work: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the executor was shut down
            executor.submit(work)
