"""Feeds: RSS, Atom, RDF; entries with date and content; nothing fetched, nothing expanded."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.errors import IngestError, NoTextError
from ingest.parsers.web.feed import parse_feed
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()


def parsed(folder: Path, content: str | bytes) -> ParsedDocument:
    path = folder / "feed"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_feed(path, "f.xml", LIMITS)


def shape(document: ParsedDocument) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, block.text) for block in document.blocks]


def test_feed_rss_gives_channel_and_entries(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        '<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>'
        "<title>News &amp; views</title><description>All of it</description>"
        "<item><title>First</title><link>http://x.example/1</link><pubDate>Tue, 19 Nov 2024 13:30:02 +0000</pubDate>"
        "<category>AI</category><description>Two things can be […]</description><content:encoded><![CDATA["
        "<h2>Part</h2><p>Two things can be true.</p><script>alert(1)</script>]]></content:encoded></item>"
        "<item><title>Second</title><description>&lt;p&gt;Only a &lt;b&gt;summary&lt;/b&gt;.</description></item>"
        "</channel></rss>",
    )
    assert document.title == "News & views"
    assert document.page_count is None
    assert shape(document) == [
        ("heading", 1, "News & views"),
        ("paragraph", 0, "All of it"),
        ("heading", 2, "First"),
        ("paragraph", 0, "Date: Tue, 19 Nov 2024 13:30:02 +0000\nLink: http://x.example/1\nTags: AI"),
        ("heading", 4, "Part"),
        ("paragraph", 0, "Two things can be true."),
        ("heading", 2, "Second"),
        ("paragraph", 0, "Only a summary."),
    ]


def test_feed_atom_keeps_text_content_as_text(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>中文</title><entry><title>一</title>'
        "<updated>2024-10-01T00:00:00Z</updated><author><name>Ann</name></author>"
        '<content type="text">a &lt; b</content></entry></feed>',
    )
    assert shape(document)[1:] == [
        ("heading", 2, "一"),
        ("paragraph", 0, "Date: 2024-10-01T00:00:00Z\nAuthor: Ann"),
        ("paragraph", 0, "a < b"),
    ]


def test_feed_rdf_is_read(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        "<channel><title>Old</title></channel><item><title>One</title><description>Words</description></item></rdf:RDF>",
    )
    assert [block.text for block in document.blocks] == ["Old", "One", "Words"]


def test_feed_declared_in_gbk_is_read(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="gb2312"?><rss><channel><title>营业收入</title></channel></rss>'
    assert parsed(tmp_path, text.encode("gb18030")).title == "营业收入"


def test_feed_broken_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    document = parsed(tmp_path, "<rss><channel><title>A & B</title><item><title>One</title><p>")
    assert [block.text for block in document.blocks] == ["A & B", "One"]
    assert document.notes


def test_feed_entities_are_not_expanded_and_files_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden words", encoding="utf-8")
    bomb = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    document = parsed(
        tmp_path,
        f'<!DOCTYPE rss [{bomb}<!ENTITY x SYSTEM "file://{secret}">]>'
        "<rss><channel><title>T &j;&x;</title></channel></rss>",
    )
    assert sum(len(block.text) for block in document.blocks) < 1000
    assert "hidden" not in document.blocks[0].text


@pytest.mark.parametrize("content", ["<rss><channel></channel></rss>", "<feed/>", ""])
def test_feed_without_words_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(NoTextError):
        parsed(tmp_path, content)


TAGS = ("<rss>", "<channel>", "<item>", "<entry>", "<title>", "<description>", "<content type='xhtml'>", "</item>")
MORE = (
    "</title>",
    "<![CDATA[",
    "]]>",
    "&lt;p&gt;",
    "&",
    "words",
    "<link href='x'/>",
    "<pubDate>9999</pubDate>",
    "<!--",
)


@given(st.lists(st.sampled_from(TAGS + MORE), max_size=30).map("".join).map(str.encode) | st.binary(max_size=100))
@example(b"\xff\xfe<\x00r\x00s\x00s\x00>\x00")
@example(b'<?xml version="1.0" encoding="idna"?><rss>')
def test_feed_raises_only_our_errors(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    with contextlib.suppress(IngestError):
        parsed(tmp_path_factory.getbasetemp(), content)
