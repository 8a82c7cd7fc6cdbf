"""XML of any vocabulary: records, titles, mixed text, entities, hostile ones."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import CorruptDocumentError, IngestError, NoTextError
from ingest.parsers.data.xmlfile import parse_xml
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()


def parsed(folder: Path, content: str | bytes) -> ParsedDocument:
    path = folder / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_xml(path, "a.xml", LIMITS)


def test_xml_records_become_a_table(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        "<book><country><name>A &amp; B</name><city>C</city></country>"
        "<country><name>D</name><sea>E</sea></country></book>",
    )
    (block,) = document.blocks
    assert document.page_count is None
    assert block.header_rows == 1
    assert block.rows == (("name", "city", "sea"), ("A & B", "C", ""), ("D", "", "E"))


def test_xml_titles_are_headings_and_words_paragraphs(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        "<doc xmlns='urn:x'><sec no='1'><title>Part</title>"
        "<para>Some <b>bold</b> words.</para><year>2024</year></sec></doc>",
    )
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("heading", "Part"),
        ("paragraph", "Some bold words."),
        ("paragraph", "year: 2024"),
    ]
    assert document.title == "Part"
    assert document.notes == ("attributes were left out",)


def test_xml_declared_in_gbk_is_read(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="gb2312"?><a><b>营业收入。</b></a>'
    assert parsed(tmp_path, text.encode("gb18030")).blocks[0].text == "b: 营业收入。"


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>',
        "<a><b></a>",
        "<a>&nbsp;</a>",
    ],
)
def test_xml_with_entities_of_its_own_or_broken_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(CorruptDocumentError):
        parsed(tmp_path, content)


def test_xml_with_a_named_document_type_is_read(tmp_path: Path) -> None:
    content = '<?xml version="1.0"?><!DOCTYPE a PUBLIC "-//X//DTD" "http://x.example/a.dtd"><a>words</a>'
    assert parsed(tmp_path, content).blocks[0].text == "a: words"


def test_xml_bears_deep_nesting(tmp_path: Path) -> None:
    assert parsed(tmp_path, "<a>" * 20_000 + "deep" + "</a>" * 20_000).blocks[0].text == "a: deep"


def test_xml_without_words_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoTextError):
        parsed(tmp_path, "<a b='c'><d/></a>")


PIECES = (
    "<a>",
    "</a>",
    "<b>",
    "</b>",
    "<title>",
    "</title>",
    "words",
    "&amp;",
    "<!DOCTYPE a>",
    "<![CDATA[",
    "]]>",
    "<?x?>",
)


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join).map(str.encode) | st.binary(max_size=60))
def test_xml_raises_only_our_errors(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    with contextlib.suppress(IngestError):
        parsed(tmp_path_factory.getbasetemp(), content)
