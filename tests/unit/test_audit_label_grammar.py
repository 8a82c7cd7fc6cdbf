"""The tag grammar must read every form a tag can be dressed up in, and nothing else."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.labels import find_tags, format_tag, strip_tags

GOOD = "doc_7f3a_p5"


@pytest.mark.parametrize(
    "written",
    [
        "[SOURCE: doc_7f3a_p5]",
        "[source:doc_7f3a_p5]",
        "[SOURCES: doc_7f3a_p5]",
        "【来源：doc_7f3a_p5】",
        "［ＳＯＵＲＣＥ：doc_7f3a_p5］",
        "[[SOURCE: doc_7f3a_p5]]",
        "[SOURCE: [SOURCE: doc_7f3a_p5]]",
        "[SOURCE: SOURCE: doc_7f3a_p5]",
        "(SOURCE: doc_7f3a_p5)",
        "（来源：doc_7f3a_p5）",
        "[SOURCE doc_7f3a_p5]",
        "[doc_7f3a_p5]",
        "(doc_7f3a_p5)",
        "<source: doc_7f3a_p5>",
        "SOURCE: doc_7f3a_p5",
        "doc_7f3a_p5",
        "[SOURCE: doc_7f3a_p5",
        "[SO\u200bURCE: doc_7f3a_p5]",
        "[ЅOURCE: doc_7f3a_p5]",
        "[SOURCE: `doc_7f3a_p5`]",
        "[SOURCE: **doc_7f3a_p5**]",
        r"[SOURCE: doc_7f3a\_p5]",
        "[出处：doc_7f3a_p5]",
        "[ref: doc_7f3a_p5]",
    ],
)
def test_find_tags_reads_every_dress_of_a_valid_label(written: str) -> None:
    (tag,) = find_tags(f"营收下滑 {written}")
    assert (tag.label, tag.well_formed) == (GOOD, True)
    assert strip_tags(f"营收下滑 {written}") == "营收下滑"


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("[SOURCE: DOC_7F3A_P5]", "DOC_7F3A_P5"),
        ("[SOURCE: doc_7f3a_p5\u200b]", "doc_7f3a_p5\u200b"),
        ("[SOURCE: 9]", "9"),
        ("[SOURCE: reason]", "reason"),
        ("[SOURCE: Annual report 2023]", "Annual report 2023"),
        ("[来源：网络]", "网络"),
        ("[SOURCE: ]", ""),
        ("[SOURCE:", ""),
        ("[SOURCE: doc_7f", "doc_7f"),
        ("(doc_7f3a_page5)", "doc_7f3a_page5"),
    ],
)
def test_find_tags_yields_malformed_labels_as_written(written: str, label: str) -> None:
    (tag,) = find_tags(f"Revenue fell {written}")
    assert (tag.label, tag.well_formed) == (label, False)


@pytest.mark.parametrize(
    "text",
    [
        "电话 [PHONE_k3f9a2mq7x4tw]",
        "（来源：国家统计局）",
        "call f(doc_string) and see /files/doc_7f3a_p5.pdf",
        "【知识来源】《简报》第 5 页",
        "the source: revenue",
        "[1] and [2024]",
    ],
)
def test_find_tags_leaves_prose_alone(text: str) -> None:
    assert list(find_tags(text)) == []


def test_find_tags_keeps_several_labels_of_one_tag_in_order() -> None:
    tags = list(find_tags("[SOURCE: doc_7f3a_p5、doc_7f3a_p6, page 7]"))
    assert [(t.label, t.well_formed) for t in tags] == [(GOOD, True), ("doc_7f3a_p6", True), ("page 7", False)]


def test_find_tags_does_not_swallow_the_text_after_an_unclosed_tag() -> None:
    assert strip_tags("营收下滑[SOURCE: doc_7f3a_p5。利润上升") == "营收下滑。利润上升"


@given(
    st.lists(st.sampled_from(["[SOURCE:", " ", "doc_7f3a_p5", "]", "】", "(", ")", "\n", "来源：", "#q1", "x", "["]))
)
def test_find_tags_spans_are_ordered_and_inside_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    spans = sorted({(tag.start, tag.end) for tag in find_tags(text)})
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@given(st.from_regex(r"doc_[0-9a-f]{4,8}_[pst][0-9]{1,3}[a-z]?", fullmatch=True))
def test_find_tags_reads_back_a_canonical_tag(label: str) -> None:
    (tag,) = find_tags(f"x {format_tag(label)} y")
    assert (tag.label, tag.well_formed) == (label, True)
