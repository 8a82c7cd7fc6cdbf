"""BGE-M3 and its reranker at their real size, beside FlagEmbedding's own calls in the same run.

The weights are random: time does not depend on them, and both sides read the same ones. So the int8 cosine says
how exact the arithmetic is, not what the loss is on trained weights.
"""

from __future__ import annotations

import gc
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

import random_models
from retrieval.encoders.bge_m3 import BgeM3Encoder
from retrieval.rerankers.bge import BgeReranker
from retrieval.types import Encoding

_QUESTION = "How high were the travel expenses in 2023?"
_QUESTIONS = [
    _QUESTION,
    "客户风险等级 C1 能买什么基金？",
    "net sales third quarter",
    "合同由谁审核",
    "encoder revision",
]
_PASSAGE = "The committee approved the travel budget of the year and asked for a report in the third quarter. "
_ROUNDS = 5


def measure(size: random_models.Size = random_models.LARGE) -> None:
    """Print times and how near the vectors are; needs 5 GB of room for temporary files and 8 GB of memory."""
    import torch
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    logging.getLogger("FlagEmbedding").setLevel(logging.ERROR)
    print(f"BGE-M3 at its real size, random weights, torch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print("| what | FlagEmbedding, ms | here, ms | ratio |\n| --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as folder:
        notes = _encoder(random_models.save_bge_m3(Path(folder), size))
    gc.collect()
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as folder:
        notes += _reranker(random_models.save_bge_reranker(Path(folder), size), size.positions)
    print("\n" + "\n".join(f"- {note}" for note in notes) + "\n")


def _encoder(folder: Path) -> list[str]:
    texts = [_PASSAGE * n for n in (1, 4, 2, 3)]
    encoded, query_time, many_time, notes = _encoder_beside_flag(folder, texts)
    gc.collect()
    int8 = BgeM3Encoder(folder, precision="int8")
    small = _joined(int8, [*_QUESTIONS, *texts])
    cosines = _cosines(small.dense, encoded.dense)
    weights = [dict(zip(v.indices.tolist(), v.values.tolist(), strict=True)) for v in encoded.sparse]
    notes.append(
        f"int8 beside fp32: cosine {cosines.min():.4f} at least, {cosines.mean():.4f} on average; "
        f"sparse weights differ by at most {_sparse_difference(small, weights):.2f}"
    )
    _row("one question, int8", query_time, _time(lambda: int8.encode_query(_QUESTION)))
    _row("four texts of 20 to 80 words, int8", many_time, _time(lambda: int8.encode_documents(texts), rounds=2))
    return notes


def _encoder_beside_flag(folder: Path, texts: list[str]) -> tuple[Encoding, float, float, list[str]]:
    from FlagEmbedding import BGEM3FlagModel

    flag = BGEM3FlagModel(str(folder), use_fp16=False, devices=["cpu"])
    fp32 = BgeM3Encoder(folder)

    def theirs(asked: list[str]) -> Any:
        return flag.encode(asked, batch_size=16, max_length=fp32.info.max_tokens, return_dense=True, return_sparse=True)

    encoded, expected = _joined(fp32, [*_QUESTIONS, *texts]), theirs([*_QUESTIONS, *texts])
    notes = [
        f"fp32 beside FlagEmbedding: cosine at least {_cosines(encoded.dense, expected['dense_vecs']).min():.6f}, "
        f"sparse weights differ by at most {_sparse_difference(encoded, expected['lexical_weights']):.1e}",
        f"cosine of different texts: {float(np.median(_between(encoded.dense))):.3f} in the middle",
    ]
    query_times = _interleaved(lambda: theirs([_QUESTION]), lambda: fp32.encode_query(_QUESTION))
    many_times = _interleaved(lambda: theirs(texts), lambda: fp32.encode_documents(texts), rounds=2)
    _row("one question, fp32", *query_times)
    _row("four texts of 20 to 80 words, fp32", *many_times)
    return encoded, query_times[0], many_times[0], notes


def _reranker(folder: Path, positions: int) -> list[str]:
    texts = [_PASSAGE * (1 + n % 3) + str(n) for n in range(10)]
    ours, their_time, notes = _reranker_beside_flag(folder, texts, min(1024, positions))
    gc.collect()
    int8 = BgeReranker(folder, precision="int8")
    small = int8.logits(_QUESTION, texts)
    notes.append(
        f"reranker int8 beside fp32: scores differ by at most {_most(small, ours):.2f}; "
        f"they span {max(ours) - min(ours):.2f}"
    )
    _row("reranking ten pairs, int8", their_time, _time(lambda: int8.logits(_QUESTION, texts), rounds=3))
    return notes


def _reranker_beside_flag(folder: Path, texts: list[str], most_tokens: int) -> tuple[list[float], float, list[str]]:
    from FlagEmbedding import FlagReranker

    flag = FlagReranker(str(folder), use_fp16=False, devices=["cpu"])
    fp32 = BgeReranker(folder)
    pairs = [(_QUESTION, text) for text in texts]

    def theirs() -> Any:
        return flag.compute_score(pairs, batch_size=16, max_length=most_tokens)

    ours, expected = fp32.logits(_QUESTION, texts), theirs()
    notes = [f"reranker fp32 beside FlagEmbedding: scores differ by at most {_most(ours, expected):.1e}"]
    times = _interleaved(theirs, lambda: fp32.logits(_QUESTION, texts), rounds=3)
    _row("reranking ten pairs, fp32", *times)
    return ours, times[0], notes


def _joined(encoder: BgeM3Encoder, texts: list[str]) -> Encoding:
    parts = [encoder.encode_query(text) for text in texts]
    return Encoding(np.concatenate([p.dense for p in parts]), tuple(p.sparse[0] for p in parts))


def _cosines(one: Any, other: Any) -> Any:
    one, other = np.asarray(one), np.asarray(other)
    return np.sum(one * other, axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


def _between(rows: Any) -> Any:
    return (rows @ rows.T)[np.triu_indices(len(rows), 1)]


def _sparse_difference(encoded: Encoding, expected: list[Any]) -> float:
    worst = 0.0
    for vector, theirs in zip(encoded.sparse, expected, strict=True):
        ours = dict(zip(vector.indices.tolist(), vector.values.tolist(), strict=True))
        other = {int(token): float(weight) for token, weight in theirs.items()}
        worst = max([worst, *(abs(ours.get(token, 0.0) - other.get(token, 0.0)) for token in ours | other)])
    return worst


def _most(one: list[float], other: list[float]) -> float:
    return float(np.abs(np.array(one) - np.array(other)).max())


def _interleaved(one: Callable[[], Any], other: Callable[[], Any], rounds: int = _ROUNDS) -> tuple[float, float]:
    """Time two calls in turns, so that a busy machine slows both; medians in ms."""
    one()
    other()
    times = [(_once(one), _once(other)) for _ in range(rounds)]
    return median(t[0] for t in times), median(t[1] for t in times)


def _time(call: Callable[[], Any], rounds: int = _ROUNDS) -> float:
    call()
    return median(_once(call) for _ in range(rounds))


def _once(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _row(what: str, theirs: float, ours: float) -> None:
    print(f"| {what} | {theirs:.0f} | {ours:.0f} | {ours / theirs:.2f} |", flush=True)
