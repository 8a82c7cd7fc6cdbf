"""Measures whether confidence tells a question that the index answers from one that it does not.

Every question is asked twice: as the index is, and with the text that answers it taken out. Taking out is a
filter that names every other document, so both are asked of one index. What differs from an index that never
held the text are the word statistics, in which it counts as one text among all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.encoder import Encoder, ModelThread, Reranker
from retrieval.errors import EvaluationDataError
from retrieval.evaluation import EVALUATOR, Progress, RetrievalEvaluation
from retrieval.evaluation_data import Dataset
from retrieval.labels import LabelBook
from retrieval.ports import Symboliser
from retrieval.search import Searcher
from retrieval.search_result import SearchResult
from retrieval.settings import SearchSettings
from retrieval.store import VectorStore
from retrieval.types import Scope, SearchFilter, Value

_MOST_DOCUMENTS = 1000
"""That a filter may name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, asked with its text and without: whether any passage was better than low, and the best score."""

    text_id: str
    found: bool
    """Whether the text was among the passages when it was there."""
    kept: bool
    detected: bool
    score_with: float
    score_without: float


class AbsentReport(Value):
    """What confidence tells."""

    dataset: str
    encoder: str
    reranker: str
    questions: int
    conflicting: float
    """Share of the passages that were marked as contradicting another."""
    metrics: dict[str, float]
    """`kept`: questions of which some passage is not of low confidence while their text is there; `detected`:
    questions of which every passage is of low confidence, or there is none, once it is not; `kept.found`: `kept`
    of those whose text is among the passages."""


async def ask_twice(
    dataset: Dataset,
    *,
    encoder: Encoder,
    reranker: Reranker,
    store: VectorStore,
    language: Symboliser,
    settings: SearchSettings,
    progress: Progress | None = None,
) -> tuple[list[Asked], AbsentReport]:
    """Index a dataset into an empty, closed store and ask every question with its text and without.

    Raises:
        EvaluationDataError: the dataset has more texts than a filter can name.
        StoreUnavailableError: the store gave no answer.
    """
    if len(dataset.texts) > _MOST_DOCUMENTS:
        raise EvaluationDataError(f"{dataset.name}: {len(dataset.texts)} texts; at most {_MOST_DOCUMENTS} can be told")
    encoder_thread, reranker_thread = ModelThread("evaluation-encoder"), ModelThread("evaluation-reranker")
    try:
        evaluation = RetrievalEvaluation(
            dataset,
            encoder=encoder,
            reranker=reranker,
            store=store,
            language=language,
            settings=settings,
            progress=progress,
        )
        await evaluation.index(encoder_thread)
        searcher = Searcher(encoder, encoder_thread, reranker, reranker_thread, store, language, settings)
        documents: dict[str, str] = {}
        async for batch in store.scan(Scope.of(EVALUATOR)):
            documents |= {text_id: chunk.document_id for chunk in batch for text_id in chunk.labels}
        asked: list[Asked] = []
        marked = shown = 0
        for question in dataset.questions:
            others = frozenset(documents.values()) - {documents[question.text_id]}
            there = await searcher.search(question.text, EVALUATOR, book=LabelBook())
            gone = await searcher.search(
                question.text, EVALUATOR, book=LabelBook(), filter=SearchFilter(document_ids=others)
            )
            asked.append(
                Asked(
                    text_id=question.text_id,
                    found=any(question.text_id in passage.chunk.labels for passage in there.passages),
                    kept=_sure(there),
                    detected=not _sure(gone),
                    score_with=_best(there),
                    score_without=_best(gone),
                )
            )
            marked += sum(bool(passage.conflicts_with) for passage in there.passages)
            shown += len(there.passages)
            if progress is not None:
                progress("ask", len(asked), len(dataset.questions))
        report = AbsentReport(
            dataset=dataset.name,
            encoder=encoder.info.name,
            reranker=reranker.name,
            questions=len(asked),
            conflicting=marked / max(shown, 1),
            metrics=rates(asked),
        )
        return asked, report
    finally:
        encoder_thread.close()
        reranker_thread.close()


def rates(asked: Sequence[Asked]) -> dict[str, float]:
    """Return the report's metrics."""
    found = [each.kept for each in asked if each.found]
    return {
        "kept": sum(each.kept for each in asked) / max(len(asked), 1),
        "detected": sum(each.detected for each in asked) / max(len(asked), 1),
        "kept.found": sum(found) / max(len(found), 1),
    }


def _sure(result: SearchResult) -> bool:
    return any(passage.confidence != "low" for passage in result.passages)


def _best(result: SearchResult) -> float:
    return max((passage.score for passage in result.passages), default=0.0)
