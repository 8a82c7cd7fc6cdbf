"""Measures what symbolisation does for search: one dataset, searched with it and without it in one run.

Without it the texts and the questions are encoded as they are written, and there is no symbol channel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date
from typing import NamedTuple

from retrieval.encoder import Encoder, Reranker
from retrieval.evaluation import Progress, RetrievalEvaluation
from retrieval.evaluation_data import Dataset
from retrieval.metrics import Interval, mean, paired_bootstrap, recall_at
from retrieval.ports import Symboliser
from retrieval.settings import SearchSettings
from retrieval.store import VectorStore
from retrieval.types import Symbol, Value


class PlainText(NamedTuple):
    """A text in which nothing was read."""

    text: str
    index_text: str
    symbols: Sequence[Symbol]


class NoSymbols:
    """Reads nothing: what search is without the symbol language."""

    def symbolise(self, text: str, *, tenant: str, base_date: date | None = None) -> PlainText:
        """Return the text as it is."""
        return PlainText(text, text, ())


class EffectReport(Value):
    """Recall@1 of one dataset, with symbols and without."""

    dataset: str
    questions: int
    with_symbols: float
    without_symbols: float
    gain: Interval
    """With minus without, with the 95 % interval of a paired bootstrap over questions."""
    won: tuple[str, ...]
    """Ids of the questions that only symbols bring to rank 1."""
    lost: tuple[str, ...]
    """Ids of those that only the plain text brings to rank 1."""
    groups: dict[str, tuple[int, float, float]]
    """By the word before the first dash of the question's id: questions, recall@1 with and without."""


async def evaluate_effect(
    dataset: Dataset,
    *,
    encoder: Encoder,
    reranker: Reranker,
    new_store: Callable[[], AbstractAsyncContextManager[VectorStore]],
    language: Symboliser,
    settings: SearchSettings,
    progress: Progress | None = None,
) -> EffectReport:
    """Index and ask twice.

    Raises:
        StoreUnavailableError: a store gave no answer.
    """
    firsts: list[list[float]] = []
    plain = settings.model_copy(update={"symbol_weight": 0.0})
    for reads, how in ((language, settings), (NoSymbols(), plain)):
        async with new_store() as store:
            evaluation = RetrievalEvaluation(
                dataset,
                encoder=encoder,
                reranker=reranker,
                store=store,
                language=reads,
                settings=how,
                progress=progress,
            )
            await evaluation.run()
            firsts.append([recall_at(rank, 1) for rank in evaluation.ranks])
    ours, theirs = firsts
    ids = [question.question_id for question in dataset.questions]
    return EffectReport(
        dataset=dataset.name,
        questions=len(ids),
        with_symbols=mean(ours),
        without_symbols=mean(theirs),
        gain=paired_bootstrap(ours, theirs),
        won=tuple(i for i, a, b in zip(ids, ours, theirs, strict=True) if a > b),
        lost=tuple(i for i, a, b in zip(ids, ours, theirs, strict=True) if a < b),
        groups=_groups(ids, ours, theirs),
    )


def _groups(ids: Sequence[str], ours: Sequence[float], theirs: Sequence[float]) -> dict[str, tuple[int, float, float]]:
    groups: dict[str, tuple[int, float, float]] = {}
    for name in dict.fromkeys(i.partition("-")[0] for i in ids):
        rows = [(a, b) for i, a, b in zip(ids, ours, theirs, strict=True) if i.partition("-")[0] == name]
        groups[name] = (len(rows), mean([a for a, _ in rows]), mean([b for _, b in rows]))
    return groups
