"""The trigger's reading of a question's form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.question_form import arithmetic_expression, question_form


@pytest.mark.parametrize(
    "question",
    [
        "1+1",
        "1+1=?",
        "what is 12 times 8?",
        "23*4等于多少",
        "3的平方是多少",
        "请计算 15% of 200",
        "100 加 200 等于多少",
        "１２＋３０＝？",
    ],
)
def test_arithmetic_is_recognised(question: str) -> None:
    assert question_form(question) == "arithmetic"


@pytest.mark.parametrize(
    "question",
    ["2024-07-01", "138-0013-8000", "2024年第三季度营业收入是多少", "What was revenue in 2019 and 2018?", "v1.2.3"],
)
def test_figures_in_a_question_are_not_arithmetic(question: str) -> None:
    assert question_form(question) != "arithmetic"


@pytest.mark.parametrize(
    "question",
    [
        "tell me a joke",
        "讲个笑话",
        "你好，在吗",
        "Hello!",
        "hi there, how are you?",
        "谢谢！",
        "What's the weather today?",
        "你是谁？",
    ],
)
def test_small_talk_is_recognised(question: str) -> None:
    assert question_form(question) == "small_talk"


@pytest.mark.parametrize(
    "question",
    [
        "What is our reimbursement policy?",
        "What does the handbook say about lunch?",
        "员工手册里怎么规定午休",
        "根据员工手册，年假有几天？",
        "我们公司的差旅标准是什么",
        "Hello, what does the handbook say? In our handbook",
    ],
)
def test_questions_that_name_the_documents_aim_at_them(question: str) -> None:
    assert question_form(question) == "aims_at_documents"


@pytest.mark.parametrize(
    "question", ["What is the capital of France?", "How do I apply for AWS access?", "C1 客户可以买 R4 基金吗"]
)
def test_other_questions_are_open(question: str) -> None:
    assert question_form(question) == "open"


@given(st.text(max_size=300))
def test_any_text_has_a_form(text: str) -> None:
    assert question_form(text) in {"arithmetic", "small_talk", "aims_at_documents", "open"}


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("What is 17 * 23?", "17 * 23"),
        ("what is 12 times 8?", "12 * 8"),
        ("3的平方是多少", "3 **2"),
        ("请计算 15% of 200", "15 % * 200"),
        ("100 加 200 等于多少", "100 + 200"),
        ("１２＋３０＝？", "12+30"),
        ("1,200 divided by 3", "1200 / 3"),
        ("what is seven", None),
        ("42", None),
    ],
)
def test_arithmetic_question_gives_its_expression(question: str, expression: str | None) -> None:
    assert arithmetic_expression(question) == expression
