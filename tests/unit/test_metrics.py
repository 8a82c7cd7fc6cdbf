from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics import mean, paired_bootstrap, paired_difference, per_question, rank_of, recall_at


def test_rank_counts_from_one_and_repeats_once() -> None:
    assert rank_of(["a", "a", "b", "a", "c"], "c") == 3
    assert rank_of(["a", "b"], "z") is None
    assert rank_of([], "a") is None


def test_metrics_by_hand() -> None:
    values = per_question([1, 2, 3, 4, 5, 6, 10, 11, None])
    assert values["recall@1"] == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert values["recall@5"] == [1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert values["mrr@10"] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 10, 0, 0])
    assert values["ndcg@10"][:3] == pytest.approx([1, 1 / math.log2(3), 0.5])
    assert values["ndcg@10"][7:] == [0, 0]
    assert (recall_at(5, 5), recall_at(6, 5), recall_at(None, 5)) == (1.0, 0.0, 0.0)


def test_metrics_of_nothing_found_are_zero() -> None:
    assert per_question([None, 30])["mrr@10"] == [0.0, 0.0]
    assert per_question([]) == {"recall@1": [], "recall@5": [], "mrr@10": [], "ndcg@10": []}


def test_per_question_keeps_the_questions_in_order() -> None:
    values = per_question([1, None, 7])
    assert values["recall@1"] == [1.0, 0.0, 0.0]
    assert values["recall@5"] == [1.0, 0.0, 0.0]
    assert values["mrr@10"] == [1.0, 0.0, pytest.approx(1 / 7)]
    assert list(values) == ["recall@1", "recall@5", "mrr@10", "ndcg@10"]


@given(st.lists(st.one_of(st.none(), st.integers(1, 30)), min_size=1))
def test_metrics_lie_in_the_unit_interval_and_in_order(ranks: list[int | None]) -> None:
    values = {name: mean(one) for name, one in per_question(ranks).items()}
    assert 0 <= values["recall@1"] <= values["mrr@10"] <= values["ndcg@10"] <= 1
    assert values["recall@1"] <= values["recall@5"]


def test_bootstrap_of_equal_lists_is_zero() -> None:
    interval = paired_bootstrap([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert (interval.difference, interval.low, interval.high) == (0.0, 0.0, 0.0)


def test_bootstrap_sees_a_clear_difference_and_repeats_itself() -> None:
    ours, theirs = [1.0] * 90 + [0.0] * 10, [1.0] * 50 + [0.0] * 50
    interval = paired_bootstrap(ours, theirs, rounds=500)
    assert interval.difference == pytest.approx(0.4)
    assert 0.25 < interval.low < 0.4 < interval.high < 0.55
    assert interval == paired_bootstrap(ours, theirs, rounds=500)


def test_bootstrap_uses_the_pairing() -> None:
    """A small gain on the same questions is certain; the same gain on shuffled questions is not."""
    theirs = [float(i % 2) for i in range(200)]
    better = [1.0 if i < 10 else value for i, value in enumerate(theirs)]
    assert paired_bootstrap(better, theirs, rounds=500).low > 0
    assert paired_bootstrap(better[1:] + better[:1], theirs, rounds=500).low < 0


def test_bootstrap_refuses_lists_that_do_not_pair() -> None:
    with pytest.raises(ValueError, match="one length"):
        paired_bootstrap([1.0], [1.0, 0.0])


def test_bootstrap_and_mean_of_nothing_are_zero() -> None:
    assert paired_bootstrap([], []).difference == 0.0
    assert mean([]) == 0.0


def test_a_difference_on_few_questions_is_not_significant_and_on_many_is() -> None:
    few = paired_difference([1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0])
    assert (few.better, few.worse) == (1, 0)
    assert few.p > 0.5
    many = paired_difference([1.0] * 40, [1.0] * 20 + [0.0] * 20)
    assert (many.better, many.worse) == (20, 0)
    assert many.p < 0.001
    assert many == paired_difference([1.0] * 40, [1.0] * 20 + [0.0] * 20)


def test_without_a_difference_p_is_one() -> None:
    same = paired_difference([1.0, 0.0], [1.0, 0.0])
    assert (same.difference, same.p, same.better, same.worse) == (0.0, 1.0, 0, 0)
    assert paired_difference([], []).p == 1.0


def test_lists_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="of one length, got 1 and 2"):
        paired_difference([1.0], [1.0, 0.0])
