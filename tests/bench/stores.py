"""The embedded store at several sizes: `make bench-stores`, or `python tests/bench/stores.py --chunks 1000 10000`.

For each size: filling it, optimising it, and questions meanwhile, with the longest time the serving
process was held up; then latency by stage with and without filters, questions a second with eight
callers, recall of the ten nearest against an exact search; and, up to `--contenders-up-to` chunks, the
same vectors and questions in LlamaIndex and Haystack pipelines on qdrant-client's local mode (extra
`bench`). Encoder and reranker cost nothing here. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from made_up import ENCODER, TENANT, MadeUp, MadeUpEncoder, NoReranker, Question
from ticker import Ticker

from retrieval.encoder import ModelThread
from retrieval.labels import LabelBook
from retrieval.search import Searcher
from retrieval.settings import SearchSettings, StoreSettings
from retrieval.stores.edge import EdgeStore
from retrieval.stores.embedded.generations import size_on_disk
from retrieval.symbols.language import load_language
from retrieval.types import Principal, Scope, SearchFilter

_STAFF = Principal(tenant=TENANT, user="ann", rights=frozenset({"search"}))
_BOARD = Principal(tenant=TENANT, user="eve", groups=frozenset({"board"}), rights=frozenset({"search"}))
_CASES: dict[str, tuple[Principal, SearchFilter | None]] = {
    "sees all": (_BOARD, None),
    "sees four fifths": (_STAFF, None),
    "label": (_STAFF, SearchFilter(labels=frozenset({"half"}))),
    "label, language, as of": (
        _STAFF,
        SearchFilter(labels=frozenset({"half"}), language="en", as_of=date(2023, 6, 1)),
    ),
}
_BATCH = 500
_CALLERS = 8
_NEAREST = 10


@dataclass
class Figures:
    """What one size gave; times in ms unless the name says otherwise."""

    chunks: int
    fill_s: float = 0.0
    fill_stall: str = ""
    """Longest delay of the event loop / of a thread."""
    asked_while_filling: str = ""
    optimise_s: float = 0.0
    optimise_stall: str = ""
    asked_while_optimising: str = ""
    written_while_optimising: int = 0
    stages: dict[str, dict[str, str]] = field(default_factory=dict)
    """By case: stage → p50 / p95; `net` is everything but encoder and reranker."""
    plain: str = ""
    """`net` before it was optimised."""
    callers_per_s: float = 0.0
    recall: dict[str, float] = field(default_factory=dict)
    contenders: dict[str, str] = field(default_factory=dict)
    index_mb: int = 0


async def measure(size: int, questions: int, optimise: bool, contenders: bool) -> Figures:
    """Measure one size."""
    figures, made_up = Figures(size), MadeUp()
    asked = made_up.questions(questions)
    with tempfile.TemporaryDirectory() as scratch:
        store = EdgeStore(Path(scratch), StoreSettings(edge_optimise_after=0))
        await store.open(ENCODER)
        try:
            search = _Asking(store, asked)
            dense, seen = await _fill(store, made_up, size, search, figures)
            if optimise:
                figures.plain = _spread([r["net"] for r in await search.all(*_CASES["sees four fifths"])])
                await _optimise(store, made_up, size, search, figures)
            for name, (who, narrowed) in _CASES.items():
                rows = await search.all(who, narrowed)
                figures.stages[name] = {stage: _spread([row[stage] for row in rows]) for stage in rows[0]}
            figures.callers_per_s = round(await search.together(_CALLERS), 1)
            figures.recall = await _recall(store, asked, dense, seen)
            figures.index_mb = size_on_disk(Path(scratch)) >> 20
        finally:
            await store.close()
            search.close()
    if contenders:
        figures.contenders = _contenders(made_up, size, asked)
    return figures


class _Asking:
    """The searcher of the product, with an encoder and a reranker that cost nothing."""

    def __init__(self, store: EdgeStore, questions: Sequence[Question]) -> None:
        self._threads = ModelThread("encoder"), ModelThread("reranker")
        self._questions = questions
        encoder, reranker = MadeUpEncoder(questions), NoReranker()
        language = load_language(bytes(32))
        self._searcher = Searcher(
            encoder, self._threads[0], reranker, self._threads[1], store, language, SearchSettings()
        )

    async def one(self, question: Question, who: Principal, narrowed: SearchFilter | None) -> dict[str, float]:
        found = await self._searcher.search(question.text, who, book=LabelBook(), filter=narrowed)
        times = found.latencies_ms
        return times | {"net": times["total"] - times["encode"] - times.get("rerank", 0.0)}

    async def all(self, who: Principal, narrowed: SearchFilter | None) -> list[dict[str, float]]:
        return [await self.one(question, who, narrowed) for question in self._questions]

    async def together(self, callers: int) -> float:
        """Return questions a second of so many callers."""
        waiting = iter([*self._questions] * 2)

        async def caller() -> None:
            for question in waiting:
                await self.one(question, _STAFF, None)

        began = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(callers)))
        return len(self._questions) * 2 / (time.perf_counter() - began)

    async def until(self, ended: asyncio.Event) -> list[float]:
        """Ask one question after the other until something has ended; return `net` of each."""
        times: list[float] = []
        while not ended.is_set():
            for question in self._questions:
                times.append((await self.one(question, _STAFF, None))["net"])
                await asyncio.sleep(0.02)
                if ended.is_set():
                    break
        return times

    def close(self) -> None:
        for thread in self._threads:
            thread.close()


async def _fill(
    store: EdgeStore, made_up: MadeUp, size: int, search: _Asking, figures: Figures
) -> tuple[np.ndarray, np.ndarray]:
    """Write all chunks while questions are asked; return dense vectors and whether staff sees each."""
    dense: list[np.ndarray] = []
    seen: list[bool] = []
    ended, began, made_s = asyncio.Event(), time.perf_counter(), 0.0
    batches = made_up.chunks(size, _BATCH)
    async with Ticker() as ticker:
        asking = asyncio.create_task(search.until(ended))
        while True:
            making = time.perf_counter()
            batch = await asyncio.to_thread(next, batches, None)
            made_s += time.perf_counter() - making
            if batch is None:
                break
            chunks, vectors = batch
            await store.write(chunks)
            for document in {each.chunk.document_id for each in chunks}:
                await store.publish(TENANT, document)
            dense.append(vectors)
            seen += ["everyone" in each.chunk.access for each in chunks]
        ended.set()
        times = await asking
    figures.fill_s = round(time.perf_counter() - began - made_s, 1)
    figures.fill_stall, figures.asked_while_filling = str(ticker), _spread(times)
    return np.concatenate(dense), np.array(seen)


async def _optimise(store: EdgeStore, made_up: MadeUp, size: int, search: _Asking, figures: Figures) -> None:
    """Optimise while questions are asked and chunks are written again."""
    again = [each for batch, _ in made_up.chunks(min(size, 2000), _BATCH) for each in batch]
    ended, written = asyncio.Event(), 0

    async def writing() -> None:
        nonlocal written
        while not ended.is_set():
            await store.write(again[written % len(again) :][:20])
            written += 20
            await asyncio.sleep(0.2)

    began = time.perf_counter()
    async with Ticker() as ticker:
        tasks = asyncio.create_task(search.until(ended)), asyncio.create_task(writing())
        await store.optimise()
        figures.optimise_s = round(time.perf_counter() - began, 1)
        await asyncio.sleep(1)
        ended.set()
        times = await tasks[0]
        await tasks[1]
    figures.optimise_stall, figures.asked_while_optimising = str(ticker), _spread(times)
    figures.written_while_optimising = written


async def _recall(
    store: EdgeStore, questions: Sequence[Question], dense: np.ndarray, seen: np.ndarray
) -> dict[str, float]:
    """Return the share of the ten nearest chunks that are found, without and with a filter (measured exactly)."""
    numbers = np.arange(len(dense))
    admitted = {"sees all": numbers >= 0, "label": seen & (numbers // 50 % 2 == 1)}
    ids = {chunk_id: n for n, chunk_id in enumerate(_ids(len(dense)))}
    recall: dict[str, float] = {}
    for name, mask in admitted.items():
        who, narrowed = _CASES[name]
        scope, found = Scope.of(who, narrowed), 0
        for question in questions:
            cosines = np.where(mask, dense @ question.dense, -2.0)
            nearest = set(np.argpartition(-cosines, _NEAREST)[:_NEAREST].tolist())
            hits = await store.dense(question.dense, scope, _NEAREST)
            found += len(nearest & {ids[hit.chunk.chunk_id] for hit in hits})
        recall[name] = round(found / (_NEAREST * len(questions)), 4)
    return recall


def _ids(size: int) -> list[str]:
    from uuid import NAMESPACE_URL, uuid5

    return [str(uuid5(NAMESPACE_URL, f"chunk {n}")) for n in range(size)]


def _contenders(made_up: MadeUp, size: int, questions: Sequence[Question]) -> dict[str, str]:
    if missing := [name for name in ("haystack", "llama_index") if importlib.util.find_spec(name) is None]:
        return {"not installed": ", ".join(missing)}
    import contenders

    chunks = [each for batch, _ in made_up.chunks(size, _BATCH) for each in batch]
    return {
        name: _spread(times) for name, times in contenders.measure(chunks, questions, SearchSettings().candidates_k)
    }


def _spread(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "-"
    return f"{median(values):.1f} / {quantiles(values, n=20)[-1]:.1f}"


def _print(rows: Sequence[Figures]) -> None:
    print("Times in ms as p50 / p95, stalls as longest delay of the event loop / of a thread\n")
    columns = {
        "fill s": lambda f: f"{f.fill_s}",
        "stall filling": lambda f: f.fill_stall,
        "question while filling": lambda f: f.asked_while_filling,
        "question before": lambda f: f.plain,
        "optimise s": lambda f: f"{f.optimise_s}",
        "stall optimising": lambda f: f.optimise_stall,
        "question while optimising": lambda f: f.asked_while_optimising,
        f"{_CALLERS} callers, questions/s": lambda f: f"{f.callers_per_s}",
        "recall@10": lambda f: " / ".join(f"{value:.3f}" for value in f.recall.values()),
        "MB": lambda f: f"{f.index_mb}",
    }
    print(f"| chunks | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
    for row in rows:
        print(f"| {row.chunks:,} | {' | '.join(read(row) for read in columns.values())} |")
    stages = [stage for stage in next(iter(rows[0].stages.values())) if stage not in ("encode", "rerank")]
    print(f"\n| question | {' | '.join(stages)} |\n| --- |{' --- |' * len(stages)}")
    for row in rows:
        for case, times in row.stages.items():
            print(f"| {row.chunks:,}, {case} | {' | '.join(times.get(stage, '-') for stage in stages)} |")
    for row in rows:
        for name, times in row.contenders.items():
            print(f"\n{row.chunks:,} chunks, {name}: {times}", end="")
    print()


def main() -> None:
    """Measure the sizes named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[1_000, 10_000, 50_000, 200_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--plain", action="store_true", help="do not optimise")
    parser.add_argument("--contenders-up-to", type=int, default=10_000, help="chunks; 0: leave them out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[Figures] = []
    for size in options.chunks:
        with suppress(KeyboardInterrupt):
            contended = size <= options.contenders_up_to
            print(f"{size:,} chunks, {datetime.now(UTC):%H:%M:%S}", file=sys.stderr)
            rows.append(asyncio.run(measure(size, options.questions, not options.plain, contended)))
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine}, load {os.getloadavg()[0]:.1f}\n")
    _print(rows)


if __name__ == "__main__":
    main()
