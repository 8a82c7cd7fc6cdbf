"""Compares two ways of searching on the same questions, and takes search apart to see what each part brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from retrieval.encoder import Encoder, Reranker
from retrieval.evaluation import Progress, RetrievalEvaluation, RetrievalReport
from retrieval.evaluation_cutting import DatasetCutter, SentenceCutter, WindowCutter
from retrieval.evaluation_data import Dataset
from retrieval.evaluation_symbols import NoSymbols
from retrieval.metrics import Difference, paired_difference, per_question
from retrieval.ports import Symboliser
from retrieval.rerankers.unchanged import FusedOrder
from retrieval.settings import SearchSettings
from retrieval.store import VectorStore
from retrieval.types import Value

NewStore = Callable[[], AbstractAsyncContextManager[VectorStore]]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of searching."""

    name: str
    encoder: Encoder
    reranker: Reranker
    language: Symboliser
    settings: SearchSettings
    cutter: DatasetCutter | None = None


class Comparison(Value):
    """Two ways of searching one dataset: `b` minus `a` in every metric."""

    dataset: str
    a: str
    b: str
    reports: tuple[RetrievalReport, RetrievalReport]
    differences: dict[str, Difference]
    only_a: tuple[str, ...]
    """Questions whose text only `a` puts first."""
    only_b: tuple[str, ...]


async def compare(
    dataset: Dataset, a: Arm, b: Arm, *, new_store: NewStore, progress: Progress | None = None
) -> Comparison:
    """Index and ask twice.

    Raises:
        StoreUnavailableError: a store gave no answer.
    """
    first, second = [await measure(dataset, arm, new_store=new_store, progress=progress) for arm in (a, b)]
    return _compared(dataset, (a.name, *first), (b.name, *second))


class Ablation(Value):
    """What search loses on one dataset without each of its parts: the part's arm minus the whole."""

    dataset: str
    whole: RetrievalReport
    without: dict[str, Comparison]
    """By what was left out."""

    @property
    def metrics(self) -> dict[str, float]:
        """Return what each part brings, by `PART.METRIC`; positive where search is better with it."""
        return {
            f"{part}.{metric}": -difference.difference
            for part, comparison in self.without.items()
            for metric, difference in comparison.differences.items()
        }


def arms_without(
    encoder: Encoder, reranker: Reranker, language: Symboliser, settings: SearchSettings, *, window: int
) -> tuple[Arm, Mapping[str, Arm]]:
    """Return the whole search, and the arms that lack one part each."""

    def arm(name: str, **changed: object) -> Arm:
        parts: dict[str, object] = {
            "encoder": encoder,
            "reranker": reranker,
            "language": language,
            "settings": settings,
        }
        return Arm(name, **{**parts, **changed})  # pyright: ignore[reportArgumentType]

    no_channel = settings.model_copy(update={"symbol_weight": 0.0})
    return arm("whole"), {
        "sections": arm("blind windows", cutter=WindowCutter(encoder, language, tokens=window)),
        "symbolisation": arm("texts as written", language=NoSymbols(), settings=no_channel),
        "symbol_channel": arm("without the symbol channel", settings=no_channel),
        "reranking": arm("order of fusion", reranker=FusedOrder()),
        "source_line": arm("without titles", cutter=SentenceCutter(encoder, language, source_line=False)),
    }


async def ablate(
    dataset: Dataset,
    whole: Arm,
    without: Mapping[str, Arm],
    *,
    new_store: NewStore,
    progress: Progress | None = None,
) -> Ablation:
    """Search the dataset with everything, then without each part.

    Raises:
        StoreUnavailableError: a store gave no answer.
    """
    base = await measure(dataset, whole, new_store=new_store, progress=progress)
    found: dict[str, Comparison] = {}
    for part, arm in without.items():
        measured = await measure(dataset, arm, new_store=new_store, progress=progress)
        found[part] = _compared(dataset, (whole.name, *base), (arm.name, *measured))
    return Ablation(dataset=dataset.name, whole=base[0], without=found)


async def measure(
    dataset: Dataset, arm: Arm, *, new_store: NewStore, progress: Progress | None = None
) -> tuple[RetrievalReport, list[int | None]]:
    """Index and ask once; return the report and where each question's text was found.

    Raises:
        StoreUnavailableError: the store gave no answer.
    """
    async with new_store() as store:
        evaluation = RetrievalEvaluation(
            dataset,
            encoder=arm.encoder,
            reranker=arm.reranker,
            store=store,
            language=arm.language,
            settings=arm.settings,
            cutter=arm.cutter,
            progress=progress,
        )
        return await evaluation.run(), evaluation.ranks


_Measured = tuple[str, RetrievalReport, Sequence[int | None]]


def _compared(dataset: Dataset, a: _Measured, b: _Measured) -> Comparison:
    ours, theirs = per_question(b[2]), per_question(a[2])
    first = list(zip((q.question_id for q in dataset.questions), theirs["recall@1"], ours["recall@1"], strict=True))
    return Comparison(
        dataset=dataset.name,
        a=a[0],
        b=b[0],
        reports=(a[1], b[1]),
        differences={name: paired_difference(values, theirs[name]) for name, values in ours.items()},
        only_a=tuple(question for question, was, now in first if was > now),
        only_b=tuple(question for question, was, now in first if now > was),
    )
