"""The mathematics of fitting the feature reranker. Pure functions on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_RIDGE = 5.0
"""Strength of the pull towards zero, on standardised features with a total question weight of 1,000 per set."""
_STEPS = 3000


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of one question as features, and which of them come from the right text."""

    text_id: str
    features: Floats
    right: NDArray[np.bool_]
    without_right: Floats
    """Features of the wrong candidates, had the right text not been in the index."""
    texts: tuple[str, ...] = ()
    """Id of each candidate's text."""


def fit_direction(sets: Sequence[Sequence[Judged]], low: Floats, high: Floats) -> Floats:
    """Return the weights that put right candidates first: ridge listwise softmax, within bounds.

    Every set of questions counts the same (Cao et al., "Learning to rank: from pairwise approach to
    listwise approach", ICML 2007, with one relevance level; accelerated projected gradient).

    Args:
        sets: questions by data set.
        low: lowest weight per feature, `-inf` for none.
        high: highest weight per feature.
    """
    spread = np.concatenate([q.features for one in sets for q in one]).std(axis=0) + 1e-9
    features, right, present, weight = _stack(sets, spread)
    low, high = low * spread, high * spread
    weights = ahead = np.zeros(len(spread))
    step, momentum = 1e-3, 1.0
    value, gradient = _listwise(ahead, features, right, present, weight)
    for _ in range(_STEPS):
        moved = np.clip(ahead - step * gradient, low, high)
        new_value, _ = _listwise(moved, features, right, present, weight)
        change = moved - ahead
        if new_value > value + gradient @ change + change @ change / (2 * step):
            step /= 2
            continue
        new_momentum = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = moved + (momentum - 1) / new_momentum * (moved - weights)
        done = bool(np.abs(moved - weights).max() < 1e-7)
        weights, momentum = moved, new_momentum
        value, gradient = _listwise(ahead, features, right, present, weight)
        if done:
            break
    return weights / spread


def calibrate(sets: Sequence[Sequence[Judged]], direction: Floats) -> tuple[float, float]:
    """Return (scale, bias) that make `sigmoid(scale * x + bias)` the probability that a candidate is right.

    A quarter of the weight is on questions whose right text is missing, so that a best candidate
    is not taken for an answer (Platt 1999; Newton's method).
    """
    logits: list[Floats] = []
    labels: list[Floats] = []
    weights: list[Floats] = []
    for one in sets:
        for q in one:
            logits += [q.features @ direction, q.without_right @ direction]
            labels += [q.right.astype(float), np.zeros(len(q.without_right))]
            weights += [np.full(len(q.right), 1 / len(one)), np.full(len(q.without_right), 0.25 / len(one))]
    x = np.stack([np.concatenate(logits), np.ones(sum(len(part) for part in logits))], axis=1)
    y, w = np.concatenate(labels), np.concatenate(weights)
    solution = np.zeros(2)
    for _ in range(100):
        p = _sigmoid(x @ solution)
        gradient = x.T @ (w * (p - y))
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(2)
        change = np.linalg.solve(hessian, gradient)
        solution -= np.clip(change, -1, 1)
        if np.abs(change).max() < 1e-9:
            break
    return float(solution[0]), float(solution[1])


def _sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(x, -500, 500)))


def _stack(sets: Sequence[Sequence[Judged]], spread: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Pad the questions that can teach an order (some right, some wrong) to one array."""
    rows = [(q, 1000 / len(one)) for one in sets for q in one if q.right.any() and not q.right.all()]
    depth = max(len(q.right) for q, _ in rows)
    features = np.zeros((len(rows), depth, len(spread)))
    right, present = np.zeros((len(rows), depth)), np.zeros((len(rows), depth))
    for row, (q, _) in enumerate(rows):
        features[row, : len(q.right)] = q.features / spread
        right[row, : len(q.right)] = q.right
        present[row, : len(q.right)] = 1
    return features, right, present, np.array([weight for _, weight in rows])


def _listwise(
    weights: Floats, features: Floats, right: Floats, present: Floats, weight: Floats
) -> tuple[float, Floats]:
    logits = np.where(present > 0, features @ weights, -np.inf)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = odds / odds.sum(axis=1, keepdims=True)
    hit = (shares * right).sum(axis=1) + 1e-300
    among_right = shares * right / hit[:, None]
    value = -(weight * np.log(hit)).sum() + _RIDGE / 2 * weights @ weights
    gradient = np.einsum("q,qn,qnf->f", weight, shares - among_right, features) + _RIDGE * weights
    return float(value), gradient
