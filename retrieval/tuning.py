"""Recalibrates the trigger's thresholds from the decision log. Pure: it proposes, nobody is changed.

A logged decision tells its score, and what became of its question. Where an answer's sources held, retrieving was
right; where the documents did not answer, or no source was needed, it would have been in vain. What a question
in tier none would have found is not known: it counts as one that wanted nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.decisions import Decision
from retrieval.types import Value

NEEDED_ANSWERED = 40
NEEDED_OTHERS = 20
"""Below these a share moves by more than a few hundredths with every outcome."""
REACHED = 0.97
STRONG = 0.80
"""Shares of the questions that the documents answer: these goals are proposed for, when nobody names others."""
_STEPS = tuple(round(0.05 * n, 2) for n in range(1, 20))


class Outcome(Value):
    """What a decision scored, and whether its question was answered from the documents."""

    score: float
    answered: bool


class TradeOff(Value):
    """What a threshold would do."""

    threshold: float
    reached: float
    """Share of the answered questions at or above it."""
    in_vain: float
    """Share of the others at or above it."""


class Tuning(Value):
    """What the log says of the trigger's thresholds."""

    answered: int
    others: int
    needed_answered: int = NEEDED_ANSWERED
    needed_others: int = NEEDED_OTHERS
    weak_now: float
    strong_now: float
    now: tuple[TradeOff, ...] = ()
    """At the present thresholds: weak, strong."""
    curve: tuple[TradeOff, ...] = ()
    weak: float | None = None
    """Proposed; None with too few outcomes."""
    strong: float | None = None
    proposed: tuple[TradeOff, ...] = ()

    @property
    def enough(self) -> bool:
        """Tell whether there are outcomes enough to propose anything."""
        return self.answered >= self.needed_answered and self.others >= self.needed_others


def outcomes(decisions: Iterable[Decision]) -> list[Outcome]:
    """Return what is known of the trigger's decisions: those that were scored and whose run has ended."""
    return [
        Outcome(score=each.signals["score"], answered=each.outcome == "answered")
        for each in decisions
        if each.kind == "trigger" and each.outcome is not None and "score" in each.signals
    ]


def tune(
    known: Sequence[Outcome], *, weak: float, strong: float, reached: float = REACHED, strongly: float = STRONG
) -> Tuning:
    """Draw the trade-off curve and propose the highest thresholds that reach what they should.

    Args:
        known: outcomes from the log.
        weak: the present threshold.
        strong: the present threshold.
        reached: share of answered questions that are to reach weak or strong.
        strongly: share of them that are to reach strong.
    """
    answered = [each.score for each in known if each.answered]
    others = [each.score for each in known if not each.answered]
    tuning = Tuning(answered=len(answered), others=len(others), weak_now=weak, strong_now=strong)
    if not tuning.enough:
        return tuning
    new_weak = _threshold(answered, reached)
    new_strong = max(_threshold(answered, strongly), new_weak)
    return tuning.model_copy(
        update={
            "now": tuple(_trade_off(t, answered, others) for t in (weak, strong)),
            "curve": tuple(_trade_off(t, answered, others) for t in _STEPS),
            "weak": new_weak,
            "strong": new_strong,
            "proposed": tuple(_trade_off(t, answered, others) for t in (new_weak, new_strong)),
        }
    )


def _threshold(scores: Sequence[float], share: float) -> float:
    """Return the highest threshold, in hundredths, that `share` of the scores reach."""
    steps = (n / 100 for n in range(100, 0, -1))
    return next((t for t in steps if _share(scores, t) >= share), 0.0)


def _trade_off(threshold: float, answered: Sequence[float], others: Sequence[float]) -> TradeOff:
    return TradeOff(threshold=threshold, reached=_share(answered, threshold), in_vain=_share(others, threshold))


def _share(scores: Sequence[float], threshold: float) -> float:
    return sum(score >= threshold for score in scores) / len(scores)
