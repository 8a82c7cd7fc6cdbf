"""Plain text: paragraphs, headings by number, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import NoTextError
from ingest.parsers.text.joining import join_lines
from ingest.parsers.text.lines import blocks_of_text
from ingest.parsers.text.numbering import is_numbered_heading
from ingest.parsers.text.text import parse_text
from ingest.settings import ParserSettings

LIMITS = ParserSettings()


def test_text_paragraphs_are_split_at_blank_lines_and_wrapped_lines_joined() -> None:
    text = (
        "The reimbursement policy applies to all employees of the company and to\n"
        "its contractors, whatever the country in which they have their place of\n"
        "work.\n\nA second paragraph.\n"
    )
    assert [block.text for block in blocks_of_text(text)] == [
        "The reimbursement policy applies to all employees of the company and to its contractors, "
        "whatever the country in which they have their place of work.",
        "A second paragraph.",
    ]


def test_text_chinese_lines_are_joined_without_space() -> None:
    lines = [
        "本制度适用于公司全体员工以及与公司签订劳务合同的人员，无论其工作",
        "地点位于何处，均应当遵守本制度的各项规定。",
    ]
    (block,) = blocks_of_text("\n".join(lines))
    assert block.text == "".join(lines)


def test_text_one_paragraph_per_line_stays_apart() -> None:
    assert len(blocks_of_text("第一段说的是收入的情况。\n第二段说的是成本的情况。\n第三段说的是利润。\n")) == 3


def test_text_headings_follow_chinese_and_latin_numbers() -> None:
    text = (
        "第一章 总则\n\n为规范管理，制定本制度。\n\n一、适用范围\n\n全体员工。\n\n"
        "（二）报销标准\n\n按级别执行。\n\n第二章 附则\n\n自发布之日起施行。\n"
    )
    headings = [(block.text, block.level) for block in blocks_of_text(text) if block.kind == "heading"]
    assert headings == [("第一章 总则", 1), ("一、适用范围", 2), ("（二）报销标准", 3), ("第二章 附则", 1)]


def test_text_decimal_numbers_nest() -> None:
    text = "1.1 Scope\n\nAll.\n\n1.1.1 Staff\n\nYes.\n\n1.2 Terms\n\nNone.\n"
    headings = [(block.text, block.level) for block in blocks_of_text(text) if block.kind == "heading"]
    assert headings == [("1.1 Scope", 1), ("1.1.1 Staff", 2), ("1.2 Terms", 1)]


def test_text_lists_are_one_block() -> None:
    (block,) = blocks_of_text("- one\n- two\n- three\n")
    assert block.kind == "list"
    assert block.text == "- one\n- two\n- three"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("第三章 风险管理", True),
        ("第十二节 附则", True),
        ("Chapter 4 Risk", True),
        ("Part II", True),
        ("一、总体情况", True),
        ("（二）经营成果", True),
        ("1.2 Revenue by region", True),
        ("3.1.4 结论", True),
        ("附录A 术语", True),
        ("第三条 员工应当遵守本制度，不得违反。", False),
        ("2.38 亿元", False),
        ("5.2 million was paid", False),
        ("1.5%的费率", False),
        ("1. Buy milk", False),
        ("2024.10.15", False),
        ("一、本季度收入为2.38亿元；", False),
        ("三十岁的人", False),
        ("第三季度收入", False),
        ("1.2 This is a sentence. It goes on", False),
    ],
)
def test_numbered_headings_are_told_from_sentences_and_figures(line: str, expected: bool) -> None:
    assert is_numbered_heading(line) is expected


@pytest.mark.parametrize(
    ("lines", "words", "expected"),
    [
        (["infor-", "mation"], set(), "information"),
        (["long-", "term debt"], {"long-term"}, "long-term debt"),
        (["self-", "publishing"], set(), "self-publishing"),
        (["Anglo-", "Saxon"], set(), "Anglo-Saxon"),
        (["cover\u00ad", "age"], set(), "coverage"),
        (["in 2023-", "2024"], set(), "in 2023- 2024"),
        (["使用", "Python"], set(), "使用Python"),
        (["收入为", "2.38亿元"], set(), "收入为2.38亿元"),
        (["한국어", "문장"], set(), "한국어 문장"),
        (["a", "", "b"], set(), "a b"),
        ([], set(), ""),
    ],
)
def test_join_lines_mends_words(lines: list[str], words: set[str], expected: str) -> None:
    assert join_lines(lines, words) == expected


def test_text_reports_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("本公司的收入是两亿元，这是年度报告的内容。".encode("gbk"))
    parsed = parse_text(path, "a.txt", LIMITS)
    assert (parsed.encoding, parsed.page_count, parsed.blocks[0].page_number) == ("gb18030", None, None)


@pytest.mark.parametrize("content", [b"", b" \n\t\n", b"\xef\xbb\xbf\n"])
def test_text_without_words_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(NoTextError, match=r"a\.txt"):
        parse_text(path, "a.txt", LIMITS)


LINES = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u00ad-\u2010"), max_size=60),
    st.sampled_from([
        "第一章 总则",
        "1.2 Scope",
        "一、概述",
        "（二）标准",
        "- item",
        "1. item",
        "",
        "",
        "a b. c",
        "文字。",
    ]),
)


@given(st.lists(LINES, max_size=25))
def test_text_loses_nothing_but_white_space(lines: list[str]) -> None:
    text = "\n".join(lines)
    kept = "".join("".join(block.text.split()) for block in blocks_of_text(text))
    assert kept == "".join(text.split())


@given(st.text(max_size=400))
def test_text_blocks_are_never_empty(text: str) -> None:
    assert all(block.text.strip() for block in blocks_of_text(text))
