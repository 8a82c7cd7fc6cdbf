from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from ingest.chunking import chunk_document
from ingest.detect import detect
from ingest.parsers.registry import parse
from ingest.settings import ChunkSettings, ParserSettings
from ingest.symbolise import DocumentSymboliser
from ingest.types import DocumentMeta
from retrieval.symbols.language import load_language
from retrieval.types import Chunk

LANGUAGE = load_language(b"0123456789abcdef0123456789abcdef")
QUESTIONS = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "samples" / "questions.json").read_text(encoding="utf-8")
)
ANSWERED = [question for question in QUESTIONS if question["source"]]


@cache
def chunks_of(path: Path) -> tuple[Chunk, ...]:
    parsed = parse(path, detect(path, path.name), path.name, ParserSettings())
    symboliser = DocumentSymboliser(LANGUAGE, lambda text: len(text) // 2, "acme", DocumentMeta())
    title = parsed.title or path.stem
    drafts = chunk_document(parsed, symboliser.measure, ChunkSettings(), 512, title)
    chunks = symboliser.build("d1", title, drafts).chunks
    for chunk in chunks:
        assert parsed.page_count is None or 1 <= chunk.page_start <= chunk.page_end <= parsed.page_count
        assert (chunk.page_start is None) == (parsed.page_count is None)
        assert chunk.token_count <= 400
    return chunks


@pytest.mark.parametrize("question", ANSWERED, ids=[question["id"] for question in ANSWERED])
def test_samples_answer_stands_in_one_chunk_on_the_named_page(samples: Path, question: dict) -> None:
    source = question["source"]
    holding = [
        chunk
        for chunk in chunks_of(samples / source["file"])
        if all(words in chunk.text for words in question["answer_contains"])
    ]
    assert holding
    if source["page"] is not None:
        assert (source["page"], source["page"]) in [(chunk.page_start, chunk.page_end) for chunk in holding]


def test_samples_brief_never_mixes_its_pages(samples: Path) -> None:
    chunks = chunks_of(samples / "q3-2024-brief.pdf")
    pages = [(chunk.page_start, chunk.page_end) for chunk in chunks]
    assert pages == sorted(pages)
    assert set(pages) == {(page, page) for page in range(1, 8)}
    assert all(chunk.boxes for chunk in chunks)
    assert "| 专户与机构业务 | 0.58 | 0.52 | +11.5% |" in chunks[2].text
    assert "第 3 页" not in chunks[2].text


def test_samples_product_list_repeats_its_header(samples: Path) -> None:
    tables = [chunk for chunk in chunks_of(samples / "product-list.md") if chunk.kind == "table"]
    assert len(tables) > 1
    assert all("| 产品代码 | 产品名称 |" in chunk.text for chunk in tables)


def test_samples_complaint_record_is_stored_without_personal_data(samples: Path) -> None:
    stored = "".join(chunk.model_dump_json() for chunk in chunks_of(samples / "complaint-record.txt"))
    for value in ("310101198506123042", "13916668888", "zhou.yutong@example.com", "6222 0210 0112 3456 789"):
        assert value not in stored


def test_samples_transcript_keeps_speakers_and_times(samples: Path) -> None:
    turns = chunks_of(samples / "product-committee-2024-10-18.srt")
    (decision,) = [chunk for chunk in turns if "8亿元" in chunk.text]
    assert (decision.kind, decision.speaker, decision.start_s) == ("turn", "张敏", 32.4)
