"""Markdown: structure, tables with their header, front matter, embedded HTML."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import IngestError, NoTextError
from ingest.parsers.text.markdown import markdown_blocks, parse_markdown
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()


def parsed(folder: Path, text: str):
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return parse_markdown(path, "a.md", LIMITS)


def test_markdown_gives_headings_paragraphs_lists_and_code() -> None:
    text = "# One\n\nA line\nwrapped.\n\n## Two\n\n- a\n- b\n  1. c\n\n```python\nx = 1\n```\n\nSet\n---\n"
    assert [(block.kind, block.level, block.text) for block in markdown_blocks(text)] == [
        ("heading", 1, "One"),
        ("paragraph", 0, "A line wrapped."),
        ("heading", 2, "Two"),
        ("list", 0, "- a\n- b\n  1. c"),
        ("code", 0, "x = 1"),
        ("heading", 2, "Set"),
    ]


def test_markdown_wrapped_chinese_gets_no_space() -> None:
    (block,) = markdown_blocks("营业收入为\n2.38 亿元，**同比**下滑\n")
    assert block.text == "营业收入为2.38 亿元，同比下滑"


def test_markdown_table_keeps_every_row_and_its_header() -> None:
    rows = "".join(f"| row {n} | {n} |\n" for n in range(84))
    (block,) = markdown_blocks(f"| Name | Value |\n|---|---:|\n{rows}")
    assert block.kind == "table"
    assert block.header_rows == 1
    assert block.rows[0] == ("Name", "Value")
    assert len(block.rows) == 85
    assert block.rows[84] == ("row 83", "83")


def test_markdown_front_matter_gives_the_title(tmp_path: Path) -> None:
    document = parsed(tmp_path, '---\ntitle: "Travel policy"\ndate: 2024-01-01\n---\n\nText.\n')
    assert document.title == "Travel policy"
    assert [block.text for block in document.blocks] == ["Text."]
    assert document.notes


def test_markdown_without_front_matter_takes_the_first_heading(tmp_path: Path) -> None:
    assert parsed(tmp_path, "Intro\n\n# Name\n").title == "Name"


def test_markdown_reads_html_tables_and_drops_scripts() -> None:
    table = "<table><tr><th>A</th><th>B</th></tr><tr><td colspan=2>both</td></tr></table>"
    text = f"Before\n\n{table}\n\n<script>alert(1)</script>\n"
    blocks = markdown_blocks(text)
    assert [block.kind for block in blocks] == ["paragraph", "table"]
    assert blocks[1].rows == (("A", "B"), ("both", ""))


def test_markdown_keeps_link_texts_image_descriptions_and_line_breaks() -> None:
    (block,) = markdown_blocks("See [the policy](http://x.example) ![chart of revenue](c.png)<br>next `code`")
    assert block.text == "See the policy chart of revenue\nnext code"


@pytest.mark.parametrize("text", ["", "\n\n", "<!-- nothing -->\n", "---\n", "[a]: http://x.example\n"])
def test_markdown_without_words_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(NoTextError):
        parsed(tmp_path, text)


def test_markdown_bears_deep_nesting(tmp_path: Path) -> None:
    assert "deep" in parsed(tmp_path, ">" * 60 + " deep\n").blocks[0].text


def words_of(document: ParsedDocument) -> list[str]:
    return " ".join(block.text for block in document.blocks).split()


@pytest.mark.parametrize("depth", [49, 50, 51, 100, 700])
@pytest.mark.parametrize("mark", ["- ", "1. ", "> "])
def test_markdown_nested_without_end_loses_nothing(tmp_path: Path, depth: int, mark: str) -> None:
    indent = ">" if mark == "> " else " " * len(mark)
    lines = [f"{indent * level}{mark}w{level}" for level in range(depth)]
    after = "\n\nAfter all.\n\n# Head\n"
    document = parsed(tmp_path, "\n".join(lines) + after)
    found = words_of(document)
    assert [word for word in found if word.startswith("w")] == [f"w{level}" for level in range(depth)]
    assert document.blocks[-1].text == "Head"
    assert "After" in found
    assert bool(document.notes) == (depth > (96 if mark == "> " else 48)), document.notes


def test_markdown_nested_without_end_in_one_line_loses_nothing(tmp_path: Path) -> None:
    document = parsed(tmp_path, ">" * 5000 + " deep\nlazy\n\n" + "- " * 5000 + "item\n\nAfter.\n")
    assert [word for word in words_of(document) if word.isalpha()] == ["deep", "lazy", "item"]
    assert document.blocks[-1].text == "After."
    assert "2 passages" in document.notes[0]


def test_markdown_html_table_cut_by_blank_lines_is_one_table() -> None:
    text = "<table>\n\n<tr><th>A</th><th>B</th></tr>\n\n<tr><td>1</td>\n\n<td>2</td></tr>\n\n</table>\n\nAfter.\n"
    blocks = markdown_blocks(text)
    assert [block.kind for block in blocks] == ["table", "paragraph"]
    assert blocks[0].rows == (("A", "B"), ("1", "2"))


def test_markdown_html_table_never_closed_loses_nothing() -> None:
    blocks = markdown_blocks("<table>\n<tr><td>one<td>two\n\nAfter *all*.\n")
    assert [block.text for block in blocks] == ["one | two", "After all."]


@pytest.mark.parametrize("unit", ["[", "![", "[a](", "[" * 40 + "]" * 40, "*a ", "<a "])
def test_markdown_of_endless_marks_is_read(tmp_path: Path, unit: str) -> None:
    document = parsed(tmp_path, f"# Head\n\n{unit * (60_000 // len(unit))}\n\nAfter.\n")
    assert document.blocks[0].text == "Head"
    assert document.blocks[-1].text == "After."


def test_markdown_endless_brackets_stay_as_text_and_are_noted(tmp_path: Path) -> None:
    document = parsed(tmp_path, "[" * 1000 + " words\n")
    assert document.blocks[0].text.endswith("[ words")
    assert "plain text" in document.notes[0]


PIECES = st.lists(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20),
        st.sampled_from([
            "# ",
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "> ",
            "```",
            "| a | b |\n|---|---|\n",
            "---",
            "<table><td>",
            "</div>",
            "<br>",
            "![",
            "](",
            "**",
            "    ",
            "<!--",
        ]),
    ),
    max_size=25,
)


@given(PIECES)
def test_markdown_never_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "markdown-any"
    path.write_text("".join(pieces), encoding="utf-8", newline="")
    try:
        document = parse_markdown(path, "x", LIMITS)
    except IngestError:
        return
    assert all(block.text.strip() for block in document.blocks)


@given(st.lists(st.text(alphabet="abc甲乙 ", min_size=1, max_size=10).filter(str.strip), min_size=1, max_size=8))
def test_markdown_loses_no_words(words: list[str]) -> None:
    marks = ["# ", "- ", "", "> ", "1. ", "**x** "]
    text = "\n\n".join(marks[index % len(marks)] + word.strip() for index, word in enumerate(words))
    kept = "".join("".join(block.text.split()) for block in markdown_blocks(text))
    assert all("".join(word.split()) in kept for word in words)
