"""An index of made-up chunks and questions on it: no encoder, no documents, any size.

Dense vectors are drawn around centres, as those of real texts lie in topics; texts are drawn from a
vocabulary whose words are as unevenly common as real ones (Zipf); a third of the chunks carry an amount.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import NAMESPACE_URL, uuid5

import numpy as np

from retrieval.encoder import EncoderInfo
from retrieval.lexical import document_weights, query_weights
from retrieval.symbols.language import load_language
from retrieval.types import Candidate, Chunk, EncodedChunk, Encoding, Symbol

TENANT = "bench"
DIM = 384
ENCODER = EncoderInfo(name="embedded", revision="1", dim=DIM, max_tokens=512, sparse="bm25")
CHUNKS_PER_DOCUMENT = 50
_WORDS = 50_000
_WORDS_PER_CHUNK = 120
_AMOUNTS = 400
_CENTRES = 300
_SPREAD = 0.06
"""Deviation per dimension around a centre: cosines within a topic are some 0.4, as hard for a graph as texts are."""


@dataclass(frozen=True)
class Question:
    """A question with the vector an encoder would give it."""

    text: str
    dense: np.ndarray


class MadeUp:
    """Chunks by number, the same in every run."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self._centres = rng.standard_normal((_CENTRES, DIM))
        self._centres /= np.linalg.norm(self._centres, axis=1, keepdims=True)
        ranks = np.arange(1, _WORDS + 1)
        self._chances = (1 / ranks) / (1 / ranks).sum()
        self._words = np.array([f"w{n:x}" for n in ranks])
        language = load_language(bytes(32))
        written = [f"RMB {100 + n} million" for n in range(_AMOUNTS)]
        self._amounts: list[tuple[str, tuple[Symbol, ...]]] = [
            (text, tuple(language.symbolise(text, tenant=TENANT).symbols)) for text in written
        ]

    def chunks(self, size: int, batch: int) -> Iterator[tuple[list[EncodedChunk], np.ndarray]]:
        """Yield chunks in batches, with the batch's dense vectors as a matrix."""
        rng = np.random.default_rng(1)
        for start in range(0, size, batch):
            count = min(batch, size - start)
            dense = self._vectors(rng, count)
            texts = self._texts(rng, count, _WORDS_PER_CHUNK)
            yield [self._chunk(start + n, texts[n], dense[n]) for n in range(count)], dense

    def questions(self, count: int) -> list[Question]:
        """Return questions of twelve words; every second names an amount."""
        rng = np.random.default_rng(2)
        dense, texts = self._vectors(rng, count), self._texts(rng, count, 12)
        amounts = rng.integers(0, _AMOUNTS, count)
        named = [f" {self._amounts[amount][0]}" if n % 2 else "" for n, amount in enumerate(amounts)]
        return [Question(texts[n] + named[n], dense[n]) for n in range(count)]

    def _vectors(self, rng: np.random.Generator, count: int) -> np.ndarray:
        near = self._centres[rng.integers(0, _CENTRES, count)] + rng.standard_normal((count, DIM)) * _SPREAD
        return (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)

    def _texts(self, rng: np.random.Generator, count: int, words: int) -> list[str]:
        drawn = rng.choice(_WORDS, (count, words), p=self._chances)
        return [" ".join(row) for row in self._words[drawn]]

    def _chunk(self, number: int, text: str, dense: np.ndarray) -> EncodedChunk:
        document = number // CHUNKS_PER_DOCUMENT
        amount, symbols = self._amounts[number % _AMOUNTS] if number % 3 == 0 else ("", ())
        index_text = " ".join([text, *(symbol.token for symbol in symbols)])
        chunk = Chunk(
            chunk_id=str(uuid5(NAMESPACE_URL, f"chunk {number}")),
            tenant=TENANT,
            document_id=f"{document:08x}",
            ordinal=number % CHUNKS_PER_DOCUMENT,
            text=f"{text} {amount}".rstrip(),
            index_text=index_text,
            start_char=0,
            end_char=len(text),
            language="zh" if document % 3 == 0 else "en",
            symbols=symbols,
            labels=frozenset({"half"}) if document % 2 else frozenset(),
            effective_from=date(2020 + document % 6, 1, 1),
            access=frozenset({"everyone"}) if document % 5 else frozenset({"group:board"}),
        )
        return EncodedChunk(chunk, dense, document_weights(index_text))


class MadeUpEncoder:
    """Gives questions the vectors that were made for them, at no cost."""

    info = ENCODER

    def __init__(self, questions: Sequence[Question]) -> None:
        self._dense = [question.dense for question in questions]
        self._next = 0

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        raise NotImplementedError("chunks come with their vectors")

    def encode_query(self, text: str) -> Encoding:
        """Return the next vector: which question an index text comes from, it does not say."""
        dense = self._dense[self._next % len(self._dense)]
        self._next += 1
        return Encoding(dense[None], (query_weights(text),))


class NoReranker:
    """Keeps the fused order, at no cost."""

    name = "none"

    def score(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
        return [1 / (2 + n) for n in range(len(candidates))]
