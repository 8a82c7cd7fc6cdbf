"""Names and titles that a hostile file gives."""

from __future__ import annotations

import pytest

from ingest import naming
from ingest.naming import MAX_NAME, MAX_TITLE, source_name, title_of


def test_title_of_is_one_line_of_bounded_length() -> None:
    assert title_of(" Annual\n\treport \u202e2024 ") == "Annual report _2024"
    assert title_of("\n" * 20_000) == ""
    assert title_of("\n" * 20_000 + "Report") == "Report"
    assert title_of("年" * 400) == "年" * (MAX_TITLE - 1) + "…"


def test_names_and_titles_of_millions_of_characters_are_not_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(naming, "_shown", lambda char: looked_at.append(char) or char)
    assert title_of("word " * 1_000_000).endswith("…")
    assert len(source_name("x" * 5_000_000, "?")) == MAX_NAME
    assert len(looked_at) <= 20_000


def test_source_name_of_two_long_names_stays_two() -> None:
    one, other = (source_name("x" * 20_000 + end, "?") for end in "ab")
    assert one != other
    assert len(one) == len(other) == MAX_NAME
    assert source_name(" " * 9_000 + "Cafe\u0301.pdf", "?") == "Café.pdf"
    assert source_name("\x00\x00", "?") == "?"
