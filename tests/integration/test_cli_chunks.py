"""`attest chunks`: a person looks at what a file is cut into; nothing is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf

MARKDOWN = """# Travel <script>alert(1)</script> policy

The meal allowance is 120 dollars a day.

| Grade | Allowance |
| --- | --- |
| A | 120 |
| B | 90 |
"""


def test_chunks_are_shown_and_nothing_is_stored(attest: Any, tmp_path: Path) -> None:
    file = tmp_path / "policy.md"
    file.write_text(MARKDOWN, encoding="utf-8")
    shown = attest("chunks", file).stdout
    assert "format markdown" in shown
    assert "table" in shown
    assert "The meal allowance is 120 dollars a day." in shown
    data = attest.json("chunks", file)
    assert [block["kind"] for block in data["document"]["blocks"]] == ["heading", "paragraph", "table"]
    assert data["chunks"][0]["token_count"] > 0
    assert not (attest.home / "attest.sqlite3").exists()
    assert not (attest.home / "originals").exists()


def test_chunks_are_drawn_over_the_pages(attest: Any, tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    page.insert_text((72, 72), "The meal allowance is 120 dollars <b>a day</b>.", fontsize=12)
    file = tmp_path / "policy.pdf"
    document.save(str(file))
    target = tmp_path / "out.html"
    attest("chunks", file, "--html", target)
    html = target.read_text(encoding="utf-8")
    assert html.count("data:image/png;base64,") == 1
    assert "dollars &lt;b&gt;a day" in html
    assert "<b>" not in html
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    left = float(html.split('class="frame chunk" style="left:')[1].split("%")[0])
    assert abs(left - 100 * 72 / 400) < 0.5


def test_chunks_of_a_file_that_cannot_be_read_name_the_reason(attest: Any, tmp_path: Path) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text(" \n ", encoding="utf-8")
    assert "no_text" in attest("chunks", blank, code=2).stderr
    assert "no such file" in attest("chunks", tmp_path / "missing.txt", code=2).stderr


def test_dry_run_shows_every_file_and_stores_nothing(attest: Any, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "policy.md").write_text(MARKDOWN, encoding="utf-8")
    (folder / "blank.txt").write_text(" ", encoding="utf-8")
    shown = attest("ingest", "--dry-run", folder, code=1).stdout
    assert "The meal allowance is 120 dollars a day." in shown
    assert "no_text" in shown
    assert "1 of 2 files could be taken in" in shown
    data = attest.json("ingest", "--dry-run", folder / "policy.md")
    assert data[0]["report"]["tables"] == 1
    assert not (attest.home / "attest.sqlite3").exists()
