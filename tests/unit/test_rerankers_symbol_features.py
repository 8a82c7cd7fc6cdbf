from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.rerankers.embedded import FeatureReranker
from retrieval.rerankers.symbol_features import symbol_features, token_rarity
from retrieval.types import Candidate, Chunk, Symbol, SymbolClass


def symbol(cls: SymbolClass, kind: str, normal: str) -> Symbol:
    token = f"[{kind.upper()}_{normal}]"
    return Symbol(cls=cls, kind=kind, normal=normal, token=token, start=0, end=1, surface=normal)


C1, C2 = symbol("code", "customer_risk", "C1"), symbol("code", "customer_risk", "C2")
R4 = symbol("code", "fund_risk", "R4")
YEAR = symbol("value", "period", "2024")
SUM, OTHER_SUM = symbol("value", "amount", "USD_44100000"), symbol("value", "amount", "USD_87400000")


def candidate(name: str, text: str, *symbols: Symbol) -> Candidate:
    chunk = Chunk(
        chunk_id=name,
        tenant="t",
        document_id=name,
        ordinal=0,
        text=text,
        index_text=text,
        start_char=0,
        end_char=1,
        symbols=symbols,
    )
    return Candidate(chunk, {"dense": 0.85, "sparse": 5.0}, {}, 0.0)


def test_a_symbol_that_all_carry_counts_less_than_one_that_tells_them_apart() -> None:
    right, near, far = symbol_features([SUM, YEAR], [[SUM, YEAR], [YEAR], [YEAR, OTHER_SUM]])
    assert right.carried == 1.0
    assert near.carried == far.carried < 0.3


def test_codes_and_figures_are_told_apart_and_time_is_neither() -> None:
    [both, year] = symbol_features([C1, SUM, YEAR], [[C1, SUM], [YEAR]])
    assert (both.codes, both.figures) == (1.0, 1.0)
    assert (year.codes, year.figures) == (0.0, 0.0)


def test_a_bound_is_no_figure_to_look_for() -> None:
    bound = SUM.model_copy(update={"qualifier": "more_than"})
    assert symbol_features([bound], [[SUM], []])[0].figures == 0.0


def test_another_code_of_the_asked_kind_is_a_conflict_and_silence_is_none() -> None:
    features = symbol_features([C1, R4], [[C2, R4], [C1, C2, R4], [SUM], [R4]])
    assert [each.code_conflict for each in features] == [0.5, 0.0, 0.0, 0.0]


def test_nothing_asked_gives_nothing() -> None:
    [only] = symbol_features([], [[C1, SUM]])
    assert (only.carried, only.codes, only.figures, only.code_conflict) == (0.0, 0.0, 0.0, 0.0)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c"])), max_size=5))
def test_rarity_falls_with_every_text_that_carries_a_token(carried: list[list[str]]) -> None:
    before = token_rarity(["a"], carried)["a"]
    if carried:
        assert before > 0
        assert token_rarity(["a"], [[*texts, "a"] for texts in carried])["a"] <= before


@pytest.mark.parametrize("encoder_name", ["embedded", "lexical", "bge-m3"])
def test_between_like_texts_the_asked_code_decides(encoder_name: str) -> None:
    question = "哪些产品适合 [CUSTOMER_RISK_C1] 客户"
    wrong = candidate("wrong", "适合 [CUSTOMER_RISK_C2] 客户的产品如下", C2)
    right = candidate("right", "可供 [CUSTOMER_RISK_C1] 等级的客户购买", C1)
    scores = FeatureReranker.beside(encoder_name).score(question, [C1], [wrong, right])
    assert scores[1] > scores[0]


@pytest.mark.parametrize("encoder_name", ["embedded", "lexical", "bge-m3"])
def test_between_like_texts_the_asked_amount_decides(encoder_name: str) -> None:
    question = "Which tax benefits amounted to [AMOUNT_USD_44100000]?"
    wrong = candidate("wrong", "Tax benefits amounted to [AMOUNT_USD_87400000].", OTHER_SUM)
    right = candidate("right", "Unrecognized benefits of tax are [AMOUNT_USD_44100000].", SUM)
    scores = FeatureReranker.beside(encoder_name).score(question, [SUM], [wrong, right])
    assert scores[1] > scores[0]
