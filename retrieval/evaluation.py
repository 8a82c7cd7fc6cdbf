"""Measures search on question sets with known sources, beside exact BM25 over the same texts.

The whole product path is measured: texts are symbolised, cut to the encoder's size, encoded, written
to a store and found through `Searcher`, reranker included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from retrieval.encoder import Encoder, ModelThread, Reranker
from retrieval.evaluation_cutting import EVALUATOR, DatasetCutter, SentenceCutter
from retrieval.evaluation_data import Dataset
from retrieval.labels import LabelBook
from retrieval.lexical import Bm25Index
from retrieval.metrics import Interval, mean, paired_bootstrap, per_question, rank_of
from retrieval.ports import Symboliser
from retrieval.search import Searcher
from retrieval.search_result import SearchResult
from retrieval.settings import SearchSettings
from retrieval.store import VectorStore
from retrieval.types import Chunk, EncodedChunk, Value

DEPTH = 10
"""Chunks asked of search per question."""

Progress = Callable[[str, int, int], None]
"""Called with the stage (`index`, `ask`), how many are done and how many there are."""


class RetrievalReport(Value):
    """What an evaluation of search measured."""

    dataset: str
    encoder: str
    encoder_revision: str
    reranker: str
    texts: int
    chunks: int
    questions: int
    metrics: dict[str, float]
    """`recall@1`, `recall@5`, `mrr@10`, `ndcg@10`; the same under `bm25.` for the baseline, and under
    `fused.` for search without its reranker."""
    over_bm25: dict[str, Interval]
    """Search minus BM25 per metric, with the 95 % interval of a paired bootstrap over questions."""
    index_s: float
    query_ms: dict[str, float]
    """Median and 95th percentile of a question's time by stage, keys like `total.p50`."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """Where a question's text was found, and in what time."""

    rank: int | None
    """In search's order: its passages, then the candidates behind them."""
    fused_rank: int | None
    latencies_ms: Mapping[str, float]

    @classmethod
    def of(cls, result: SearchResult, text_id: str) -> _Answer:
        passages = [_text_id(passage.chunk) for passage in result.passages]
        candidates = [_text_id(candidate.chunk) for candidate in result.candidates]
        return cls(rank_of([*passages, *candidates], text_id), rank_of(candidates, text_id), result.latencies_ms)


class RetrievalEvaluation:
    """One index over one dataset, and what its questions find.

    The store must be empty and closed; closing it again is the caller's part.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        encoder: Encoder,
        reranker: Reranker,
        store: VectorStore,
        language: Symboliser,
        settings: SearchSettings,
        cutter: DatasetCutter | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Take the parts; without a `cutter` texts are cut at sentence ends under their titles."""
        self._cutter = cutter or SentenceCutter(encoder, language)
        self._dataset, self._encoder, self._reranker, self._store = dataset, encoder, reranker, store
        self._language, self._settings = language, settings
        self._progress: Progress = progress or (lambda _stage, _done, _total: None)
        self._chunks = 0
        self.ranks: list[int | None] = []
        """After `run`: where each question's text was found, in the order of the questions."""

    async def run(self) -> RetrievalReport:
        """Index the dataset's texts, ask its questions, and report.

        Raises:
            StoreUnavailableError: the store gave no answer.
        """
        encoder_thread, reranker_thread = ModelThread("evaluation-encoder"), ModelThread("evaluation-reranker")
        try:
            started = time.perf_counter()
            await self.index(encoder_thread)
            index_s = time.perf_counter() - started
            searcher = Searcher(
                self._encoder,
                encoder_thread,
                self._reranker,
                reranker_thread,
                self._store,
                self._language,
                self._settings,
            )
            answers = await self._ask(searcher)
            self.ranks = [answer.rank for answer in answers]
            return self._report(answers, index_s)
        finally:
            encoder_thread.close()
            reranker_thread.close()

    async def index(self, encoder_thread: ModelThread) -> None:
        """Open the store and write every text."""
        await self._store.open(self._encoder.info)
        texts: set[str] = set()
        for chunks in self._cutter.documents(self._dataset):
            encoding = await encoder_thread.run(self._encoder.encode_documents, [c.index_text for c in chunks])
            await self._store.write([
                EncodedChunk(c, encoding.dense[i], encoding.sparse[i]) for i, c in enumerate(chunks)
            ])
            if chunks:
                await self._store.publish(EVALUATOR.tenant, chunks[0].document_id)
            self._chunks += len(chunks)
            texts |= {_text_id(chunk) for chunk in chunks}
            self._progress("index", len(texts), len(self._dataset.texts))

    async def _ask(self, searcher: Searcher) -> list[_Answer]:
        # Only what the report needs is kept: the results of thousands of questions would fill gigabytes.
        answers: list[_Answer] = []
        for question in self._dataset.questions:
            result = await searcher.search(question.text, EVALUATOR, book=LabelBook(), top_k=DEPTH)
            answers.append(_Answer.of(result, question.text_id))
            self._progress("ask", len(answers), len(self._dataset.questions))
        return answers

    def _report(self, answers: Sequence[_Answer], index_s: float) -> RetrievalReport:
        ours = per_question([answer.rank for answer in answers])
        fused = per_question([answer.fused_rank for answer in answers])
        theirs = per_question(self._bm25_ranks())
        return RetrievalReport(
            dataset=self._dataset.name,
            encoder=self._encoder.info.name,
            encoder_revision=self._encoder.info.revision,
            reranker=self._reranker.name,
            texts=len(self._dataset.texts),
            chunks=self._chunks,
            questions=len(answers),
            metrics={
                **{name: mean(values) for name, values in ours.items()},
                **{f"fused.{name}": mean(values) for name, values in fused.items()},
                **{f"bm25.{name}": mean(values) for name, values in theirs.items()},
            },
            over_bm25={name: paired_bootstrap(values, theirs[name]) for name, values in ours.items()},
            index_s=index_s,
            query_ms=_percentiles([answer.latencies_ms for answer in answers]),
        )

    def _bm25_ranks(self) -> list[int | None]:
        texts = self._dataset.texts
        index = Bm25Index(f"{text.title}\n{text.text}" for text in texts)
        return [
            rank_of([texts[row].text_id for row, _ in index.search(question.text, DEPTH)], question.text_id)
            for question in self._dataset.questions
        ]


def _text_id(chunk: Chunk) -> str:
    (text_id,) = chunk.labels
    return text_id


def _percentiles(questions: Sequence[Mapping[str, float]]) -> dict[str, float]:
    out: dict[str, float] = {}
    for stage in sorted({stage for stages in questions for stage in stages}):
        values = sorted(stages[stage] for stages in questions if stage in stages)
        out[f"{stage}.p50"] = values[len(values) // 2]
        out[f"{stage}.p95"] = values[int(len(values) * 0.95)]
    return out
