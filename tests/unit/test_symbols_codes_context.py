"""Codes against the many other things that are written like them."""

from __future__ import annotations

import pytest

from retrieval.symbols.codes.domain import Code, Context, Vocabulary
from retrieval.symbols.codes.reader import CodeReader
from retrieval.symbols.language import load_language

LANGUAGE = load_language(bytes(16)).of("t")


def codes(text: str) -> list[str]:
    return [s.normal for s in LANGUAGE.read(text) if s.cls == "code"]


@pytest.mark.parametrize(
    "text",
    [
        "员工职级C3，负责客户维护。",
        "客户经理职级为C3。",
        "C1会议室的客户会议改期。",
        "客户携带C4炸药的样品册。",
        "客户寄来的C5信封里有合同。",
        "客户住在C2栋，从C1出口出站。",
        "请客户填写附录C2。",
        "客户提交的证据C3不予采信。",
        "Exhibit C3 shows the customer's complaint.",
        "The customer parked in bay C2.",
        "The client server talks to the C2 server.",
        "Our customer service desk is in room C4.",
        "The customer holds a C1 licence.",
        "Customers need a C-1 visa.",
        "The customer's English is C1 level under CEFR.",
        "The C1 esterase inhibitor was given to the client.",
        "Customer number C3 is wrong.",
        "客户编号C3有误。",
        "Windows Server 2008 R2产品已停止支持。",
        "SQL Server 2012 R2 is a product of Microsoft.",
        "The fund's R2 of 0.93 against the index.",
        "该基金的R2值为0.93。",
        "R4实验室的产品经理请假。",
        "产品型号R3已停产。",
        "产品型号为R3。",
        "SAP R3 is a product.",
        "The product ships with a Ryzen R5 processor.",
        "货位R3的产品已出库。",
        "Exhibit R4 is the product brochure.",
        "公交R1路经过基金大厦。",
        "The R2 release of our product is late.",
        "Route R4 leads to the fund's office.",
        "纳税信用等级为A级。",
        "海关信用等级A。",
        "绩效评级为A的员工有奖金。",
        "供应商评级为B级。",
        "The dishwasher has an energy rating of A+.",
        "The house was rated A for energy efficiency.",
        "His performance was rated B.",
        "MSCI上调其ESG评级至AA。",
        "该款BB霜价格上调。",
        "通过CCC认证的产品评级更高。",
        "CC the rating agency on the reply.",
        "The film was rated A by viewers.",
        "AAA games upgrade the console.",
        "The AA meeting was upgraded.",
        "5A级景区评级复核",
        "A股评级",
        "A4纸评级",
        "血型为A型，评级无关。",
        "The AAA roadside team upgraded the truck.",
        "Team A was rated highest.",
        "Size A rating labels",
        "方案A的评级更高",
        "这款AAA电池获得五星评级。",
        "大客户部C3区",
        "高风险化学品属于危险产品。",
        "R1机器人产品上市",
        "第R3轮产品测试",
        "病房R2的产品",
        "Phase R3 of the product launch",
        "线路C1发往客户仓库。",
        "Class C1 vehicles for customers",
        "投标人提供C2标段的客户名单。",
    ],
)
def test_other_things_are_no_codes(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C1客户", ["C1"]),
        ("风险承受能力为C3的投资者", ["C3"]),
        ("投资者适当性等级：C4", ["C4"]),
        ("policyholder rated C2 may buy R3 products", ["C2", "R3"]),
        ("R4及以上基金", ["R4"]),
        ("R3等级的产品", ["R3"]),
        ("产品风险等级为R3（中风险）", ["R3"]),
        ("基金经理说该基金为R4级", ["R4"]),
        ("客户经理提示客户（C2）风险", ["C2"]),
        ("主体评级AA+", ["AA+"]),
        ("信用评级由A-上调至A", ["A-", "A"]),
        ("S&P cut its rating to BB-", ["BB-"]),
        ("the rating of BBB+ was affirmed", ["BBB+"]),
        ("AAA-rated bonds", ["AAA"]),
        ("债券信用等级AAA级", ["AAA"]),
        ("中诚信国际维持AA评级", ["AA"]),
        ("Moody's and Fitch: rated CCC+", ["CCC+"]),
        ("评级为C", ["C"]),
        ("供应商的主体信用评级为AA-", ["AA-"]),
        ("信用评级BB的发行人", ["BB"]),
        ("an ETF with risk level R5", ["R5"]),
        ("Only C4 and C5 investors may buy R4 and R5 funds.", ["C4", "C5", "R4", "R5"]),
        ("low-risk products suit C1 clients", ["R1", "C1"]),
        ("C3级别客户", ["C3"]),
        ("C2类客户", ["C2"]),
        ("进取型投资者", ["C4"]),
        ("high-risk fund", ["R5"]),
        ("平衡型投资者", ["C3"]),
        ("中高风险基金", ["R4"]),
        ("员工李雷的风险承受能力为C3", ["C3"]),
        ("该客户在C1会议室签署，风险等级为C2", ["C2"]),
        ("The R2 fund's R2 of 0.93", ["R2"]),
        ("该理财产品PR3，适合C3以上客户", ["R3", "C3"]),
        ("Investors classed as C5", ["C5"]),
        ("评级机构给予发行人AA-级", ["AA-"]),
        ("Outlook stable, rating A+", ["A+"]),
        ("downgraded to B-", ["B-"]),
    ],
)
def test_codes_are_read_beside_such_things(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("由谨慎型变更为稳健型客户", ["C2", "C3"]),
        ("保守型、谨慎型和稳健型投资者", ["C1", "C2", "C3"]),
        ("风险承受能力由保守型调整为激进型", ["C1", "C5"]),
        ("low-risk and medium-risk funds", ["R1", "R3"]),
        ("conservative, balanced or aggressive investors", ["C1", "C3", "C5"]),
        ("rated A or B by Fitch", ["A", "B"]),
        ("评级由A下调至B", ["A", "B"]),
        ("评级轨迹：AA、A+、A", ["AA", "A+", "A"]),
        ("主体信用评级：BBB→B", ["BBB", "B"]),
        ("rating history: AA- (2019), A+ (2021), A (2023)", ["AA-", "A+", "A"]),
        ("高风险（R5）产品", ["R5", "R5"]),
        ("I was assessed as C3, can I buy an R4 fund?", ["C3", "R4"]),
        ("conservative and careful words for investors", []),
    ],
)
def test_one_word_holds_for_all_codes_that_are_joined(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_a_clause_is_refused_and_the_next_is_not() -> None:
    assert codes("纳税信用等级为A级，主体评级为AA+") == ["AA+"]


def test_long_texts_of_codes_and_refusals_are_read_in_their_time() -> None:
    text = "ESG " + "rated AA and " * 3_000
    assert codes(text) == []


def test_a_vocabulary_of_ordinary_words_alone_needs_its_words_beside_them() -> None:
    context = Context(near=("班级",), adjacent=("班级",))
    codes = tuple(Code(code=code, rank=rank, strict=True) for rank, code in enumerate("AB"))
    vocabulary = Vocabulary(namespace="class", token_prefix="CLASS", context=context, code=codes)
    reader = CodeReader(vocabulary)
    assert [found.normal for found in reader.find("班级A和B")] == ["A", "B"]
    assert reader.find("班级里，A和B，或者说 A (x) 与其他") == []
