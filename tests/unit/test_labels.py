from __future__ import annotations

import pytest

from retrieval.labels import LabelBook, find_tags, format_tag, is_label
from retrieval.types import Chunk


def chunk(chunk_id: str, document_id: str = "7f3a0000-0000-4000-8000-000000000001", **fields: object) -> Chunk:
    values: dict[str, object] = {
        "chunk_id": chunk_id,
        "tenant": "t",
        "document_id": document_id,
        "ordinal": 0,
        "text": "x",
        "index_text": "x",
        "start_char": 0,
        "end_char": 1,
    }
    return Chunk.model_validate(values | fields)


@pytest.mark.parametrize(
    ("place", "label"),
    [
        ({"page_start": 5, "section_number": 2}, "doc_7f3a_p5"),
        ({"section_number": 3}, "doc_7f3a_s3"),
        ({"start_s": 872.9}, "doc_7f3a_t872"),
        ({}, "doc_7f3a"),
    ],
)
def test_label_names_page_section_or_second(place: dict[str, object], label: str) -> None:
    assert LabelBook().label(chunk("a", **place)) == label


def test_label_passages_of_one_page_get_letters_and_keep_their_label() -> None:
    book = LabelBook()
    labels = [book.label(chunk(str(n), page_start=5)) for n in range(28)]
    assert labels[:3] == ["doc_7f3a_p5", "doc_7f3a_p5b", "doc_7f3a_p5c"]
    assert labels[26:] == ["doc_7f3a_p5aa", "doc_7f3a_p5ab"]
    assert book.label(chunk("1", page_start=5)) == "doc_7f3a_p5b"
    assert all(is_label(label) for label in labels)


def test_label_of_documents_that_begin_alike_gets_longer() -> None:
    book = LabelBook()
    first = book.label(chunk("a", "7f3a0000-0000-4000-8000-000000000001", page_start=1))
    second = book.label(chunk("b", "7f3a1000-0000-4000-8000-000000000001", page_start=1))
    assert (first, second) == ("doc_7f3a_p1", "doc_7f3a1_p1")


def test_label_book_knows_only_what_it_handed_out() -> None:
    book = LabelBook()
    book.label(chunk("a", page_start=5))
    book.reserve("tool_calculate#1")
    assert "doc_7f3a_p5" in book
    assert "tool_calculate#1" in book
    assert "doc_7f3a_p6" not in book
    assert "doc_7f3a_p5" not in LabelBook()


def test_label_book_refuses_to_reserve_what_is_no_label() -> None:
    with pytest.raises(ValueError, match="not a source label"):
        LabelBook().reserve("reason")


def test_tag_of_a_label_is_found_again() -> None:
    label = LabelBook().label(chunk("a", page_start=5))
    assert [(tag.label, tag.well_formed) for tag in find_tags(f"Revenue rose. {format_tag(label)}")] == [(label, True)]
