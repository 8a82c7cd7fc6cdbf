"""Ranking metrics over questions with one right text each, and paired differences between two rankings. Pure functions.

The metrics are those of `ir_measures` (trec_eval's), the intervals and tests those of scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from retrieval.types import Value

DEPTH = 10
"""How far down a ranking the metrics look."""


class Interval(Value):
    """A difference of means with its 95 % interval."""

    difference: float
    low: float
    high: float


class Difference(Interval):
    """A paired difference with the p-value of a permutation test of "there is none", two-sided."""

    p: float
    better: int
    """Questions on which the first is better."""
    worse: int


def rank_of(ranking: Sequence[str], relevant: str) -> int | None:
    """Return the 1-based rank of the right id; None when it was not found. Repeats in `ranking` count once."""
    seen = dict.fromkeys(ranking)
    return next((rank for rank, found in enumerate(seen, start=1) if found == relevant), None)


def recall_at(rank: int | None, k: int) -> float:
    """Return 1 when the right text is among the first `k`, else 0."""
    return float(rank is not None and rank <= k)


def per_question(ranks: Sequence[int | None]) -> dict[str, list[float]]:
    """Return the values of `recall@1`, `recall@5`, `mrr@10` and `ndcg@10`, one per question, in order."""
    import ir_measures
    from ir_measures import RR, Qrel, R, ScoredDoc, nDCG

    library: Any = ir_measures
    names = {"recall@1": R @ 1, "recall@5": R @ 5, "mrr@10": RR @ DEPTH, "ndcg@10": nDCG @ DEPTH}
    values = {name: [0.0] * len(ranks) for name in names}
    found = {str(row): rank for row, rank in enumerate(ranks) if rank is not None and rank <= DEPTH}
    if not found:
        return values
    right = [Qrel(row, "right", 1) for row in found]
    # What stands before the right text is of no account, only how much of it.
    ranking = [
        ScoredDoc(row, "right" if place == rank else f"wrong-{place}", -float(place))
        for row, rank in found.items()
        for place in range(1, rank + 1)
    ]
    by_measure = {str(measure): name for name, measure in names.items()}
    for metric in library.iter_calc(list(names.values()), right, ranking):
        values[by_measure[str(metric.measure)]][int(metric.query_id)] = float(metric.value)
    return values


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def paired_bootstrap(ours: Sequence[float], theirs: Sequence[float], *, rounds: int = 2000, seed: int = 0) -> Interval:
    """Return mean(ours) - mean(theirs) with its 95 % percentile interval over resampled questions.

    Both lists hold the same questions in the same order (Efron and Tibshirani 1993, ch. 13;
    Sakai, SIGIR 2006). Equal input and seed give an equal interval. Nothing gives zeros.

    Raises:
        ValueError: the lists differ in length.
    """
    differences = _differences(ours, theirs)
    if not differences.any():
        return Interval(difference=0.0, low=0.0, high=0.0)
    import scipy.stats

    library: Any = scipy.stats
    if len(differences) == 1:  # one question cannot be resampled
        return Interval(difference=differences[0], low=differences[0], high=differences[0])
    resampled = library.bootstrap((differences,), np.mean, n_resamples=rounds, method="percentile", rng=_rng(seed))
    interval = resampled.confidence_interval
    return Interval(difference=float(differences.mean()), low=float(interval.low), high=float(interval.high))


def paired_difference(
    ours: Sequence[float], theirs: Sequence[float], *, rounds: int = 9999, seed: int = 0
) -> Difference:
    """Return the paired difference of two rankings of the same questions, its interval and its p-value.

    The test swaps the two values of each question at random (Fisher's randomisation test; Smucker,
    Allan and Carterette, CIKM 2007). Without any difference p is 1.

    Raises:
        ValueError: the lists differ in length.
    """
    import scipy.stats

    library: Any = scipy.stats
    differences = _differences(ours, theirs)
    interval = paired_bootstrap(ours, theirs, seed=seed)
    p = 1.0
    if differences.any():
        # With one sample the null distribution is made by changing signs: the two values swapped.
        tested = library.permutation_test(
            (differences,), np.mean, permutation_type="samples", n_resamples=rounds, batch=500, rng=_rng(seed)
        )
        p = 1.0 if isnan(tested.pvalue) else float(tested.pvalue)
    return Difference(
        **interval.model_dump(), p=p, better=int((differences > 0).sum()), worse=int((differences < 0).sum())
    )


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _differences(ours: Sequence[float], theirs: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if len(ours) != len(theirs):
        raise ValueError(f"paired lists must be of one length, got {len(ours)} and {len(theirs)}")
    return np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
