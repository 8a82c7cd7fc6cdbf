from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking import DraftChunk, chunk_document, chunk_ids, document_text, index_source
from ingest.chunking.reaching import reach
from ingest.settings import ChunkSettings
from ingest.types import Block, ParsedDocument
from retrieval.encoders.lexical import LexicalEncoder
from retrieval.types import Box

SIZES = ChunkSettings(max_tokens=100, min_tokens=20)


def tokens(text: str) -> int:
    """A tokenizer's shape: one token a wide character, one per four letters, one a mark, two around."""
    words = re.findall(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]", text)
    return 2 + sum(-(-len(word) // 4) for word in words)


def document(*blocks: Block, title: str = "", paged: bool = False) -> ParsedDocument:
    return ParsedDocument(format="pdf" if paged else "markdown", blocks=blocks, title=title)


def heading(text: str, level: int = 1, page: int | None = None) -> Block:
    return Block(kind="heading", text=text, level=level, page_number=page)


def paragraph(text: str, page: int | None = None, page_end: int | None = None, boxes: tuple[Box, ...] = ()) -> Block:
    return Block(kind="paragraph", text=text, page_number=page, page_end=page_end, boxes=boxes)


def turn(speaker: str | None, text: str, at: float | None = None) -> Block:
    return Block(kind="turn", text=text, speaker=speaker, start_s=at, end_s=None if at is None else at + 3)


def table(rows: int, width: int = 3, header_rows: int = 1, cell: str = "值") -> Block:
    body = [tuple(f"{cell}{r}-{c}" for c in range(width)) for r in range(rows)]
    head = [tuple(f"列{c}" for c in range(width)) for _ in range(header_rows)]
    lines = tuple(head + body)
    return Block(kind="table", text="\n".join(" | ".join(row) for row in lines), rows=lines, header_rows=header_rows)


def chunks(parsed: ParsedDocument, sizes: ChunkSettings = SIZES) -> tuple[DraftChunk, ...]:
    return chunk_document(parsed, tokens, sizes, 512)


def sentence(length: int, tail: str = "。") -> str:
    return "本公司员工应当遵守制度" * (length // 11) + tail


@pytest.mark.parametrize("run", ["qwertyuiop" * 30_000, "=" * 300_000, "9" * 300_000])
def test_chunker_cuts_a_run_without_spaces(run: str) -> None:
    found = chunk_document(document(paragraph(run)), LexicalEncoder().count_tokens, ChunkSettings(), 512)
    assert "".join(draft.text for draft in found) == run
    assert max(len(draft.text) for draft in found) < 12_000


def test_chunker_makes_a_section_a_chunk_with_its_heading_path() -> None:
    parsed = document(
        heading("制度"), heading("差旅", 2), paragraph(sentence(44)), heading("住宿", 2), paragraph(sentence(55))
    )
    first, second = chunks(parsed)
    assert first.heading_path == ("制度", "差旅")
    assert first.text.startswith("制度\n\n差旅\n\n本公司")
    assert second.heading_path == ("制度", "住宿")
    assert second.text.startswith("住宿\n\n本公司")


def test_chunker_divides_a_long_section_at_paragraphs_then_sentences() -> None:
    parsed = document(heading("制度"), paragraph(sentence(66)), paragraph(sentence(44) * 4), paragraph(sentence(33)))
    drafts = chunks(parsed)
    assert len(drafts) > 2
    assert all(draft.text.endswith("。") for draft in drafts)
    assert {draft.heading_path for draft in drafts} == {("制度",)}


def test_chunker_keeps_a_paragraph_without_spaces_below_the_budget() -> None:
    text = "".join(chr(0x4E00 + (i * 37) % 4000) for i in range(20_000))
    drafts = chunks(document(paragraph(text)), ChunkSettings(max_tokens=400, min_tokens=48))
    assert max(tokens(draft.text) for draft in drafts) <= 400
    assert "".join(draft.text for draft in drafts) == text
    assert len(drafts) < 80


def test_chunker_calls_the_measure_linearly() -> None:
    calls: list[int] = []

    def measure(text: str) -> int:
        calls.append(len(text))
        return tokens(text)

    text = "\n".join(sentence(33) for _ in range(600))
    chunk_document(document(heading("长文"), paragraph(text)), measure, SIZES, 512)
    assert len(calls) < 600 * 3
    assert sum(calls) < 10 * len(text)


@pytest.mark.parametrize(
    "block",
    [
        paragraph("\n".join(f"{number}" for number in range(10_000, 13_000))),
        table(1, width=3000, header_rows=1),
    ],
    ids=["column of numbers", "wide table"],
)
def test_chunker_measures_few_runs_of_short_lines_and_cells(block: Block) -> None:
    measured: list[str] = []

    def counting(text: str) -> int:
        measured.append(text)
        return tokens(text) + text.count("\n")  # as symbols do, what stands between pieces costs as well

    drafts = chunk_document(document(block), counting, ChunkSettings(max_tokens=400, min_tokens=20), 512)
    runs = [text for text in measured if len(text) > 40]
    assert len(drafts) > 10
    assert len(runs) < 20 * len(drafts)


def test_reach_finds_the_last_number_that_holds_with_few_tests() -> None:
    for most in range(40):
        for last in range(most + 1):
            assert reach(lambda number, last=last: number <= last, most) == last
    tested: list[int] = []
    assert reach(lambda number: tested.append(number) or number <= 700, 10**6) == 700
    assert len(tested) < 25
    assert max(tested) < 2048


def test_chunker_takes_the_lower_of_both_limits() -> None:
    parsed = document(paragraph(sentence(33) * 10))
    drafts = chunk_document(parsed, tokens, ChunkSettings(max_tokens=400), 80)
    assert max(tokens(draft.text) for draft in drafts) <= 80


def test_chunker_counts_title_and_headings_against_the_budget() -> None:
    parsed = document(heading("一" * 40), heading("二" * 40, 2), paragraph(sentence(22) * 12), title="题" * 200)
    for draft in chunks(parsed, ChunkSettings(max_tokens=120, min_tokens=10)):
        assert tokens(index_source(parsed.title, draft.heading_path, draft.text)) <= 120


def test_chunker_merges_tiny_siblings_under_the_common_path() -> None:
    parsed = document(heading("问答"), heading("甲", 2), paragraph("是。"), heading("乙", 2), paragraph("否。"))
    (only,) = chunks(parsed)
    assert only.heading_path == ("问答",)
    assert only.text == "问答\n\n甲\n\n是。\n\n乙\n\n否。"


def test_chunker_never_merges_over_a_higher_heading() -> None:
    parsed = document(
        heading("第一章"),
        heading("小节", 2),
        paragraph("很短。"),
        heading("第二章"),
        heading("小节", 2),
        paragraph(sentence(44)),
    )
    assert [draft.heading_path for draft in chunks(parsed)] == [("第一章", "小节"), ("第二章", "小节")]


def test_chunker_keeps_a_table_whole_where_it_fits() -> None:
    (only,) = chunks(document(heading("价目"), table(4)))
    assert only.kind == "table"
    assert only.text.startswith("价目\n\n| 列0 | 列1 | 列2 |\n| --- | --- | --- |\n| 值0-0 |")


def test_chunker_repeats_the_header_over_an_84_row_table() -> None:
    parsed = document(paragraph(sentence(88)), heading("价目"), table(84), paragraph(sentence(44)))
    drafts = [draft for draft in chunks(parsed) if draft.kind == "table"]
    assert len(drafts) > 5
    assert drafts[0].text.startswith("价目\n\n| 列0")
    rows = [line for draft in drafts for line in draft.text.split("\n") if line.startswith("| 值")]
    assert rows == [f"| 值{r}-0 | 值{r}-1 | 值{r}-2 |" for r in range(84)]
    for draft in drafts:
        assert "| 列0 | 列1 | 列2 |\n| --- | --- | --- |\n| 值" in draft.text
        assert tokens(draft.text) <= 100


def test_chunker_divides_a_row_above_the_budget_at_cells_under_their_headers() -> None:
    block = Block(
        kind="table",
        text="x",
        rows=(("编号", "说明", "备注"), ("7", sentence(220), "无"), ("8", "短", "短")),
        header_rows=1,
    )
    drafts = chunks(document(block))
    assert max(tokens(draft.text) for draft in drafts) <= 100
    inside = [draft for draft in drafts if draft.text.startswith("| 编号 | 说明 |\n| --- | --- |\n| 7 | ")]
    assert len(inside) > 2
    assert any("| 8 | 短 | 短 |" in draft.text for draft in drafts)


def test_chunker_names_row_and_columns_in_every_part_of_a_wide_table() -> None:
    width = 60
    head = ("Company", *(f"Measure {column}" for column in range(width)))
    body = [(f"Company {row}", *(f"v{row}-{column}" for column in range(width))) for row in range(3)]
    drafts = chunks(document(Block(kind="table", text="x", rows=(head, *body), header_rows=1)))
    assert max(tokens(draft.text) for draft in drafts) <= 100
    for row in range(3):
        for column in range(width):
            (draft,) = [draft for draft in drafts if re.search(rf"\bv{row}-{column}\b", draft.text)]
            assert f"Company {row} " in draft.text
            assert re.search(rf"\bMeasure {column}\b", draft.text)


def test_chunker_makes_each_turn_a_chunk_with_speaker_and_time() -> None:
    parsed = document(turn("张敏", sentence(33), 1.0), turn("李强", sentence(44), 9.0))
    first, second = chunks(parsed)
    assert (first.kind, first.speaker, first.start_s, first.end_s) == ("turn", "张敏", 1.0, 4.0)
    assert first.text.startswith("张敏：本公司")
    assert (second.speaker, second.section_number) == ("李强", 2)


def test_chunker_joins_the_cues_of_one_turn_and_merges_a_one_word_turn() -> None:
    parsed = document(
        turn("张敏", sentence(33, "，"), 1.0), turn("张敏", sentence(22), 5.0), turn("李强", "同意。", 9.0)
    )
    (only,) = chunks(parsed)
    assert only.text.count("张敏：") == 1
    assert only.text.endswith("\n\n李强：同意。")
    assert (only.speaker, only.start_s, only.end_s) == ("张敏", 1.0, 12.0)


def test_chunker_names_the_speaker_in_every_part_of_a_long_turn() -> None:
    drafts = chunks(document(turn("Ann", "We agreed on the budget for the year. " * 40)))
    assert len(drafts) > 2
    assert all(draft.text.startswith("Ann: We") for draft in drafts)


def test_chunker_reports_pages_of_what_contributed() -> None:
    parsed = document(
        heading("甲", page=1),
        paragraph(sentence(44), page=1),
        heading("乙", page=2),
        paragraph(sentence(44), page=2, page_end=3),
        paragraph(sentence(88), page=3),
        paged=True,
    )
    assert [(draft.page_start, draft.page_end) for draft in chunks(parsed)] == [(1, 1), (2, 3), (3, 3)]
    assert all(draft.section_number is None for draft in chunks(parsed))


def test_chunker_divides_a_block_over_a_page_break_by_its_boxes() -> None:
    boxes = (Box(page_number=1, x0=0, y0=700, x1=100, y1=800), Box(page_number=2, x0=0, y0=0, x1=100, y1=300))
    parsed = document(paragraph(sentence(44) * 8, page=1, page_end=2, boxes=boxes), paged=True)
    drafts = chunks(parsed)
    assert drafts[0].page_start == 1
    assert (drafts[-1].page_start, drafts[-1].page_end) == (2, 2)
    assert drafts[-1].boxes == boxes[1:]


def test_chunker_does_not_merge_tiny_sections_of_different_pages() -> None:
    parsed = document(
        heading("甲", page=1), paragraph("短。", page=1), heading("乙", page=2), paragraph("短。", page=2), paged=True
    )
    assert [draft.page_start for draft in chunks(parsed)] == [1, 2]


def test_chunker_gives_sections_but_no_pages_where_the_format_has_none() -> None:
    parsed = document(heading("甲"), paragraph(sentence(44)), heading("乙"), paragraph(sentence(44)))
    assert [(d.page_start, d.page_end, d.section_number) for d in chunks(parsed)] == [(None, None, 1), (None, None, 2)]


def test_chunker_does_not_cut_through_an_account_number() -> None:
    text = "".join(f"卡号6222 0212 3456 78{i:02d}尾号" for i in range(60))
    for draft in chunks(document(paragraph(text))):
        assert re.sub(r"6222 0212 3456 78\d\d", "", draft.text).strip("卡号尾") == ""


def test_chunker_of_nothing_gives_nothing() -> None:
    assert chunks(document()) == ()
    assert chunks(document(paragraph(" \n"), Block(kind="table", text="", rows=(("", " "),)))) == ()


def test_chunk_ids_survive_an_insertion_and_differ_for_equal_texts() -> None:
    body = [heading("甲"), paragraph(sentence(88)), heading("乙"), paragraph(sentence(88)), paragraph(sentence(88))]
    before = chunk_ids("d1", chunks(document(*body)))
    after = chunk_ids("d1", chunks(document(paragraph(sentence(77)), *body)))
    assert after[-3:] == before
    assert len(set(before)) == 3
    assert not set(before) & set(chunk_ids("d2", chunks(document(*body))))


WORDS = st.text(alphabet="本公司。，；a1 .\n|“”", min_size=1, max_size=120)
BLOCKS = st.lists(
    st.one_of(
        st.builds(heading, st.text(alphabet="章节ab", min_size=1, max_size=12), st.integers(1, 4)),
        WORDS.map(paragraph),
        WORDS.map(lambda text: paragraph(text * 6)),
        st.builds(turn, st.sampled_from(["张敏", "Ann", None]), WORDS, st.none() | st.floats(0, 1000)),
        st.builds(table, st.integers(0, 25), st.integers(1, 5), st.integers(0, 2), st.sampled_from(["值", "长" * 40])),
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(BLOCKS, st.sampled_from(["", "年度报告"]))
def test_chunker_puts_every_character_into_exactly_one_chunk_within_budget(blocks: list[Block], title: str) -> None:
    parsed = document(*blocks, title=title)
    drafts = chunks(parsed)
    text = document_text(parsed)
    position = 0
    for ordinal, draft in enumerate(drafts):
        assert draft.ordinal == ordinal
        assert not text[position : draft.start_char].strip()
        assert draft.text[draft.repeated_chars :] == text[draft.start_char : draft.end_char]
        assert tokens(index_source(title, draft.heading_path, draft.text)) <= 100
        position = draft.end_char
    assert not text[position:].strip()
    assert drafts == chunks(parsed)


@pytest.mark.parametrize("text", ["x" * 5000, "，" * 5000, "1234 " * 1500, "a\n" * 2000])
def test_chunker_ends_on_texts_that_offer_no_good_place(text: str) -> None:
    drafts = chunks(document(paragraph(text)))
    assert max(tokens(draft.text) for draft in drafts) <= 100
    assert "".join("".join(draft.text.split()) for draft in drafts) == "".join(text.split())
