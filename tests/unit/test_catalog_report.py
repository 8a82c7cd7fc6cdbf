"""The admission report's counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.report import build_report, compare, text_key
from ingest.types import Block, PageYield, ParsedDocument
from retrieval.types import Chunk, Symbol


def chunk(text: str, tokens: int = 1, symbols: tuple[Symbol, ...] = (), **more: Any) -> Chunk:
    return Chunk(
        chunk_id=text,
        tenant="t",
        document_id="d",
        ordinal=0,
        text=text,
        index_text=text,
        start_char=0,
        end_char=len(text),
        token_count=tokens,
        symbols=symbols,
        **more,
    )


def symbol(cls: Any, kind: str) -> Symbol:
    return Symbol(cls=cls, kind=kind, normal="n", token="[T]", start=0, end=1, surface="s")


def test_report_counts_pages_blocks_symbols_and_languages() -> None:
    parsed = ParsedDocument(
        format="pdf",
        page_count=3,
        blocks=(
            Block(kind="heading", text="Title", level=1),
            Block(kind="table", text="a | b"),
            Block(kind="paragraph", text="text"),
        ),
        pages=(
            PageYield(page_number=1, characters=300, garbled_ratio=0.1),
            PageYield(page_number=2, characters=100, garbled_ratio=0.5, ocr=True),
            PageYield(page_number=3, characters=0),
        ),
        notes=("one picture was left out",),
    )
    report = build_report(
        parsed,
        [
            chunk("a", 5, (symbol("code", "risk"), symbol("secret", "mobile")), language="zh"),
            chunk("b", 7, (symbol("code", "risk"),), language="en"),
        ],
    )
    assert (report.characters, report.empty_pages, report.ocr_pages, report.tables) == (14, 1, 1, 1)
    assert report.garbled_ratio == pytest.approx(0.2)
    assert report.symbols == {"code": {"risk": 2}, "secret": {"mobile": 1}}
    assert report.languages == {"zh": 1, "en": 1}
    assert report.notes == parsed.notes
    assert type(report).model_validate_json(report.model_dump_json()) == report


@given(st.lists(st.integers(1, 500), min_size=1, max_size=60))
def test_report_token_spread_lies_within_its_chunks(counts: list[int]) -> None:
    parsed = ParsedDocument(format="text", blocks=())
    spread = build_report(parsed, [chunk(str(n), count) for n, count in enumerate(counts)]).tokens
    assert (spread.total, spread.smallest, spread.largest) == (sum(counts), min(counts), max(counts))
    assert {spread.median, spread.p90} <= set(counts)
    assert sum(count <= spread.median for count in counts) * 2 >= len(counts)
    assert sum(count <= spread.p90 for count in counts) * 10 >= 9 * len(counts)
    assert sum(count < spread.p90 for count in counts) * 10 < 9 * len(counts)


def test_report_change_counts_repeated_texts_as_often_as_they_stand() -> None:
    before = Counter(text_key(chunk(text)) for text in ("a", "a", "b"))
    after = [chunk(text) for text in ("a", "c", "c")]
    change = compare("old", before, after)
    assert (change.added, change.removed, change.kept) == (2, 2, 1)
