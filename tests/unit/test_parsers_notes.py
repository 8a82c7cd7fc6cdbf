"""Notebooks, reStructuredText and Org: structure comes back, nothing is included or run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import CorruptDocumentError, IngestError
from ingest.parsers.data.notebook import parse_notebook
from ingest.parsers.text.org import parse_org
from ingest.parsers.text.rst import parse_rst
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()

RST = """\
Guide
=====

Use ``attest`` and :ref:`the index <idx>`.

.. include:: /etc/passwd

.. raw:: html

   <script>alert(1)</script>

Parts
-----

1. one
2. two

   - inner

Term
   Its meaning

.. code:: bash

   curl -O x

.. list-table:: Prices
   :header-rows: 1

   * - Name
     - Price
   * - Tea
     - 3

+------+------+
| A    | B    |
+======+======+
| both        |
+------+------+

.. versionadded:: 2.0
   Now with :func:`retry`.

See [1]_ and an *open emphasis.

.. [1] A footnote.
"""
ORG = """\
#+TITLE: Handbook
#+INCLUDE: "/etc/passwd"

Opening *bold* and ~code~ words.

* TODO First :tag:
:PROPERTIES:
:ID: 7
:END:
- a
- b
# a comment

| Name | Price |
|------+-------|
| Tea  | 3     |

** Second
#+BEGIN_SRC bash
curl -O x
#+END_SRC
#+BEGIN_QUOTE
Said by [[https://example.com][someone]].
#+END_QUOTE
"""


def rst(folder: Path, content: str) -> ParsedDocument:
    path = folder / "a.rst"
    path.write_text(content, encoding="utf-8")
    return parse_rst(path, "a.rst", LIMITS)


def org(folder: Path, content: str) -> ParsedDocument:
    path = folder / "a.org"
    path.write_text(content, encoding="utf-8")
    return parse_org(path, "a.org", LIMITS)


def notebook(folder: Path, cells: list, **more: object) -> ParsedDocument:
    path = folder / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | more))
    return parse_notebook(path, "a.ipynb", LIMITS)


def test_rst_gives_its_structure(tmp_path: Path) -> None:
    blocks = rst(tmp_path, RST).blocks
    assert [(block.text, block.level) for block in blocks if block.kind == "heading"] == [("Guide", 1), ("Parts", 2)]
    texts = [block.text for block in blocks]
    assert "1. one\n2. two\n  - inner" in texts
    assert "Term: Its meaning" in texts
    assert [block.text for block in blocks if block.kind == "code"] == ["curl -O x"]
    assert [block.rows for block in blocks if block.kind == "table"] == [
        (("Name", "Price"), ("Tea", "3")),
        (("A", "B"), ("both", "")),
    ]
    assert "[1] A footnote." in texts


def test_rst_includes_nothing_runs_nothing_and_prints_no_messages(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    document = rst(tmp_path, RST)
    whole = "\n".join(block.text for block in document.blocks)
    for never in ("root:", "passwd", "script", "alert", "WARNING", "Unknown", ":maxdepth:"):
        assert never not in whole
    assert capfd.readouterr() == ("", "")


def test_rst_keeps_the_body_of_unknown_directives_and_roles(tmp_path: Path) -> None:
    document = rst(tmp_path, RST)
    whole = "\n".join(block.text for block in document.blocks)
    assert "Now with retry." in whole
    assert "the index <idx>" in whole
    assert "the directive 'versionadded' is not known; its text was kept" in document.notes


def test_org_gives_its_structure(tmp_path: Path) -> None:
    document = org(tmp_path, ORG)
    assert document.title == "Handbook"
    blocks = document.blocks
    assert [(block.text, block.level) for block in blocks if block.kind == "heading"] == [("First", 1), ("Second", 2)]
    assert [block.text for block in blocks if block.kind == "list"] == ["- a\n- b"]
    (table,) = [block for block in blocks if block.kind == "table"]
    assert (table.rows, table.header_rows) == ((("Name", "Price"), ("Tea", "3")), 1)
    assert [block.text for block in blocks if block.kind == "code"] == ["curl -O x"]
    texts = [block.text for block in blocks]
    assert "Opening bold and code words." in texts
    assert "Said by someone." in texts
    assert not any("passwd" in text or "comment" in text or "ID" in text for text in texts)


def test_notebook_reads_markdown_code_and_outputs(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Sales\n", "\n", "- one"]},
        {
            "cell_type": "code",
            "metadata": {},
            "source": "print(42)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["\x1b[31m42\x1b[0m\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}},
                {
                    "output_type": "execute_result",
                    "data": {"text/html": "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"},
                },
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["secret path"]},
                {"output_type": "stream", "name": "stdout", "text": "x" * 50_000},
            ],
        },
    ]
    document = notebook(tmp_path, cells)
    assert document.title == "Sales"
    assert [block.kind for block in document.blocks] == ["heading", "list", "code", "code", "table", "code", "code"]
    assert [block.text for block in document.blocks[2:4]] == ["print(42)", "42"]
    assert max(len(block.text) for block in document.blocks) == 4000
    assert not any("iVBOR" in block.text or "Figure" in block.text for block in document.blocks)
    assert document.notes == ("1 pictures and widgets were left out", "1 long outputs were cut")


def test_notebook_of_version_3_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.ipynb"
    cell = {"cell_type": "code", "input": ["print(1)"], "outputs": [], "language": "python", "collapsed": False}
    path.write_text(
        json.dumps({"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [cell]}]})
    )
    assert [block.text for block in parse_notebook(path, "old.ipynb", LIMITS).blocks] == ["print(1)"]


def test_notebook_that_is_none_is_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptDocumentError):
        notebook(tmp_path, [{"cell_type": "markdown", "source": "x"}, "no cell"])


@given(st.text(alphabet="*=-~`:|#+[]_.^ab \n<>\\", max_size=200))
def test_rst_and_org_never_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    for read in (rst, org):
        try:
            read(tmp_path_factory.getbasetemp(), text)
        except IngestError:
            continue


def test_rst_and_org_nested_without_end_are_refused_or_read(tmp_path: Path) -> None:
    for read, content in (
        (rst, "".join(f"{' ' * depth}- x\n\n" for depth in range(0, 1600, 2))),
        (org, "*" * 5000 + " deep\n"),
    ):
        try:
            assert read(tmp_path, content).blocks
        except CorruptDocumentError:
            continue


@pytest.mark.parametrize(
    "content",
    [
        "*a " * 40_000,
        "[[" * 80_000,
        "[[\n" * 40_000,
        "* " + "[[" * 40_000,
        "* x " + ":a" * 60_000,
        ("* x " + ":a" * 490 + "\n") * 200,
        ("* x" + " " * 990 + "y\n") * 200,
        "#+begin_src\n" * 40_000 + "x",
        ("|" + " " * 80_000 + "x\n") * 3,
    ],
    ids=["marks", "links", "links in lines", "links in a heading", "tags", "many tags", "spaces", "blocks", "rule"],
)
def test_org_of_what_never_ends_is_read_in_one_go(tmp_path: Path, content: str) -> None:
    """Each of these took the parser minutes."""
    text = "\n".join(block.text for block in org(tmp_path, content).blocks)
    kept = re.sub(r"#\+begin_src|[\s|*]", "", content)
    assert len(re.sub(r"[\s|*]", "", text)) >= len(kept)


def test_org_links_show_their_description_and_long_headings_are_paragraphs(tmp_path: Path) -> None:
    blocks = org(tmp_path, "* See [[https://a.b][the   site]] and [[this]] :tag:\nText\n* " + "long " * 300).blocks
    assert (blocks[0].kind, blocks[0].text) == ("heading", "See the site and this")
    assert [block.kind for block in blocks].count("heading") == 1
    assert " ".join(block.text for block in blocks[1:]).count("long") == 300


@pytest.mark.parametrize("mark", ["`a ", "*a ", "|a ", "a_ ", "``a ", "[1]_ ", "|a| ", "`a`_ ", "a__ "])
def test_rst_paragraph_of_endless_marks_is_kept_as_it_stands(tmp_path: Path, mark: str) -> None:
    (block,) = rst(tmp_path, mark * 6000).blocks
    assert block.text == (mark * 6000).strip()


def test_rst_of_endless_problems_is_read_without_further_markup(tmp_path: Path) -> None:
    texts = [block.text for block in rst(tmp_path, "A *word*.\n\n" + "`a\n\n" * 1500 + "A *word*.\n").blocks]
    assert (texts[0], texts[-1], texts.count("`a")) == ("A word.", "A *word*.", 1500)
