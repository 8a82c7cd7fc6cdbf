"""Ingestion on a part of the evaluation data that takes about a minute; `attest eval` measures the whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ingest.cutting import SymbolicCutter
from ingest.evaluation import FilesEvaluation, default_expected, read_expected
from ingest.evaluation_database import evaluate_database
from ingest.evaluation_tables import evaluate_tables, read_tables
from ingest.evaluation_transcripts import evaluate_transcripts
from ingest.sandbox import ParserPool
from ingest.settings import ChunkSettings, ParserSettings
from retrieval.encoders.lexical import LexicalEncoder
from retrieval.symbols.language import load_language

pytestmark = pytest.mark.eval


@pytest.fixture
async def pool() -> AsyncIterator[ParserPool]:
    pool = ParserPool(ParserSettings(timeout_s=120))
    yield pool
    await pool.close()


async def test_real_files_are_ready_with_their_text_or_rightly_not(eval_data: Path, pool: ParserPool) -> None:
    encoder = LexicalEncoder()
    cutter = SymbolicCutter(load_language(bytes(32)), encoder.count_tokens, 400, ChunkSettings())
    evaluation = FilesEvaluation(
        eval_data / "files", parsers=pool, cutter=cutter, expected=read_expected(default_expected())
    )
    report = await evaluation.run(every=11)
    metrics = report.metrics
    assert metrics["files"] >= 45
    assert (metrics["crashed"], metrics["hung"], metrics["silent_empty"]) == (0, 0, 0)
    assert [(file.path, file.error) for file in report.exceptions() if file.ending not in ("doc", "ppt")] == []
    assert (metrics["must_include"], metrics["must_not_include"]) == (1, 0)
    assert metrics["recall.digital"] >= 0.95
    assert metrics["recall.pdf"] >= 0.90
    assert all(file.error_code for file in report.files if file.outcome == "failed")


async def test_real_tables_come_back_cell_by_cell(eval_data: Path, pool: ParserPool) -> None:
    tables = read_tables(eval_data / "tatqa" / "dev_contexts.jsonl")[::24]
    metrics = (await evaluate_tables(tables, pool, formats=["xlsx", "docx", "html", "md", "pdf"])).metrics
    assert {name: value for name, value in metrics.items() if value < 0.995} == {}


def test_real_meetings_keep_every_speaker_and_time(eval_data: Path) -> None:
    for counts in evaluate_transcripts(eval_data, every=12):
        assert counts.turns > 10
        assert (counts.turns_whole, counts.right) == (counts.turns, counts.chunks)


def test_real_database_is_described_as_it_says_itself(eval_data: Path) -> None:
    counts = evaluate_database(eval_data / "chinook" / "Chinook_Sqlite.sqlite")
    assert (counts.tables, counts.tables_right, counts.row_counts_right) == (11, 11, 11)
    assert (counts.columns_right, counts.foreign_keys_right) == (counts.columns, counts.foreign_keys)
    assert counts.chunks_of_several_tables == 0
