"""Fits and measures the rule that finds true sentences which answer another question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.audit.calibration import LinearRule, at_false_share, fit_rule
from retrieval.types import Value

FALSE_SHARE = 0.06
"""Of right answers the share that the fitting half may flag, to stay below 0.10 on answers not seen."""


@dataclass(frozen=True, slots=True)
class PlacedAnswer:
    """An answer, each of its sentences described as it stands to the question and the source."""

    group: str
    """Its passage; answers of one passage are fitted on or measured, never both."""
    rows: tuple[Mapping[str, float], ...]
    off: bool
    """It answers another question."""


class OffQuestionShares(Value):
    """Found and falsely flagged shares on one half, with a rule fitted on the other."""

    found: float
    false_flags: float


def fit_off_question(answers: Sequence[PlacedAnswer]) -> LinearRule:
    """Fit weights on all sentences and the threshold on whole answers.

    Raises:
        ValueError: there are not answers of both kinds.
    """
    pairs = [(row, answer.off) for answer in answers for row in answer.rows]
    rule = fit_rule([row for row, _ in pairs], [off for _, off in pairs])
    return at_false_share(rule, [_score(rule, a) for a in answers if a.rows and not a.off], FALSE_SHARE)


def measure_both_ways(answers: Sequence[PlacedAnswer]) -> tuple[OffQuestionShares, ...]:
    """Fit on one half of the passages and measure on the other, then the other way round.

    An answer whose place cannot be told is never flagged and counts as such.
    """
    halves = [[a for a in answers if _half(a.group) == half] for half in (0, 1)]
    return tuple(_measure(fit_off_question(halves[half]), halves[1 - half]) for half in (0, 1))


def _measure(rule: LinearRule, answers: Sequence[PlacedAnswer]) -> OffQuestionShares:
    def share(off: bool) -> float:
        those = [answer for answer in answers if answer.off is off]
        return sum(bool(a.rows) and _score(rule, a) > rule.threshold for a in those) / len(those) if those else 0.0

    return OffQuestionShares(found=share(True), false_flags=share(False))


def _score(rule: LinearRule, answer: PlacedAnswer) -> float:
    """An answer is as far off as the sentence that is least so."""
    return min(rule.score(row) for row in answer.rows)


def _half(group: str) -> int:
    return hashlib.sha256(group.encode()).digest()[-1] % 2
