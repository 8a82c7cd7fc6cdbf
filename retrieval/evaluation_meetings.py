"""Measures search inside transcripts: how much of what answers a question is read within a budget of words.

Every meeting is cut into pieces of whole turns and searched on its own, as a user searches in one given
document. Pieces are read in the order in which search ranks them, as long as they fit into the budget; the
measure is the share of the answering turns' words among what was read. Exact BM25 ranks the same pieces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from retrieval.encoder import Encoder, ModelThread, Reranker
from retrieval.evaluation import Progress, RetrievalEvaluation
from retrieval.evaluation_cutting import EVALUATOR
from retrieval.evaluation_data import Dataset, Meeting, MeetingQuestion, MeetingSet, Question, Text
from retrieval.labels import LabelBook
from retrieval.lexical import Bm25Index
from retrieval.metrics import Interval, mean, paired_bootstrap
from retrieval.ports import Symboliser
from retrieval.search import Searcher
from retrieval.settings import SearchSettings
from retrieval.store import VectorStore
from retrieval.types import Value

BUDGETS = (0.10, 0.26)
"""Shares of a transcript's words that may be read."""

PIECE_WORDS = 250
"""A piece ends with the turn that fills it: about one page."""

_DEPTH = 30
"""Pieces asked of search: more than the largest budget holds."""


class MeetingsReport(Value):
    """What an evaluation of search inside meetings measured."""

    dataset: str
    encoder: str
    encoder_revision: str
    reranker: str
    meetings: int
    pieces: int
    questions: int
    metrics: dict[str, float]
    """`words@10` and `words@26`: the mean share of answering words read; the same under `bm25.`."""
    over_bm25: dict[str, Interval]
    """Search minus BM25 per metric, with the 95 % interval of a paired bootstrap over questions."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A transcript in pieces of consecutive turns."""

    meeting: Meeting
    spans: tuple[range, ...]

    @classmethod
    def of(cls, meeting: Meeting, words: int = PIECE_WORDS) -> Pieces:
        """Cut after the turn with which a piece has `words` words; the last may have fewer."""
        spans: list[range] = []
        start = held = 0
        for turn, (_, said) in enumerate(meeting.turns):
            held += len(said.split())
            if held >= words or turn == len(meeting.turns) - 1:
                spans.append(range(start, turn + 1))
                start, held = turn + 1, 0
        return cls(meeting, tuple(spans))

    def texts(self) -> list[str]:
        """Return what was said in each piece, a line per turn."""
        return ["\n".join(self.meeting.turns[turn][1] for turn in span) for span in self.spans]

    def read(self, ranking: Sequence[int], wanted: frozenset[int], budget: float) -> float:
        """Return the share of the wanted turns' words that is read before the budget is spent."""
        words = [len(said.split()) for _, said in self.meeting.turns]
        left = budget * sum(words)
        found = 0
        for piece in ranking:
            size = sum(words[turn] for turn in self.spans[piece])
            if size <= left:
                left -= size
                found += sum(words[turn] for turn in self.spans[piece] if turn in wanted)
        return found / max(sum(words[turn] for turn in wanted), 1)


async def evaluate_meetings(
    meetings: MeetingSet,
    *,
    encoder: Encoder,
    reranker: Reranker,
    new_store: Callable[[], AbstractAsyncContextManager[VectorStore]],
    language: Symboliser,
    settings: SearchSettings,
    progress: Progress | None = None,
) -> MeetingsReport:
    """Index every meeting, ask its questions, and report.

    Args:
        meetings: what to search, and what should be found.
        encoder: encodes the pieces and the questions.
        reranker: reads the best candidates again.
        new_store: gives an empty, closed store for each meeting, and takes it back.
        language: the symbol language.
        settings: how search fuses and cuts.
        progress: called after each meeting with the stage `ask`.

    Raises:
        StoreUnavailableError: a store gave no answer.
    """
    asked: defaultdict[str, list[MeetingQuestion]] = defaultdict(list)
    for question in meetings.questions:
        asked[question.meeting_id].append(question)
    ours: defaultdict[str, list[float]] = defaultdict(list)
    theirs: defaultdict[str, list[float]] = defaultdict(list)
    pieces = 0
    for done, meeting in enumerate(meetings.meetings, start=1):
        questions, cut = asked[meeting.meeting_id], Pieces.of(meeting)
        pieces += len(cut.spans)
        async with new_store() as store:
            evaluation = RetrievalEvaluation(
                _dataset(cut, questions),
                encoder=encoder,
                reranker=reranker,
                store=store,
                language=language,
                settings=settings,
            )
            rankings = await _rankings(evaluation, encoder, reranker, store, language, settings, questions)
        baseline = Bm25Index(cut.texts())
        for question in questions:
            bm25 = [piece for piece, _ in baseline.search(question.text, len(cut.spans))]
            for budget in BUDGETS:
                name = f"words@{round(budget * 100)}"
                ours[name].append(cut.read(rankings[question.question_id], question.turns, budget))
                theirs[name].append(cut.read(bm25, question.turns, budget))
        if progress is not None:
            progress("ask", done, len(meetings.meetings))
    return MeetingsReport(
        dataset=meetings.name,
        encoder=encoder.info.name,
        encoder_revision=encoder.info.revision,
        reranker=reranker.name,
        meetings=len(meetings.meetings),
        pieces=pieces,
        questions=len(meetings.questions),
        metrics={
            **{name: mean(values) for name, values in ours.items()},
            **{f"bm25.{name}": mean(values) for name, values in theirs.items()},
        },
        over_bm25={name: paired_bootstrap(values, theirs[name]) for name, values in ours.items()},
    )


def _dataset(cut: Pieces, questions: Sequence[MeetingQuestion]) -> Dataset:
    return Dataset(
        name=cut.meeting.meeting_id,
        texts=tuple(Text(text_id=str(number), text=text) for number, text in enumerate(cut.texts())),
        questions=tuple(Question(question_id=q.question_id, text=q.text, text_id="") for q in questions),
    )


async def _rankings(
    evaluation: RetrievalEvaluation,
    encoder: Encoder,
    reranker: Reranker,
    store: VectorStore,
    language: Symboliser,
    settings: SearchSettings,
    questions: Sequence[MeetingQuestion],
) -> Mapping[str, list[int]]:
    """Return by question the numbers of the pieces, best first: search's passages, then the candidates behind them."""
    encoder_thread, reranker_thread = ModelThread("evaluation-encoder"), ModelThread("evaluation-reranker")
    try:
        await evaluation.index(encoder_thread)
        searcher = Searcher(encoder, encoder_thread, reranker, reranker_thread, store, language, settings)
        found: dict[str, list[int]] = {}
        for question in questions:
            result = await searcher.search(question.text, EVALUATOR, book=LabelBook(), top_k=_DEPTH)
            chunks = [p.chunk for p in result.passages] + [c.chunk for c in result.candidates]
            found[question.question_id] = list(dict.fromkeys(int(next(iter(c.labels))) for c in chunks))
        return found
    finally:
        encoder_thread.close()
        reranker_thread.close()
