"""JSON reads as text and loses nothing; hostile JSON is refused or bounded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import CorruptDocumentError
from ingest.parsers.data.json_values import leaves, load_json
from ingest.parsers.data.jsonfile import json_blocks, parse_json
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()


def parsed(folder: Path, content: str) -> ParsedDocument:
    path = folder / "a.json"
    path.write_text(content, encoding="utf-8")
    return parse_json(path, "a.json", LIMITS)


def test_json_object_becomes_lines_and_headings(tmp_path: Path) -> None:
    many = {f"k{number}": number for number in range(12)}
    document = parsed(
        tmp_path, json.dumps({"title": "Policy", "size": {"w": 1, "h": 2}, "limits": many, "tags": ["a", "b"]})
    )
    assert document.title == "Policy"
    assert [(block.kind, block.level) for block in document.blocks[:3]] == [
        ("paragraph", 0),
        ("heading", 1),
        ("paragraph", 0),
    ]
    assert document.blocks[0].text == "title: Policy\nsize.w: 1\nsize.h: 2"
    assert document.blocks[1].text == "limits"
    assert document.blocks[-1].text == "tags: a, b"


def test_json_flat_records_become_a_table(tmp_path: Path) -> None:
    (table,) = parsed(tmp_path, '[{"id": 1, "name": "Anna"}, {"id": 2, "name": "Ben", "age": 7}]').blocks
    assert (table.kind, table.header_rows) == ("table", 1)
    assert table.rows == (("id", "name", "age"), ("1", "Anna", ""), ("2", "Ben", "7"))


def test_json_nested_records_stay_apart_and_long_texts_are_paragraphs(tmp_path: Path) -> None:
    long = "A sentence that goes on. " * 20
    document = parsed(tmp_path, json.dumps([{"type": "Title", "meta": {"page": 1}}, {"type": "Text", "text": long}]))
    assert [block.text for block in document.blocks] == [
        "type: Title\nmeta.page: 1",
        "type: Text",
        f"text: {long}".strip(),
    ]


def test_json_keeps_numbers_as_written_and_keys_that_repeat(tmp_path: Path) -> None:
    (block,) = parsed(tmp_path, '{"n": 123456789012345678901234567890, "x": 1.10, "n": NaN, "e": 1e400}').blocks
    assert block.text == "n: 123456789012345678901234567890\nx: 1.10\nn: NaN\ne: 1e400"


def test_json_lines_are_records(tmp_path: Path) -> None:
    (table,) = parsed(tmp_path, '{"q": "a", "n": 1}\n\n{"q": "b", "n": 2}\n').blocks
    assert table.rows == (("q", "n"), ("a", "1"), ("b", "2"))


def test_json_lines_of_any_number_are_whole(tmp_path: Path) -> None:
    blocks = parsed(tmp_path, "".join(f'{{"n": {number}, "q": "x"}}\n' for number in range(2001))).blocks
    assert [len(block.rows) for block in blocks] == [1001, 1001, 2]
    assert [row[0] for block in blocks for row in block.rows[1:]] == [str(number) for number in range(2001)]


def test_json_lines_with_a_damaged_line_keep_its_text(tmp_path: Path) -> None:
    document = parsed(tmp_path, '{"q": {"x": "a"}}\n{"q": "cut\n{"q": "b"}\n{"q": "c"}\n')
    assert any('"cut' in block.text for block in document.blocks)
    assert document.notes == ("1 of 4 lines are no JSON; their text was read as it stands",)


def test_json_that_is_damaged_is_read_as_text(tmp_path: Path) -> None:
    document = parsed(tmp_path, '{"name": "Garden Trowel",\n "price": 12.5,\n "in_stock"')
    assert "Garden Trowel" in "".join(block.text for block in document.blocks)
    assert document.notes


@pytest.mark.parametrize("content", ["[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000])
def test_json_nested_without_end_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(CorruptDocumentError, match="nested"):
        parsed(tmp_path, content)


def test_json_nested_deeply_is_read(tmp_path: Path) -> None:
    document = parsed(tmp_path, '{"a":' * 400 + '"found"' + "}" * 400)
    assert "found" in document.blocks[-1].text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="abc 中文é-", min_size=1, max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(alphabet="xyz键", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=25,
)


@given(VALUES)
def test_json_every_value_stands_in_the_blocks(value: object) -> None:
    loaded = load_json(json.dumps(value))
    said = "".join("".join(block.text.split()) for block in json_blocks(loaded))
    for _, text in leaves(loaded):
        assert (
            text == "{}"
            or "".join(text.split()) in said
            or all("".join(part.split()) in said for part in text.split(", "))
        )
