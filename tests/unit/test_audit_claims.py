"""Sentences of an answer: roles, clean text, spans, and tags bound to the sentence they are meant for."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.audit.claims import read_sentences
from retrieval.labels import find_tags

A = "[SOURCE: doc_7f3a_p5]"
B = "[SOURCE: doc_7f3a_p6]"


def bound(answer: str) -> list[tuple[str, str]]:
    """Each sentence's text and the last letters of its labels."""
    return [(s.text, "".join({"p5": "A", "p6": "B"}[t.label[-2:]] for t in s.tags)) for s in read_sentences(answer)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"营收下滑。{A}利润上升。{B}", [("营收下滑。", "A"), ("利润上升。", "B")]),
        (f"营收下滑{A}。利润上升{B}。", [("营收下滑。", "A"), ("利润上升。", "B")]),
        (f"Revenue fell {A}. Costs rose {B}.", [("Revenue fell.", "A"), ("Costs rose.", "B")]),
        (f"Revenue fell. {A} Costs rose. {B}", [("Revenue fell.", "A"), ("Costs rose.", "B")]),
        (f"{A} Revenue fell. {B} Costs rose.", [("Revenue fell.", "A"), ("Costs rose.", "B")]),
        (f"Revenue fell. Costs rose. {A}{B}", [("Revenue fell.", "AB"), ("Costs rose.", "AB")]),
        (f"Revenue fell. Costs rose {A}.", [("Revenue fell.", ""), ("Costs rose.", "A")]),
        (f"Revenue fell {A}. Costs rose. {B}", [("Revenue fell.", "A"), ("Costs rose.", "B")]),
        (f"营收下滑；利润上升 {A}", [("营收下滑；", "A"), ("利润上升", "A")]),
        (f"- 营收下滑\n- 利润上升\n{A}", [("营收下滑", "A"), ("利润上升", "A")]),
        (f"- 营收下滑 {B}\n- 利润上升\n{A}", [("营收下滑", "B"), ("利润上升", "A")]),
        (f"- 营收下滑 {A}\n- 利润上升", [("营收下滑", "A"), ("利润上升", "")]),
        (f"营收下滑。\n\n利润上升。\n{A}", [("营收下滑。", ""), ("利润上升。", "A")]),
        (
            f"根据简报{A}，要点如下：\n1. 营收下滑\n2. 利润上升{B}",
            [("根据简报 ，要点如下：", "A"), ("营收下滑", "A"), ("利润上升", "B")],
        ),
        (f"```\n营收翻倍 {A}\n```", [("营收翻倍", "A")]),
        (f"{A}{B}", [("", "AB")]),
        (f"营收下滑[SOURCE: doc_7f3a_p5](http://x.example/a).{B}", [("营收下滑.", "AB")]),
    ],
)
def test_read_sentences_binds_tags_where_they_are_meant(answer: str, expected: list[tuple[str, str]]) -> None:
    assert bound(answer) == expected


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("营业收入为 2.38 亿元。", "claim"),
        ("Revenue fell by 5.2%.", "claim"),
        ("如果出差超过 5 天，须提前申请。", "claim"),
        ("If you have more than five days of leave left, you must report it.", "claim"),
        ("公司未披露净利润。", "claim"),
        ("文档没有说明原因，但营收下滑了九成。", "claim"),
        ("The documents do not give a reason, but revenue halved.", "claim"),
        ("请在 30 天内提交报销单。", "claim"),
        ("## 一、概述", "heading"),
        ("**主要结论**", "heading"),
        ("您好！", "courtesy"),
        ("Sure!", "courtesy"),
        ("希望以上信息对您有帮助。", "courtesy"),
        ("Let me know if you have any other questions.", "courtesy"),
        ("如有其他问题，请随时告诉我。", "courtesy"),
        ("以下是第三季度的主要数据：", "lead_in"),
        ("Here are the key figures:", "lead_in"),
        ("主要数据如下。", "lead_in"),
        ("您想问的是哪一年？", "question"),
        ("Which year do you mean?", "question"),
        ("您的文档中没有找到这个问题的答案。", "disclaimer"),
        ("The answer to this question is not in your documents.", "disclaimer"),
        ("资料未提及具体金额。", "disclaimer"),
        ("The report does not mention the reason.", "disclaimer"),
        ("I could not find this in the passages.", "disclaimer"),
        ("来源：《2024 年 Q3 财务简报》第 5 页", "source_line"),
        ("References:", "source_line"),
    ],
)
def test_read_sentences_tells_claims_from_the_rest(text: str, role: str) -> None:
    (sentence,) = read_sentences(text)
    assert sentence.role == role


def test_read_sentences_reads_table_rows_with_their_header() -> None:
    table = f"| 指标 | 2024Q3 |\n|---|---|\n| 营收 | 2.38 亿元 {A} |\n| 净利润 | 0.31 亿元 |"
    header, revenue, profit = read_sentences(table)
    assert header.role == "table_header"
    assert [t.label for t in revenue.tags] == ["doc_7f3a_p5"]
    assert profit.tags == ()
    assert "2024Q3" in profit.header


def test_read_sentences_cleans_text_and_keeps_positions() -> None:
    answer = f"- **营收** 为 [2.38 亿元](http://x.example)\u200b {A}。"
    (sentence,) = read_sentences(answer)
    assert sentence.text == "营收 为 2.38 亿元。"
    at = sentence.text.index("2.38")
    start, end = sentence.answer_span(at, at + 4)
    assert answer[start:end] == "2.38"


def test_read_sentences_makes_a_greeting_with_a_source_a_claim() -> None:
    (sentence,) = read_sentences(f"好的。{A}")
    assert sentence.role == "claim"


PIECES = st.lists(
    st.one_of(
        st.sampled_from([
            A,
            B,
            "[SOURCE:",
            "。",
            ". ",
            "\n",
            "\n\n",
            "| a | b |\n",
            "|---|---|\n",
            "- ",
            "# ",
            "```",
            "“",
            "”",
            "：",
            "5%",
        ]),
        st.text(max_size=6),
    ),
    max_size=30,
)


@given(PIECES)
def test_read_sentences_spans_are_ordered_and_no_tag_is_lost(parts: list[str]) -> None:
    answer = "".join(parts)
    sentences = read_sentences(answer)
    assert all(0 <= s.start <= s.end <= len(answer) for s in sentences)
    assert all(first.end <= second.start for first, second in pairwise(sentences))
    cited = {tag.label for s in sentences for tag in s.tags}
    assert cited == {tag.label for tag in find_tags(answer)}
