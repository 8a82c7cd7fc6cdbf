"""HTML: main content, structure, spans, declared and undeclared encodings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import CorruptDocumentError, IngestError, NoTextError
from ingest.parsers.web.html import html_blocks, parse_html
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()


def parsed(folder: Path, content: str | bytes) -> ParsedDocument:
    path = folder / "page"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_html(path, "page.html", LIMITS)


def test_html_gives_structure_and_leaves_navigation_and_scripts_out(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        "<html><head><title>The  page</title><style>p{}</style></head><body><nav>Home</nav><h1>Top</h1>"
        "<p>One <b>bold</b>\n word.<br>Next line<p>Two<script>evil()</script><ul><li>a<li>b<ol><li>c</ol></ul>"
        "<pre>x\n  y</pre><p hidden>unseen</p><p style='display: none'>unseen</p>"
        "<figure><figcaption>Fig</figcaption></figure>",
    )
    assert document.title == "The page"
    assert document.page_count is None
    assert [(block.kind, block.level, block.text) for block in document.blocks] == [
        ("heading", 1, "Top"),
        ("paragraph", 0, "One bold word.\nNext line"),
        ("paragraph", 0, "Two"),
        ("list", 0, "- a\n- b\n  1. c"),
        ("code", 0, "x\n  y"),
        ("caption", 0, "Fig"),
    ]


def test_html_table_expands_spans_in_both_directions() -> None:
    (block,) = html_blocks(
        "<table><thead><tr><th rowspan=2>Region<th colspan=2>2024</tr><tr><th>Q3<th>Q4</tr></thead>"
        "<tr><td rowspan=2>Asia<td>1<td>2</tr><tr><td>3<td>4</tr><tr><td colspan=3>a note</tr></table>"
    )
    assert block.header_rows == 2
    assert block.rows == (
        ("Region", "2024", "2024"),
        ("Region", "Q3", "Q4"),
        ("Asia", "1", "2"),
        ("Asia", "3", "4"),
        ("a note", "", ""),
    )


def test_html_layout_table_is_read_as_text() -> None:
    blocks = html_blocks("<table><tr><td><h2>Head</h2><p>Text</td><td>Side</td></tr></table>")
    assert [(block.kind, block.text) for block in blocks] == [
        ("heading", "Head"),
        ("paragraph", "Text"),
        ("paragraph", "Side"),
    ]


def test_html_definition_lists_keep_term_and_definition_together() -> None:
    (block,) = html_blocks("<dl><dt>Coffee<dd>Black<dd>Hot<dt>Milk<dd>White</dl>")
    assert (block.kind, block.text) == ("list", "- Coffee\n  Black\n  Hot\n- Milk\n  White")


def test_html_raised_figures_keep_their_distance() -> None:
    (block,) = html_blocks(
        "<p>10<sup>6</sup> m<sup>2</sup>, CO<sub>2</sub>, sales<sup><a href='#n'>3</a></sup>, "
        "1<sup>st</sup>, 2<sup>[4]</sup>"
    )
    assert block.text == "10^6 m^2, CO2, sales 3, 1st, 2[4]"


def test_html_table_of_data_may_hold_headings_code_and_tables() -> None:
    (block,) = html_blocks(
        "<table><tr><th>Name<th>Of</tr><tr><td><h3>Swim</h3><td><table><tr><td>fast<td>slow</table></tr></table>"
    )
    assert block.rows == (("Name", "Of"), ("Swim", "fast slow"))


def test_html_table_of_one_filled_column_is_text() -> None:
    blocks = html_blocks("<table><tr><td><p>One<p>Two</td><td> </td></tr></table>")
    assert [(block.kind, block.text) for block in blocks] == [("paragraph", "One"), ("paragraph", "Two")]


def test_html_long_columns_of_paragraphs_are_text() -> None:
    column = f"<p>{'word ' * 150}<p>{'more ' * 150}"
    blocks = html_blocks(f"<table><tr><td>Side<td>{column}</table>")
    assert [block.kind for block in blocks] == ["paragraph"] * 3


def test_html_nested_layout_tables_are_read_in_linear_time() -> None:
    (block,) = html_blocks("<table><tr><td>" * 1500 + "deep")
    assert block.text == "deep"


def test_html_leaves_data_addresses_templates_and_controls_out() -> None:
    blocks = html_blocks(
        '<p>A<img src="data:image/png;base64,AAAA" alt="data:image/png;base64,AAAA"></p><template>t</template>'
        "<form><label>Name</label><input value=v><select><option>o</select><textarea>x</textarea>"
        "<button>b</button></form>"
        "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>"
    )
    assert [block.text for block in blocks] == ["A", "Name", "漢"]


def test_html_written_as_xhtml_may_close_any_element_at_once(tmp_path: Path) -> None:
    document = parsed(
        tmp_path, '<?xml version="1.0"?><html><head><title/></head><body><a id="x"/><p>Words</p></body></html>'
    )
    assert [block.text for block in document.blocks] == ["Words"]


def test_html_of_frames_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoTextError, match="frames"):
        parsed(tmp_path, "<frameset><frame src=a.html><noframes>Get a browser</noframes></frameset>")


def test_html_drops_furniture_of_links_but_never_words(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        "<header><a href=/>Home</a> <a href=/x>Products</a></header><header><h1>Annual report</h1></header>"
        f"<p>{'word ' * 20}</p><aside>Note: figures are audited.</aside>"
        "<article><p>An article.</p><footer><a href=/s>Source of it</a></footer></article>"
        "<footer><a href=/c>Contact</a> | <a href=/p>Privacy</a></footer>",
    )
    texts = [block.text for block in document.blocks]
    assert texts == [
        "Annual report",
        ("word " * 20).strip(),
        "Note: figures are audited.",
        "An article.",
        "Source of it",
    ]
    assert document.notes == ("2 headers, footers or side columns of links were left out",)


def test_html_without_main_reads_the_only_article_that_holds_most(tmp_path: Path) -> None:
    document = parsed(tmp_path, f"<div>Other stories</div><article><p>{'word ' * 30}</p></article>")
    assert len(document.blocks) == 1
    assert document.notes == ("only the article element was read",)


@pytest.mark.parametrize("declared", ["idna", "undefined", "unicode_escape", "base64", "utf-16", "\udcff"])
def test_html_declared_in_what_is_no_encoding_is_read(tmp_path: Path, declared: str) -> None:
    content = f"<meta charset={declared}><p>plain words</p>".encode("utf-8", "surrogatepass")
    assert parsed(tmp_path, content).blocks[0].text == "plain words"


def test_html_prefers_main_where_it_holds_most_text(tmp_path: Path) -> None:
    document = parsed(tmp_path, f"<body><div>Menu</div><main><p>{'word ' * 20}</p></main></body>")
    assert [block.text for block in document.blocks] == [("word " * 20).strip()]
    assert document.notes


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("<meta charset=gb2312><p>营业收入</p>".encode("gbk"), "gb18030"),
        ("<meta http-equiv=Content-Type content='text/html; charset=big5'><p>營業收入</p>".encode("big5"), "big5hkscs"),
        ("<p>本公司的营业收入是两亿元</p>".encode("gbk"), "gb18030"),
        ("<meta charset=utf-8><p>营业收入的增长是主要的</p>".encode("gbk"), "gb18030"),
        ("\ufeff<p>营业收入</p>".encode("utf-16"), "utf-16-le"),
        (b"<meta charset=unheard-of><p>plain</p>", "utf-8"),
    ],
)
def test_html_decodes_what_is_declared_and_what_is_not(tmp_path: Path, content: bytes, encoding: str) -> None:
    document = parsed(tmp_path, content)
    assert document.encoding == encoding
    assert "\ufffd" not in document.blocks[0].text


@pytest.mark.parametrize("content", ["<html></html>", "<script>x</script>", "<nav>only navigation</nav>", "<p> </p>"])
def test_html_without_words_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(NoTextError):
        parsed(tmp_path, content)


def test_html_refuses_endless_nesting(tmp_path: Path) -> None:
    with pytest.raises(CorruptDocumentError, match="div"):
        parsed(tmp_path, "<div>" * 50_000 + "x")


def test_html_bears_nesting_deeper_than_python_recursion(tmp_path: Path) -> None:
    assert parsed(tmp_path, "<div>" * 3000 + "deep").blocks[0].text == "deep"


PIECES = st.lists(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
        st.sampled_from([
            "<p>",
            "</p>",
            "<table>",
            "<tr>",
            "<td colspan=3>",
            "<th rowspan=0>",
            "</table>",
            "<ul>",
            "<li>",
            "</ul>",
            "<h2>",
            "</h2>",
            "<br>",
            "<pre>",
            "<svg>",
            "<template>",
            "<!--",
            "-->",
            "<td rowspan=99999999>",
            "<caption>",
        ]),
    ),
    max_size=25,
)


@given(PIECES)
def test_html_never_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "html-any"
    path.write_text("".join(pieces), encoding="utf-8", newline="")
    try:
        document = parse_html(path, "x", LIMITS)
    except IngestError:
        return
    assert all(block.text.strip() for block in document.blocks)
