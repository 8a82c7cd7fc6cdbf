"""Reads question sets for the evaluation of search, as their authors publish them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from retrieval.errors import EvaluationDataError
from retrieval.types import Value


class Text(Value):
    """A text that answers questions."""

    text_id: str
    title: str = ""
    text: str


class Question(Value):
    """A question and the one text that answers it."""

    question_id: str
    text: str
    text_id: str


class Meeting(Value):
    """A transcript."""

    meeting_id: str
    turns: tuple[tuple[str, str], ...]
    """Speaker and words of every turn, in order."""


class MeetingQuestion(Value):
    """A question about one meeting, and the turns that answer it."""

    question_id: str
    text: str
    meeting_id: str
    turns: frozenset[int]
    """0-based numbers of the turns, never empty."""


class MeetingSet(Value):
    """Meetings and questions about them."""

    name: str
    meetings: tuple[Meeting, ...]
    questions: tuple[MeetingQuestion, ...]


class Dataset(Value):
    """Texts and questions about them."""

    name: str
    texts: tuple[Text, ...]
    questions: tuple[Question, ...]


def read_dataset(folder: Path) -> Dataset:
    """Read a folder whose file names tell its kind.

    A set of one's own: `texts.jsonl` with `text_id`, `title` (may be missing) and `text`, `questions.jsonl` with
    `question_id`, `text` and the `text_id` that answers it. Else CMRC 2018 (Chinese), TAT-QA (English, financial
    tables) or VCSum (Chinese meetings: a headline asks for its segment) as their authors publish them.

    Raises:
        EvaluationDataError: the folder holds none of them, or a line does not read.
    """
    for files, read in _KINDS.items():
        if all((folder / name).is_file() for name in files):
            return read(folder)
    wanted = "; ".join(" and ".join(files) for files in _KINDS)
    raise EvaluationDataError(f"{folder}: no question set here that can be read (looked for {wanted})")


def holds_meetings(folder: Path) -> bool:
    """Tell whether a folder is one for `read_meetings`."""
    return all((folder / name).is_file() for name in _MEETINGS)


def read_meetings(folder: Path) -> MeetingSet:
    """Read QMSum's meetings and those of its questions that name the turns which answer them.

    Raises:
        EvaluationDataError: files are missing, a line does not read, or a question names turns that are not there.
    """
    if not holds_meetings(folder):
        raise EvaluationDataError(f"{folder}: no meetings here (looked for {' and '.join(_MEETINGS)})")
    meetings = {m.id: m for m in _lines(folder / _MEETINGS[0], _QmsumMeeting)}
    questions: list[MeetingQuestion] = []
    for query in _lines(folder / _MEETINGS[1], _QmsumQuery):
        if not query.spans:
            continue  # about the meeting as a whole: there is nothing to find
        turns = frozenset(turn for first, last in query.spans for turn in range(first, last + 1))
        if query.meeting not in meetings or max(turns, default=0) >= len(meetings[query.meeting].turns):
            raise EvaluationDataError(f"{folder}: question {query.qid} names a meeting or turns that are not there")
        questions.append(
            MeetingQuestion(question_id=query.qid, text=query.query, meeting_id=query.meeting, turns=turns)
        )
    return MeetingSet(
        name=folder.name,
        meetings=tuple(Meeting(meeting_id=m.id, turns=tuple(m.turns)) for m in meetings.values()),
        questions=tuple(questions),
    )


_Record = TypeVar("_Record", bound=BaseModel)
_MEETINGS = ("val_meetings.jsonl", "val_queries.jsonl")


class _CmrcPassage(BaseModel):
    id: str
    title: str
    text: str


class _CmrcQuestion(BaseModel):
    qid: str
    passage_id: str
    question: str


class _TatParagraph(BaseModel):
    order: int
    text: str


class _TatContext(BaseModel):
    id: str
    table: list[list[str]]
    paragraphs: list[_TatParagraph]

    def as_text(self) -> str:
        """Return paragraphs in order, then the table with a line per row: one page of a report."""
        paragraphs = [p.text for p in sorted(self.paragraphs, key=lambda p: p.order)]
        return "\n".join([*paragraphs, *(" | ".join(row) for row in self.table)])


class _TatQuestion(BaseModel):
    qid: str
    context_id: str
    question: str


class _VcSegment(BaseModel):
    id: str
    headline: str
    turns: list[tuple[str, str]]


class _QmsumMeeting(BaseModel):
    id: str
    turns: list[tuple[str, str]]


class _QmsumQuery(BaseModel):
    qid: str
    meeting: str
    query: str
    spans: list[tuple[int, int]] | None


def _cmrc(folder: Path) -> Dataset:
    passages = _lines(folder / "trial_passages.jsonl", _CmrcPassage)
    questions = _lines(folder / "trial_questions.jsonl", _CmrcQuestion)
    return _checked(
        folder,
        [Text(text_id=p.id, title=p.title, text=p.text) for p in passages],
        [Question(question_id=q.qid, text=q.question, text_id=q.passage_id) for q in questions],
    )


def _tatqa(folder: Path) -> Dataset:
    contexts = _lines(folder / "dev_contexts.jsonl", _TatContext)
    questions = _lines(folder / "dev_questions.jsonl", _TatQuestion)
    return _checked(
        folder,
        [Text(text_id=c.id, text=c.as_text()) for c in contexts],
        [Question(question_id=q.qid, text=q.question, text_id=q.context_id) for q in questions],
    )


def _vcsum(folder: Path) -> Dataset:
    segments = _lines(folder / "dev_segments.jsonl", _VcSegment)
    return _checked(
        folder,
        [Text(text_id=s.id, text="\n".join(words for _, words in s.turns)) for s in segments],
        [Question(question_id=s.id, text=s.headline, text_id=s.id) for s in segments],
    )


def _own(folder: Path) -> Dataset:
    return _checked(folder, _lines(folder / "texts.jsonl", Text), _lines(folder / "questions.jsonl", Question))


_KINDS: dict[tuple[str, ...], Callable[[Path], Dataset]] = {
    ("texts.jsonl", "questions.jsonl"): _own,
    ("trial_passages.jsonl", "trial_questions.jsonl"): _cmrc,
    ("dev_contexts.jsonl", "dev_questions.jsonl"): _tatqa,
    ("dev_segments.jsonl",): _vcsum,
}


def _lines(path: Path, kind: type[_Record]) -> list[_Record]:
    found: list[_Record] = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                found.append(kind.model_validate_json(line))
            except ValueError as exc:
                raise EvaluationDataError(f"{path}, line {number}: not a record of this question set") from exc
    return found


def _checked(folder: Path, texts: Sequence[Text], questions: Sequence[Question]) -> Dataset:
    known = {text.text_id for text in texts}
    lost = next((q for q in questions if q.text_id not in known), None)
    if lost is not None:
        raise EvaluationDataError(
            f"{folder}: question {lost.question_id} names text {lost.text_id}, which is not there"
        )
    return Dataset(name=folder.name, texts=tuple(texts), questions=tuple(questions))
