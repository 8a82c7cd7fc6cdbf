"""Weights of the feature reranker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.rerankers.features import FEATURES


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight per feature, in the order of `FEATURES`, and the bias."""

    features: tuple[float, ...]
    bias: float

    def __post_init__(self) -> None:
        if len(self.features) != len(FEATURES):
            raise ValueError(f"{len(FEATURES)} weights are needed, got {len(self.features)}")

    def vector(self) -> NDArray[np.float64]:
        """Return the weights as float64 (len(FEATURES),)."""
        return np.array(self.features)


REVISION: Final = "2"
"""Changes with any weight or feature."""

# Fitted by `fit.py` on the teaching halves of CMRC 2018 trial (CC BY-SA 4.0) and TAT-QA dev (CC BY 4.0), through the
# whole first stage. On the other halves, beside exact BM25 over the whole texts: recall@1 0.976 (0.974) and
# 0.616 (0.542), recall@5 0.990 (0.988) and 0.803 (0.765).
DENSE_WEIGHTS: Final = Weights(
    (1.141, 0.712, 0.868, 0.42, 0.502, 0.0, 0.291, 0.497, 1.882, 3.527, 1.144, 2.999, 0.0, 0.3, 0.2, -0.561, -0.573),
    bias=-7.695,
)
"""For the embedded encoder's cosines and BM25."""

# Same data: recall@1 0.971 and 0.608, recall@5 0.988 and 0.801.
SPARSE_WEIGHTS: Final = Weights(
    (0.0, 0.0, 1.27, 0.566, 0.664, 0.0, 0.187, 0.33, 2.202, 3.844, 1.576, 3.0, 0.0, 0.3, 0.2, -0.321, -0.587),
    bias=-8.539,
)
"""For BM25 without a dense model."""

# Same data: recall@1 0.971 and 0.533, recall@5 0.988 and 0.780.
WORD_WEIGHTS: Final = Weights(
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.638, 0.612, 0.983, 2.086, 3.051, 1.78, 2.998, 0.208, 0.3, 0.2, -0.3, -0.607),
    bias=-5.066,
)
"""For encoders whose scores lie on a scale these weights never saw: words and symbols alone."""
