"""Follow-up questions stand alone after the rules; questions that do are left as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.followups import stand_alone

_PERIOD = re.compile(r"(?:Q[1-4] )?20\d\d(?:年(?:第[一二三四]季度)?)?|Q[1-4]|第[一二三四]季度")
EN, ZH = "What was revenue of Acme Bank in Q3 2024?", "华星集团2024年第三季度的营业收入是多少？"


def periods(text: str) -> Sequence[tuple[int, int]]:
    return [match.span() for match in _PERIOD.finditer(text)]


@pytest.mark.parametrize(("last", "asked", "alone"), [
    # a period
    (EN, "and in Q4 2023?", "What was revenue of Acme Bank in Q4 2023?"),
    (EN, "What about Q4?", "What was revenue of Acme Bank in Q4 2024?"),
    (ZH, "那第四季度呢？", "华星集团2024年第四季度的营业收入是多少？"),
    (ZH, "2023年第三季度呢", "华星集团2023年第三季度的营业收入是多少？"),
    # another matter
    (EN, "And the costs?", "What was costs of Acme Bank in Q3 2024?"),
    (ZH, "那营业成本呢？", "华星集团2024年第三季度的营业成本是多少？"),
    ("年假有几天？", "那病假呢？", "病假有几天？"),
    # another name
    (EN, "and for Beta Corp?", "What was revenue of Beta Corp in Q3 2024?"),
    (ZH, "那招商银行呢？", "招商银行2024年第三季度的营业收入是多少？"),
    # pointing words
    (EN, "Who is its CEO?", "Who is Acme Bank's CEO (Q3 2024)?"),
    (EN, "Where is that company listed?", "Where is Acme Bank listed (Q3 2024)?"),
    ("What was revenue in Q3 2024?", "What drove it?", "What drove the revenue (Q3 2024)?"),
    ("What is the capital adequacy ratio?", "How is it calculated?", "How is the capital adequacy ratio calculated?"),
    (ZH, "它的总部在哪里？", "华星集团的总部在哪里（2024年第三季度）？"),
    (ZH, "其2023年净利润是多少？", "华星集团的2023年净利润是多少？"),
    ("《差旅制度》何时生效？", "它由谁批准？", "《差旅制度》由谁批准？"),
    # nothing but a question word
    ("Did revenue fall?", "Why?", "Why: Did revenue fall?"),
    ("营业收入下降了吗？", "为什么？", "为什么：营业收入下降了吗？"),
])  # fmt: skip
def test_a_follow_up_says_what_the_question_before_it_said(last: str, asked: str, alone: str) -> None:
    rewritten = stand_alone(asked, ["Something older?", last], periods)
    assert (rewritten.question, rewritten.changed) == (alone, True)


@pytest.mark.parametrize("asked", [
    "What is the leave policy?", "年假有几天？", "How many employees does Acme Bank have?",
    "其他费用如何报销？", "17 * 3",
    "Tell me a joke", "第四季度的营业收入是多少？", "And what is the leave policy?",
])  # fmt: skip
def test_a_question_that_stands_alone_is_left_as_it_is(asked: str) -> None:
    assert not stand_alone(asked, [EN if asked.isascii() else ZH], periods).changed
    assert not stand_alone("Who is its CEO?", [], periods).changed


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_questions_give_a_question(asked: str, last: str) -> None:
    rewritten = stand_alone(asked, [last], periods)
    assert rewritten.question.strip() or not asked.strip()
    assert len(rewritten.question) <= len(asked) + 2 * len(last) + 20
