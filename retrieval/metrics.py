"""Ranking metrics over questions with one right text each, and the interval of a paired difference. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import numpy as np

from retrieval.types import Value


class Interval(Value):
    """A difference of means with its 95 % interval."""

    difference: float
    low: float
    high: float


def rank_of(ranking: Sequence[str], relevant: str) -> int | None:
    """Return the 1-based rank of the right id; None when it was not found. Repeats in `ranking` count once."""
    seen = dict.fromkeys(ranking)
    return next((rank for rank, found in enumerate(seen, start=1) if found == relevant), None)


def recall_at(rank: int | None, k: int) -> float:
    """Return 1 when the right text is among the first `k`, else 0."""
    return float(rank is not None and rank <= k)


def reciprocal_rank(rank: int | None, k: int) -> float:
    """Return 1/rank within the first `k`, else 0."""
    return 1 / rank if rank is not None and rank <= k else 0.0


def ndcg_at(rank: int | None, k: int) -> float:
    """Return normalised discounted cumulative gain with one relevant text: 1 / log2(rank + 1) within the first `k`.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (2002).
    """
    return 1 / log2(rank + 1) if rank is not None and rank <= k else 0.0


def per_question(ranks: Sequence[int | None]) -> dict[str, list[float]]:
    """Return the values of `recall@1`, `recall@5`, `mrr@10` and `ndcg@10`, one per question, in order."""
    return {
        "recall@1": [recall_at(rank, 1) for rank in ranks],
        "recall@5": [recall_at(rank, 5) for rank in ranks],
        "mrr@10": [reciprocal_rank(rank, 10) for rank in ranks],
        "ndcg@10": [ndcg_at(rank, 10) for rank in ranks],
    }


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
    if len(ours) != len(theirs):
        raise ValueError(f"paired lists must be of one length, got {len(ours)} and {len(theirs)}")
    if not ours:
        return Interval(difference=0.0, low=0.0, high=0.0)
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = np.array([rng.choice(differences, size=len(differences)).mean() for _ in range(rounds)])
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(difference=float(differences.mean()), low=float(low), high=float(high))
