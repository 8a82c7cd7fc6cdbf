from __future__ import annotations

from retrieval.profiles import channel_weights
from retrieval.settings import SearchSettings


def test_weights_are_those_of_the_encoder() -> None:
    embedded = channel_weights(SearchSettings(), "embedded")
    assert embedded["dense"] < embedded["sparse"]
    assert channel_weights(SearchSettings(), "lexical")["dense"] == 0.0


def test_the_two_sides_of_an_unmeasured_encoder_count_the_same() -> None:
    weights = channel_weights(SearchSettings(), "bge-m3")
    assert weights["dense"] == weights["sparse"] > 0


def test_a_given_weight_goes_before_the_profile_even_when_it_is_zero() -> None:
    weights = channel_weights(SearchSettings(symbol_weight=0.0, dense_weight=2.0), "embedded")
    assert (weights["symbol"], weights["dense"]) == (0.0, 2.0)
    assert weights["sparse"] == channel_weights(SearchSettings(), "embedded")["sparse"]
