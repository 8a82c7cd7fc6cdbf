"""Names and titles that a hostile file gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert source_name("\x00\x00", "?") == "?"
    assert source_name(" \n ", "?") == "?"


def test_source_name_of_names_that_differ_in_what_cannot_be_shown_stays_two() -> None:
    originals = ["a_b.txt", "a\nb.txt", "a\rb.txt", "a\u202eb.txt", "a\udcffb.txt", "a_b.txt ", " a_b.txt", "a_b\n.txt"]
    names = [source_name(each, "?") for each in originals]
    assert len(set(names)) == len(originals)
    assert names[0] == "a_b.txt"
    assert all(name.endswith(".txt") for name in names[:5])
    assert names == [source_name(each, "?") for each in originals]


def test_source_name_of_composed_and_decomposed_accents_is_one() -> None:
    assert source_name("Cafe\u0301.pdf", "?") == "Café.pdf"
    assert source_name("Cafe\u0301\n.pdf", "?") == source_name("Café\n.pdf", "?")


@given(st.text(max_size=600) | st.text(alphabet="a./ \n\u0301é~", min_size=240, max_size=260))
def test_source_name_of_a_source_name_is_itself(text: str) -> None:
    name = source_name(text, "?")
    assert len(name) <= MAX_NAME
    assert source_name(name, "!") == name
