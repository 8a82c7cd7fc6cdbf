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


REVISION: Final = "1"
DENSE_WEIGHTS: Final = Weights(
    (1.0, 1.0, 0.3, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, -1.0, 0.0), bias=-4.0
)
SPARSE_WEIGHTS: Final = Weights(
    (0.0, 0.0, 0.5, 0.7, 1.2, 1.5, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, -1.0, 0.0), bias=-4.0
)
