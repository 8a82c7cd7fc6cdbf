from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.cutting import SymbolicCutter
from ingest.evaluation_confusable import read_confusable
from ingest.fakes import InProcessParsers
from ingest.settings import ChunkSettings
from retrieval.errors import EvaluationDataError
from retrieval.symbols.language import load_language

CUTTER = SymbolicCutter(load_language(bytes(32)), lambda text: len(text) // 3 + 2, 512, ChunkSettings())
OF_SAMPLES = {"set": "samples", "id": "s-1", "lang": "zh", "question": "谁？", "file": "rules.md", "quote": "C1 客户"}
OF_REPORTS = {"set": "tatqa", "id": "t-1", "lang": "en", "question": "Who?", "context": "c", "paragraph": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "rules.md").write_text("# 细则\n\nC1 客户不得购买 R4 基金。\n", encoding="utf-8")
    context = {"id": "c", "table": [["a", "1"]], "paragraphs": [{"order": 2, "text": "Sales were $1 million."}]}
    (tmp_path / "contexts.jsonl").write_text(json.dumps(context), encoding="utf-8")
    return tmp_path


async def read(folder: Path, *lines: dict[str, object]):
    path = folder / "confusable.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return await read_confusable(path, folder / "samples", folder / "contexts.jsonl", InProcessParsers(), CUTTER)


async def test_questions_name_chunks_of_samples_and_paragraphs_of_reports(folder: Path) -> None:
    dataset = await read(folder, OF_SAMPLES, OF_REPORTS)
    assert [question.text_id for question in dataset.questions] == ["rules.md#0", "c#2"]
    assert [text.text_id for text in dataset.texts] == ["rules.md#0", "c#2", "c#table"]


async def test_a_question_about_a_text_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(EvaluationDataError, match=r"line 1: s-1: its text is not there"):
        await read(folder, {**OF_SAMPLES, "quote": "C9"})
