"""How far a passage may be relied on: who stands behind it, how well it fits, which period it is about."""

from __future__ import annotations

from typing import Final

from retrieval.types import Authority, Confidence, PeriodMatch

# Reranker score from which a passage counts as high, by who stands behind the document;
# a draft never does. The scores are comparable across questions (see `Reranker.score`).
_HIGH: Final[dict[Authority, float]] = {"official": 0.7, "approved": 0.7, "unknown": 0.85}

UNFITTED: Final = 0.3
"""For rerankers whose scores were not measured on questions without an answer."""

# Printed by `python -m retrieval.confidence_fit` on CMRC 2018 trial and TAT-QA dev: the highest score below which, in
# either set, no more than one question in ten has its best passage while the text that answers it is there.
_FITTED: Final[dict[str, float]] = {"features-dense": 0.09}


def low_below(reranker: str, setting: float | None) -> float:
    """Return the score below which a passage of this reranker (`name@revision`) is of low confidence."""
    return _FITTED.get(reranker.partition("@")[0], UNFITTED) if setting is None else setting


def confidence_of(authority: Authority, score: float, period_match: PeriodMatch, low: float = UNFITTED) -> Confidence:
    """Decide how far a passage may be relied on.

    Low: it speaks of another period than asked, or scores below `low`. High: an official or
    approved document from 0.7, one of unknown authority from 0.85, and the asked period, if
    there is one, is stated. Medium: the rest; so every draft, and every passage that
    leaves the asked period open.
    """
    if period_match == "mismatch" or score < low:
        return "low"
    if period_match == "unknown" or score < _HIGH.get(authority, 2.0):
        return "medium"
    return "high"
