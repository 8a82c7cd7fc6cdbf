"""Questions in one language about texts in the other: over CMRC 2018, TAT-QA and the samples.

All texts of the three lie in one index, so that every question meets texts in its own language too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from ingest.evaluation_samples import sample_documents
from ingest.work import Cutter, Parsers
from retrieval.errors import EvaluationDataError
from retrieval.evaluation_data import Dataset, Question, Text, read_dataset


class _Line(BaseModel):
    id: str
    """`en-zh-…`, `zh-en-…` or `samples-…`."""
    language: Literal["zh", "en"]
    question: str
    set: Literal["cmrc2018", "tatqa", "samples"]
    text: str
    """Id of the text in its set; of a sample the file's name."""


async def read_crosslingual(
    questions: Path, samples: Path, eval_data: Path, parsers: Parsers, cutter: Cutter
) -> Dataset:
    """Return the questions, and all texts of CMRC 2018, TAT-QA and the samples.

    Args:
        questions: `crosslingual.jsonl`.
        samples: the folder of the sample documents.
        eval_data: the folder that holds `cmrc2018` and `tatqa`.
        parsers: read the samples.
        cutter: cuts them.

    Raises:
        EvaluationDataError: a line does not read, or names a text that is not there.
    """
    sets = [await asyncio.to_thread(read_dataset, eval_data / name) for name in ("cmrc2018", "tatqa")]
    texts = [*(text for one in sets for text in one.texts), *await sample_documents(samples, parsers, cutter)]
    asked = await asyncio.to_thread(_questions, questions, texts)
    return Dataset(name="crosslingual", texts=tuple(texts), questions=asked)


def _questions(path: Path, texts: Sequence[Text]) -> tuple[Question, ...]:
    known = {text.text_id for text in texts}
    asked: list[Question] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        where = f"{path}: line {number}"
        try:
            each = _Line.model_validate_json(line)
        except ValidationError as exc:
            raise EvaluationDataError(f"{where}: {exc.errors(include_input=False)[0]['msg']}") from exc
        if each.text not in known:
            raise EvaluationDataError(f"{where}: {each.id}: its text is not there")
        asked.append(Question(question_id=each.id, text=each.question, text_id=each.text))
    return tuple(asked)
