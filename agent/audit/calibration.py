"""Fitted parameters of the auditor: a linear rule is a weight per feature, a bias and a threshold, kept in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from agent.errors import AuditCalibrationError
from retrieval.types import Value

_SHIPPED = "calibration.json"
_REGULARISATION = 20.0
"""L2, on standardised features. 5 to 20 find the same share within 0.03 on the half that was not fitted on."""
_ROUNDS = 40


class LinearRule(Value):
    """Says yes where `bias` plus the weighted features is above `threshold`."""

    weights: dict[str, float]
    bias: float
    threshold: float

    def score(self, features: Mapping[str, float]) -> float:
        """Return the score; features without a weight count nothing, missing ones are 0."""
        return self.bias + sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())

    def holds(self, features: Mapping[str, float]) -> bool:
        """Tell whether the score is above the threshold."""
        return self.score(features) > self.threshold


class Calibration(Value):
    """All fitted parameters."""

    off_question: LinearRule


def load_calibration(path: Path | None = None) -> Calibration:
    """Read a file that `attest eval audit --fit` wrote; None reads the one that comes with attest.

    Raises:
        AuditCalibrationError: the file cannot be read or is none.
    """
    return _shipped() if path is None else _read(path)


@lru_cache(maxsize=1)
def _shipped() -> Calibration:
    return Calibration.model_validate_json(files("agent.audit").joinpath(_SHIPPED).read_text(encoding="utf-8"))


def _read(path: Path) -> Calibration:
    try:
        return Calibration.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as exc:
        raise AuditCalibrationError(
            f"the auditor's calibration {path} cannot be read ({type(exc).__name__}); "
            "write it anew with `attest eval audit FILE --fit PATH`, or leave the setting empty"
        ) from exc


def fit_rule(rows: Sequence[Mapping[str, float]], wanted: Sequence[bool]) -> LinearRule:
    """Fit a logistic regression, both classes weighing the same; the threshold is left at 0.

    Raises:
        ValueError: no rows, or all of one class.
    """
    if not rows or len(set(wanted)) < 2:
        raise ValueError("fitting needs examples of both classes")
    names = sorted({name for row in rows for name in row})
    table: NDArray[np.float64] = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    target: NDArray[np.float64] = np.array(wanted, dtype=np.float64)
    mean: NDArray[np.float64] = table.mean(axis=0)
    spread: NDArray[np.float64] = table.std(axis=0)
    spread[spread < 1e-9] = 1.0
    weights = _newton(np.column_stack([(table - mean) / spread, np.ones(len(table))]), target)
    raw: NDArray[np.float64] = weights[:-1] / spread
    bias = float(weights[-1]) - float(np.dot(raw, mean))
    return LinearRule(
        weights={name: round(float(weight), 6) for name, weight in zip(names, raw, strict=True)},
        bias=round(bias, 6),
        threshold=0.0,
    )


def _newton(x: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimise the regularised logistic loss; the last column of `x` is the constant."""
    positive = float(target.mean())
    share: NDArray[np.float64] = np.where(target > 0, 0.5 / positive, 0.5 / (1 - positive))
    penalty: NDArray[np.float64] = np.full(len(x[0]), _REGULARISATION)
    weights: NDArray[np.float64] = np.zeros(len(x[0]))
    for _ in range(_ROUNDS):
        guess: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient: NDArray[np.float64] = x.T @ (share * (guess - target)) + penalty * np.append(weights[:-1], 0.0)
        curvature: NDArray[np.float64] = (x * (share * guess * (1 - guess))[:, None]).T @ x + np.diag(penalty)
        weights = weights - np.linalg.solve(curvature, gradient)
    return weights


def at_false_share(rule: LinearRule, scores: Sequence[float], false_share: float) -> LinearRule:
    """Return the rule with the threshold that at most `false_share` of `scores` (of the class not wanted) pass."""
    ordered = sorted(scores)
    return rule.model_copy(update={"threshold": ordered[min(len(ordered) - 1, int((1 - false_share) * len(ordered)))]})
