from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking import chunk_document, document_text, index_source
from ingest.settings import ChunkSettings
from ingest.symbolise import DocumentSymboliser, SymbolisedDocument
from ingest.types import Block, DocumentMeta, ParsedDocument
from retrieval.symbols.language import load_language

LANGUAGE = load_language(b"0123456789abcdef0123456789abcdef")
MOBILE, EMAIL, CARD = "13916668888", "zhou.yutong@example.com", "310101198506123042"


def heading(text: str, level: int = 1) -> Block:
    return Block(kind="heading", text=text, level=level)


def paragraph(text: str) -> Block:
    return Block(kind="paragraph", text=text)


def build(
    *blocks: Block, title: str = "", meta: DocumentMeta | None = None, max_tokens: int = 100
) -> SymbolisedDocument:
    parsed = ParsedDocument(format="markdown", blocks=blocks, title=title)
    symboliser = DocumentSymboliser(LANGUAGE, len, "acme", meta or DocumentMeta())
    drafts = chunk_document(parsed, symboliser.measure, ChunkSettings(max_tokens=max_tokens, min_tokens=10), max_tokens)
    return symboliser.build("d1", parsed.title, drafts)


def test_symbolise_takes_secrets_out_of_text_headings_and_title() -> None:
    result = build(
        heading(f"客户 {MOBILE}"), paragraph(f"邮箱 {EMAIL}，身份证 {CARD}。"), title=f"投诉 {MOBILE}", max_tokens=300
    )
    stored = "".join(chunk.model_dump_json() for chunk in result.chunks) + result.title
    for value in (MOBILE, EMAIL, CARD):
        assert value not in stored
    assert sorted(secret.value for secret in result.secrets) == sorted([MOBILE, EMAIL, CARD])
    pseudonym = next(secret.pseudonym for secret in result.secrets if secret.value == MOBILE)
    (chunk,) = result.chunks
    assert chunk.heading_path == (f"客户 {pseudonym}",)
    assert pseudonym in chunk.title
    assert pseudonym in chunk.index_text


def test_symbolise_puts_title_and_headings_before_the_symbolised_text() -> None:
    result = build(
        heading("制度"),
        heading("第三章", 2),
        paragraph("C1 客户不得购买 R4 基金，上限 2.38 亿元。"),
        title="细则",
        max_tokens=300,
    )
    (chunk,) = result.chunks
    tokens = [symbol.token for symbol in chunk.symbols]
    assert len(tokens) == 3
    assert chunk.index_text == "细则\n制度\n\n第三章\n\n{} 客户不得购买 {} 基金，上限 {}。".format(*tokens)
    assert chunk.text.endswith("C1 客户不得购买 R4 基金，上限 2.38 亿元。")


def test_symbolise_gives_symbols_their_spans_in_the_text() -> None:
    result = build(
        heading("2024年第三季度"),
        paragraph("无关。" * 30),
        paragraph(f"电话{MOBILE}，收入 2.38 亿元，同比下滑 5.2%。"),
        title="2024 年报",
    )
    assert len(result.chunks) > 1
    last = result.chunks[-1]
    assert [last.text[s.start : s.end] for s in last.symbols] == [s.surface for s in last.symbols]
    assert {"[CNY_238000000]", "[PCT_-5.2]"} <= {s.token for s in last.symbols}
    assert all("2024" not in s.normal for s in last.symbols)


def test_symbolise_carries_the_metadata_to_every_chunk() -> None:
    meta = DocumentMeta(
        issuer="合规部",
        authority="official",
        effective_from=date(2024, 7, 1),
        labels=frozenset({"policy"}),
        access=frozenset({"group:sales"}),
    )
    result = build(paragraph("员工应当遵守本制度。" * 30), meta=meta)
    assert len(result.chunks) > 1
    for chunk in result.chunks:
        assert (chunk.issuer, chunk.authority, chunk.effective_from) == ("合规部", "official", date(2024, 7, 1))
        assert (chunk.labels, chunk.access, chunk.language) == (meta.labels, meta.access, "zh")
        assert (chunk.tenant, chunk.document_id) == ("acme", "d1")


def test_symbolise_resolves_relative_periods_by_the_effective_date() -> None:
    text = paragraph("上季度收入增长。")
    (dated,) = build(text, meta=DocumentMeta(effective_from=date(2024, 11, 5))).chunks
    (undated,) = build(text).chunks
    assert "[PERIOD_2024Q3]" in {symbol.token for symbol in dated.symbols}
    assert not undated.symbols


def test_symbolise_counts_the_tokens_of_the_index_text() -> None:
    result = build(heading("甲"), paragraph("收入 2.38 亿元。"), paragraph("员工应当遵守本制度。" * 30))
    for chunk in result.chunks:
        assert chunk.token_count == len(chunk.index_text) <= 100


def test_symbolise_gives_a_table_of_figures_its_documents_language() -> None:
    rows = tuple((f"{n}", f"{n}.5") for n in range(30))
    figures = Block(kind="table", text="x", rows=rows)
    result = build(paragraph("员工应当遵守本制度。" * 30), figures)
    assert {chunk.language for chunk in result.chunks} == {"zh"}


def test_symbolise_ids_do_not_depend_on_the_secret_or_on_text_before() -> None:
    tail = paragraph("员工应当遵守本制度。" * 12)
    one = build(heading("甲"), paragraph("短文。" * 20), heading("乙"), tail)
    two = build(heading("零"), paragraph("新增。" * 20), heading("甲"), paragraph("短文。" * 20), heading("乙"), tail)
    assert {chunk.chunk_id for chunk in one.chunks} < {chunk.chunk_id for chunk in two.chunks}


PIECES = st.lists(
    st.sampled_from([
        MOBILE,
        EMAIL,
        CARD,
        "联系电话：",
        "收入 2.38 亿元。",
        "\n",
        "，",
        "Contact ",
        "员工遵守制度。",
        " ",
    ]),
    min_size=1,
    max_size=40,
).map("".join)


@settings(max_examples=80, deadline=None)
@given(st.lists(PIECES.map(paragraph) | PIECES.map(lambda t: heading(t[:40])), min_size=1, max_size=5))
def test_symbolise_spans_count_in_the_text_without_secrets(blocks: list[Block]) -> None:
    parsed = ParsedDocument(format="markdown", blocks=tuple(blocks))
    symboliser = DocumentSymboliser(LANGUAGE, len, "acme", DocumentMeta())
    drafts = chunk_document(parsed, symboliser.measure, ChunkSettings(max_tokens=120, min_tokens=10), 120)
    result = symboliser.build("d1", "", drafts)
    raw, rebuilt, raw_at = document_text(parsed), "", 0
    for draft, chunk in zip(drafts, result.chunks, strict=True):
        rebuilt += raw[raw_at : draft.start_char]
        assert len(rebuilt) == chunk.start_char
        rebuilt += chunk.text[len(chunk.text) - (chunk.end_char - chunk.start_char) :]
        assert len(rebuilt) == chunk.end_char
        raw_at = draft.end_char
        assert symboliser.measure(index_source("", draft.heading_path, draft.text)) == chunk.token_count
    assert len({chunk.chunk_id for chunk in result.chunks}) == len(result.chunks)


def test_symbolise_of_no_drafts_gives_no_chunks() -> None:
    assert DocumentSymboliser(LANGUAGE, len, "acme", DocumentMeta()).build("d1", "t", ()).chunks == ()


def test_symbolise_of_more_text_than_is_remembered_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [b for n in range(8) for b in (heading(f"Part {n}", 2), paragraph(f"RMB {n + 1} million, {MOBILE}. " * 6))]
    whole = build(*blocks, title="Report")
    monkeypatch.setattr("ingest.symbolise._REMEMBERED", 300)
    symboliser = DocumentSymboliser(LANGUAGE, len, "acme", DocumentMeta())
    assert build(*blocks, title="Report") == whole
    for n in range(100):
        symboliser.measure(f"text {n} " * 10)
    assert sum(map(len, symboliser._known)) <= 300
