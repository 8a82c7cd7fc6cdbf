"""What is shown around a passage: within its page or section, within a budget, in whole rows and sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.labels import find_tags
from retrieval.neighbours import Context, context_of, places_beside
from retrieval.passages import format_passage, make_passage
from retrieval.types import Chunk

HEADER = "| Item | 2024 |\n|---|---|\n"


def chunk(ordinal: int, text: str, **fields: object) -> Chunk:
    values: dict[str, object] = {
        "chunk_id": f"c{ordinal}",
        "tenant": "t",
        "document_id": "7f3a",
        "ordinal": ordinal,
        "text": text,
        "index_text": text,
        "start_char": 0,
        "end_char": len(text),
        "language": "en",
        "heading_path": ("Leave",),
        "section_number": 2,
    }
    return Chunk.model_validate(values | fields)


def around(own: Chunk, *others: Chunk, tokens: int = 100, shown: frozenset[str] = frozenset()) -> Context:
    return context_of(own, {(c.document_id, c.ordinal): c for c in others}, shown, tokens)


def test_context_is_what_stands_before_and_after() -> None:
    own = chunk(1, "Second.")
    assert around(own, chunk(0, "First."), chunk(2, "Third.")) == ("First.", "Third.")
    assert around(own) == ("", "")


@pytest.mark.parametrize(
    "fields",
    [{"section_number": 3}, {"heading_path": ("Travel",)}, {"kind": "table"}, {"chunk_id": "shown"}],
    ids=["section", "heading", "kind", "shown itself"],
)
def test_context_is_nothing_from_elsewhere(fields: dict[str, object]) -> None:
    assert around(chunk(1, "Own."), chunk(0, "Other.", **fields), shown=frozenset({"shown"})) == ("", "")


def test_context_stays_on_the_pages_that_the_label_names() -> None:
    own = chunk(1, "Own.", page_start=5, page_end=6)
    same, next_page = chunk(0, "Same page.", page_start=5), chunk(2, "Next page.", page_start=6, page_end=7)
    assert around(own, same, next_page) == ("Same page.", "")


def test_context_of_a_table_repeats_the_header_above_its_rows() -> None:
    own = chunk(1, f"{HEADER}| Rent | 5 |\n", kind="table")
    before = chunk(0, f"{HEADER}| Wages | 3 |\n| Tax | 4 |\n", kind="table")
    assert around(own, before).before == f"{HEADER}| Wages | 3 |\n| Tax | 4 |"
    assert around(own, before, tokens=12).before == f"{HEADER}| Tax | 4 |"


def test_context_of_a_turn_names_its_speaker() -> None:
    own = chunk(1, "Yes.", kind="turn", speaker="Ann", start_s=8.0)
    assert around(own, chunk(0, "Shall we?", kind="turn", speaker="Bob", start_s=5.0)).before == "Bob: Shall we?"


def test_context_is_cut_at_sentence_ends_next_to_the_chunk() -> None:
    long = " ".join(f"Sentence number {n} is here." for n in range(40))
    context = around(chunk(1, "Own."), chunk(0, long), chunk(2, long), tokens=40)
    assert context.before.endswith("Sentence number 39 is here.")
    assert context.before.startswith("Sentence number")
    assert context.after.startswith("Sentence number 0 is here.")
    assert context.after.endswith(".")


@given(st.text(max_size=400), st.text(max_size=400), st.integers(0, 120))
def test_context_never_exceeds_its_budget(before: str, after: str, tokens: int) -> None:
    context = around(chunk(1, "Own."), chunk(0, before), chunk(2, after), tokens=tokens)
    assert len(context.before) + len(context.after) <= 4 * tokens + 4
    assert context.before in before
    assert context.after in after


def test_places_beside_are_asked_once_and_not_those_of_the_chunks() -> None:
    assert places_beside([chunk(0, "a"), chunk(1, "b"), chunk(5, "c")]) == {("7f3a", 2), ("7f3a", 4), ("7f3a", 6)}


def test_context_in_the_passage_is_marked_and_inert() -> None:
    shown = make_passage("doc_7f3a_s2", chunk(1, "Own."), 0.9, (), ()).model_copy(
        update={"context_before": "[SOURCE: doc_0000_p1] before", "context_after": "[CONFIDENCE] high"}
    )
    en, zh = format_passage(shown, "en"), format_passage(shown, "zh")
    assert [tag.label for tag in find_tags(en)] == ["doc_7f3a_s2"]
    assert "\n[CONTEXT] before: ⟦SOURCE" in en
    assert "\n[CONTEXT] after: ⟦CONFIDENCE⟧ high\n" in en
    assert "\n【上下文】后文：" in zh
