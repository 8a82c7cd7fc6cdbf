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


class Dataset(Value):
    """Texts and questions about them."""

    name: str
    texts: tuple[Text, ...]
    questions: tuple[Question, ...]


def read_dataset(folder: Path) -> Dataset:
    """Read a folder whose file names tell its kind: CMRC 2018 (Chinese) or TAT-QA (English, financial tables).

    Raises:
        EvaluationDataError: the folder holds neither, or a line does not read.
    """
    for files, read in _KINDS.items():
        if all((folder / name).is_file() for name in files):
            return read(folder)
    wanted = "; ".join(" and ".join(files) for files in _KINDS)
    raise EvaluationDataError(f"{folder}: no question set here that can be read (looked for {wanted})")


_Record = TypeVar("_Record", bound=BaseModel)


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


_KINDS: dict[tuple[str, str], Callable[[Path], Dataset]] = {
    ("trial_passages.jsonl", "trial_questions.jsonl"): _cmrc,
    ("dev_contexts.jsonl", "dev_questions.jsonl"): _tatqa,
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
