from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.rerankers.embedded import FeatureReranker
from retrieval.rerankers.features import FEATURES, feature_matrix, term_weight
from retrieval.rerankers.fitting import Judged, calibrate, fit_direction
from retrieval.rerankers.weights import DENSE_WEIGHTS, SPARSE_WEIGHTS, WORD_WEIGHTS, Weights
from retrieval.types import Candidate, Channel, Chunk, Symbol


def _symbol(kind: str, normal: str, token: str) -> Symbol:
    return Symbol(cls="value", kind=kind, normal=normal, token=token, start=0, end=1, surface="x")


def _candidate(
    text: str,
    *,
    title: str = "",
    symbols: tuple[Symbol, ...] = (),
    dense: float | None = None,
    sparse: float | None = None,
) -> Candidate:
    chunk = Chunk(
        chunk_id=text[:20],
        tenant="t",
        document_id="d",
        ordinal=0,
        text=text,
        index_text=text,
        start_char=0,
        end_char=1,
        title=title,
        symbols=symbols,
    )
    found: list[tuple[Channel, float | None]] = [("dense", dense), ("sparse", sparse)]
    return Candidate(chunk, {channel: score for channel, score in found if score is not None}, {}, 0.0)


def _column(name: str, question: str, *candidates: Candidate, symbols: tuple[Symbol, ...] = ()) -> list[float]:
    return feature_matrix(question, symbols, candidates)[:, FEATURES.index(name)].tolist()


def test_function_words_weigh_nothing_and_symbols_most() -> None:
    assert [term_weight(t) for t in ("the", "什么", "的费", "报销", "revenue", "[RISK_C1]")] == [0, 0, 0.5, 1, 1, 2]


def test_coverage_is_the_share_of_the_subject_that_a_text_holds() -> None:
    texts = [_candidate("travel budget"), _candidate("the budget is what it is"), _candidate("weather")]
    assert _column("coverage", "what is the travel budget", *texts) == [1.0, 0.5, 0.0]


def test_rare_coverage_weighs_the_term_that_tells_candidates_apart() -> None:
    texts = [_candidate("fund fee"), _candidate("fund risk"), _candidate("fund name")]
    fee, risk, _ = _column("rare_coverage", "fund fee", *texts)
    assert fee == 1.0
    assert risk < 0.5  # holds only the term that all of them hold


def test_window_prefers_terms_that_meet() -> None:
    apart = "alpha " + "filler " * 60 + "beta"
    assert _column("window", "alpha beta", _candidate(apart), _candidate("x " * 50 + "alpha of beta")) == [0.5, 1.0]


def test_document_coverage_reads_the_other_candidates_of_the_document() -> None:
    table, paragraph = _candidate("| revenue | 5 |"), _candidate("of the segment transport")
    together = _column("document_coverage", "revenue of transport", table, paragraph)
    alone = _column("document_coverage", "revenue of transport", table)
    assert together == [1.0, 1.0]
    assert alone[0] < 1.0


def test_pairs_and_triples_see_word_order() -> None:
    same, turned = _candidate("net interest income"), _candidate("income interest net")
    assert _column("pairs", "net interest income", same, turned) == [1.0, 0.0]
    assert _column("triples", "net interest income", same, turned) == [1.0, 0.0]


def test_heading_reads_title_and_headings_alone() -> None:
    texts = [_candidate("x", title="差旅 报销"), _candidate("差旅报销")]
    titled, plain = _column("heading", "报销", *texts)
    assert (titled, plain) == (1.0, 0.0)


def test_periods_are_compared_not_matched_as_words() -> None:
    asked = (_symbol("period", "2024Q3", "[PERIOD_2024Q3]"),)
    right = _candidate("a", symbols=asked)
    wrong = _candidate("b", symbols=(_symbol("period", "2023Q3", "[PERIOD_2023Q3]"),))
    silent = _candidate("c")
    assert _column("period_match", "q", right, wrong, silent, symbols=asked) == [1.0, 0.0, 0.0]
    assert _column("period_mismatch", "q", right, wrong, silent, symbols=asked) == [0.0, 1.0, 0.0]
    assert _column("symbols", "q", right, wrong, silent, symbols=asked) == [1.0, 0.0, 0.0]


def test_a_channel_that_missed_a_candidate_gives_it_the_lowest_score_found() -> None:
    found, lower, missed = _candidate("a", dense=0.9), _candidate("b", dense=0.82), _candidate("c", sparse=1.0)
    dense = _column("dense", "q", found, lower, missed)
    assert dense == pytest.approx([1.0, 0.2, 0.2])


@given(st.text(), st.lists(st.text(), max_size=4))
def test_features_are_finite_for_any_text(question: str, texts: list[str]) -> None:
    matrix = feature_matrix(question, (), [_candidate(text) for text in texts])
    assert matrix.shape == (len(texts), len(FEATURES))
    assert np.isfinite(matrix).all()


@pytest.mark.parametrize("encoder_name", ["embedded", "lexical", "bge-m3"])
def test_reranker_puts_the_answer_first_and_scores_strangers_low(encoder_name: str) -> None:
    question = "差旅费报销要在多少天内提交"
    answer = _candidate("差旅费报销须在三十日内提交，逾期不予受理。", dense=0.9, sparse=14.0)
    near = _candidate("差旅标准按职级执行，住宿费凭发票。", dense=0.86, sparse=3.0)
    stranger = _candidate("The cafeteria opens at noon.", dense=0.76, sparse=0.0)
    scores = FeatureReranker.beside(encoder_name).score(question, (), [stranger, near, answer])
    assert scores == sorted(scores)
    assert scores[2] > 0.4
    assert scores[0] < 0.05


def test_reranker_scores_nothing_for_nothing() -> None:
    assert FeatureReranker.beside("embedded").score("q", (), []) == []


def test_reranker_reads_no_scores_of_an_encoder_it_was_not_fitted_on() -> None:
    low, high = _candidate("fee", dense=0.1, sparse=0.2), _candidate("fee", dense=0.9, sparse=9.0)
    one, two = FeatureReranker.beside("bge-m3").score("fee", (), [low, high])
    assert one == two


def test_no_weight_pulls_against_its_feature() -> None:
    for weights in (DENSE_WEIGHTS, SPARSE_WEIGHTS, WORD_WEIGHTS):
        named = dict(zip(FEATURES, weights.features, strict=True))
        assert named.pop("period_mismatch") <= 0
        assert named.pop("code_conflict") <= 0
        named.pop("length")
        assert min(named.values()) >= 0


def test_weights_of_another_number_of_features_are_refused() -> None:
    with pytest.raises(ValueError, match="weights are needed"):
        Weights((1.0,), bias=0.0)


def _questions(count: int, *, shift: float) -> list[Judged]:
    """Candidates whose first feature decides, the second is noise."""
    rng = np.random.default_rng(3)
    out: list[Judged] = []
    for n in range(count):
        right = np.arange(6) == n % 6
        features = rng.standard_normal((6, 2))
        features[:, 0] += shift * right
        out.append(Judged(str(n), features, right, features[~right]))
    return out


def test_fit_finds_the_feature_that_decides() -> None:
    open_ended = np.full(2, np.inf)
    direction = fit_direction([_questions(300, shift=3.0)], -open_ended, open_ended)
    assert direction[0] > 1
    assert abs(direction[1]) < 0.3 * direction[0]


def test_fit_keeps_its_bounds() -> None:
    direction = fit_direction([_questions(300, shift=3.0)], np.zeros(2), np.array([0.5, np.inf]))
    assert direction[0] == pytest.approx(0.5)
    assert direction[1] >= 0


def test_calibrated_scores_are_the_share_of_right_candidates() -> None:
    questions = _questions(600, shift=2.0)
    direction = np.array([1.0, 0.0])
    scale, bias = calibrate([questions], direction)
    scores = np.concatenate([1 / (1 + np.exp(-(scale * (q.features @ direction) + bias))) for q in questions])
    right = np.concatenate([q.right for q in questions])
    sure = scores > 0.5
    # A quarter of the wrong candidates counts twice over, so scores lie a little below the shares.
    assert scores[sure].mean() - 0.05 < right[sure].mean() < scores[sure].mean() + 0.15


def test_weights_are_written_by_name() -> None:
    weights = Weights.of(bias=-1.0, dense=2.0, length=-0.5)
    assert (weights.features[0], weights.features[-1], sum(weights.features)) == (2.0, -0.5, 1.5)
    assert str(weights) == "Weights.of(bias=-1, dense=2, length=-0.5)"
    with pytest.raises(ValueError, match="nonsense"):
        Weights.of(bias=0.0, nonsense=1.0)
