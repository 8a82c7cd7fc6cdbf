"""Questions whose answer lies among texts that embeddings put beside each other: codes, periods, amounts.

The texts are the chunks of the sample documents, and every paragraph and table of TAT-QA's reports by itself.
A question names a figure in another writing than its source, or a code among its neighbours.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ingest.evaluation_samples import sample_chunks
from ingest.work import Cutter, Parsers
from retrieval.errors import EvaluationDataError
from retrieval.evaluation_data import Dataset, Question, Text


class _InSamples(BaseModel):
    set: Literal["samples"]
    id: str
    question: str
    file: str
    quote: str
    """A piece of the text that answers."""


class _InReports(BaseModel):
    set: Literal["tatqa"]
    id: str
    question: str
    context: str
    paragraph: int


_LINE: TypeAdapter[_InSamples | _InReports] = TypeAdapter(
    Annotated[_InSamples | _InReports, Field(discriminator="set")]
)


async def read_confusable(questions: Path, samples: Path, reports: Path, parsers: Parsers, cutter: Cutter) -> Dataset:
    """Return the questions, and all texts of the samples and the reports.

    Args:
        questions: `confusable.jsonl`.
        samples: the folder of the sample documents.
        reports: `dev_contexts.jsonl` of TAT-QA.
        parsers: read the samples.
        cutter: cuts them.

    Raises:
        EvaluationDataError: a line does not read, or names a text that is not there.
    """
    texts = [*await sample_chunks(samples, parsers, cutter), *await asyncio.to_thread(_report_texts, reports)]
    return Dataset(
        name="confusable", texts=tuple(texts), questions=await asyncio.to_thread(_questions, questions, texts)
    )


def _questions(path: Path, texts: Sequence[Text]) -> tuple[Question, ...]:
    known = {text.text_id for text in texts}
    asked: list[Question] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        where = f"{path}: line {number}"
        try:
            each = _LINE.validate_json(line)
        except ValidationError as exc:
            raise EvaluationDataError(f"{where}: {exc.errors(include_input=False)[0]['msg']}") from exc
        if isinstance(each, _InReports):
            text_id = f"{each.context}#{each.paragraph}"
        else:
            quoted = [t for t in texts if t.text_id.startswith(f"{each.file}#") and each.quote in t.text]
            text_id = quoted[0].text_id if quoted else ""
        if text_id not in known:
            raise EvaluationDataError(f"{where}: {each.id}: its text is not there")
        asked.append(Question(question_id=each.id, text=each.question, text_id=text_id))
    return tuple(asked)


def _report_texts(path: Path) -> list[Text]:
    texts: list[Text] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        context = json.loads(line)
        texts += [Text(text_id=f"{context['id']}#{each['order']}", text=each["text"]) for each in context["paragraphs"]]
        table = "\n".join(" | ".join(row) for row in context["table"])
        texts.append(Text(text_id=f"{context['id']}#table", text=table))
    return texts
