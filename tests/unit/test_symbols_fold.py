"""Folding: one writing for all, no character moved, and what is encoded is folded too."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import MASK, fold, fold_letters
from retrieval.symbols.language import load_language

LANGUAGE = load_language(bytes(16)).of("t")
TEXTS = st.text(
    st.one_of(
        st.characters(), st.sampled_from("億萬圓參參佰后後發髮臺台，,１２３ＡＢ％．　⼈⺠金薴苧İſ\u200b\ufffc𠀀\ud800")
    ),
    max_size=40,
)


@settings(deadline=None)
@given(TEXTS)
def test_folding_moves_no_character_and_again_changes_nothing(text: str) -> None:
    for folding in (fold, fold_letters):
        folded = folding(text)
        assert len(folded) == len(text)
        assert folding(folded) == folded


@settings(deadline=None)
@given(TEXTS)
def test_reading_what_is_encoded_gives_what_reading_the_text_gives(text: str) -> None:
    assert fold(fold_letters(text)) == fold(text)


@settings(deadline=None)
@given(TEXTS)
def test_the_mask_never_stands_in_a_folded_text(text: str) -> None:
    assert MASK not in fold(text)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("關於華澤公司的營業收入與淨利潤", "关于华泽公司的营业收入与净利润"),
        ("客戶風險等級為Ｃ１", "客户风险等级为C1"),
        ("參加會議，人民幣參佰貳拾萬圓", "参加会议，人民币叁佰贰拾万圆"),
        ("１，２３４．５％", "1,234.5%"),
        ("甲，１２３", "甲，123"),
        ("⼈⼝", "人口"),
        ("\uf90a", "金"),
        ("頭髮發財，後天皇后", "头发发财，后天皇后"),
        ("a\u3000b\u00a0c", "a b c"),
        ("𠀀\U00100000x", "𠀀\U00100000x"),
        ("1\u200e3\u20688\ufe0f\u20e31\u03012\U000e00313\x004", "1\u200b3\u200b8\u200b\u200b1\u200b2\u200b3\u200b4"),
        ("a\x01b\tc\r\nd\re", "a\u200bb\tc \nd\re"),
        ("١٣٨ ۱۳۸ १३८ 𝟏𝟑𝟖 𝟷𝟹𝟾 \U0001fbf1\U0001fbf3\U0001fbf8", "138 138 138 138 138 138"),
        ("①③⑧①②③④⑤⑥⑦⑧; ¹³⁸; ₁₃₈-₁₂₃₄-₅₆₇₈", "13812345678; ¹³⁸; 138-1234-5678"),
        ("①②③④⑤⑥⑦⑧⑨ 12m² x³ ⑩", "①②③④⑤⑥⑦⑧⑨ 12m² x³ ⑩"),
    ],
)
def test_writings_fold_to_one(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_punctuation_is_encoded_as_written() -> None:
    assert fold_letters("營收（含稅）：１２Ａ％　。") == "营收（含税）：12A％　。"


def test_every_ideograph_and_sign_folds_to_a_single_character_that_stays() -> None:
    every = "".join(map(chr, (*range(0x20, 0xD800), *range(0xE000, 0x34000))))
    for folding in (fold, fold_letters):
        folded = folding(every)
        assert len(folded) == len(every)
        assert folding(folded) == folded
    assert fold(fold_letters(every)) == fold(every)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("該公司２０２４年第三季度營業收入為２．３８億元", "该公司2024年第三季度营业收入为2.38亿元"),
        ("保守型客戶不得購買高風險產品", "保守型客户不得购买高风险产品"),
        ("差旅費報銷標準：住宿每晚５００元", "差旅费报销标准：住宿每晚500元"),
    ],
)
def test_two_writings_give_one_index_text_and_keep_their_own_text(one: str, other: str) -> None:
    first, second = LANGUAGE.symbolise(one), LANGUAGE.symbolise(other)
    assert first.index_text == second.index_text
    assert (first.text, second.text) == (one, other)
    assert [s.token for s in first.symbols] == [s.token for s in second.symbols]
