"""Evaluates the auditor on labelled answers: does it keep the true ones and catch the others, kind by kind?

Input is JSON lines with `question`, `answer`, `context`, `supported` (1 or 0) and `kind`:
`gold` for the supported ones, else how the answer was made wrong.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agent.audit.auditor import Auditor
from agent.audit.off_question_fit import OffQuestionShares, PlacedAnswer, measure_both_ways
from agent.audit.plain import plain_passage
from agent.audit.verdicts import VerdictKind
from retrieval.labels import format_tag
from retrieval.types import Value

_LABEL = "doc_e7a1_s1"
_METRIC_NAMES = {"number_changed": "changed_number"}
OFF_QUESTION = "other_answer_same_passage"
"""The kind whose answers stand in their passage and answer another question."""
_TENANT = "evaluation"
# The weakest sentence decides about an answer.
_WORST_FIRST: tuple[VerdictKind, ...] = ("contradicted", "unsupported", "uncited", "partly_supported", "supported")


class AuditCase(BaseModel):
    """One labelled answer with the passage it cites."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str
    answer: str
    context: str
    supported: bool
    kind: str


class KindReport(Value):
    """What the auditor said about the answers of one kind."""

    kind: str
    cases: int
    verdicts: dict[str, int]
    """How many answers got each verdict (that of their weakest sentence)."""
    rejected: float
    """Share that was not `supported`: recall of a wrong kind, false alarms on `gold`."""
    balanced_accuracy: float | None
    """Mean of the shares of gold answers kept and of this kind's rejected; None for gold itself."""


class AuditReport(Value):
    """The whole evaluation."""

    kinds: tuple[KindReport, ...]
    cases: int
    seconds: float
    answers_per_second: float
    off_question: tuple[OffQuestionShares, ...] = ()
    """Fitted on one half of the passages and measured on the other, both ways; empty where there is no such kind."""

    @property
    def metrics(self) -> dict[str, float]:
        """Balanced accuracy by kind of wrong answer, and `gold.kept`: the share of right answers kept.

        `off_question` is the share found by that flag, `off_question.unflagged` the share of right answers
        without it; of the two ways of fitting and measuring, the worse.
        """
        found = {
            _METRIC_NAMES.get(k.kind, k.kind): k.balanced_accuracy
            for k in self.kinds
            if k.balanced_accuracy is not None and k.kind != OFF_QUESTION
        }
        found |= {f"{k.kind}.kept": 1.0 - k.rejected for k in self.kinds if k.balanced_accuracy is None}
        if self.off_question:
            found["off_question"] = min(way.found for way in self.off_question)
            found["off_question.unflagged"] = 1 - max(way.false_flags for way in self.off_question)
        return found

    def of(self, kind: str) -> KindReport:
        """Return the report of one kind.

        Raises:
            KeyError: No case is of this kind.
        """
        for report in self.kinds:
            if report.kind == kind:
                return report
        raise KeyError(kind)


def read_cases(path: Path) -> Iterator[AuditCase]:
    """Yield the cases of a JSON-lines file.

    Raises:
        ValueError: A line is no case.
    """
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield AuditCase.model_validate(json.loads(line))


def evaluate(cases: Iterable[AuditCase], auditor: Auditor) -> AuditReport:
    """Audit every case, each answer citing its passage, and report kind by kind; `gold` first."""
    verdicts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    cases = list(cases)
    started = time.perf_counter()
    for case in cases:
        verdicts[case.kind][verdict_on(case, auditor)] += 1
    seconds = time.perf_counter() - started
    kept = 1 - _rejected(verdicts["gold"]) if "gold" in verdicts else None
    total = sum(counter.total() for counter in verdicts.values())
    kinds = sorted(verdicts, key=lambda kind: (kind != "gold", kind))
    return AuditReport(
        kinds=tuple(_report(kind, verdicts[kind], kept) for kind in kinds),
        cases=total,
        seconds=round(seconds, 2),
        answers_per_second=round(total / seconds, 1) if seconds else 0.0,
        off_question=measure_off_question(cases, auditor),
    )


def measure_off_question(cases: Iterable[AuditCase], auditor: Auditor) -> tuple[OffQuestionShares, ...]:
    """Measure the flag `off_question`, both ways; empty where the cases hold too few of either kind."""
    try:
        return measure_both_ways(placed_answers(cases, auditor))
    except ValueError:
        return ()


def placed_answers(cases: Iterable[AuditCase], auditor: Auditor) -> list[PlacedAnswer]:
    """Return the right answers and those to other questions, as the rule for `off_question` sees them."""
    return [
        PlacedAnswer(
            group=case.context,
            rows=tuple(
                auditor.off_question_rows(
                    f"{case.answer} {format_tag(_LABEL)}",
                    passages=[plain_passage(_LABEL, case.context, tenant=_TENANT)],
                    question=case.question,
                    tenant=_TENANT,
                )
            ),
            off=case.kind == OFF_QUESTION,
        )
        for case in cases
        if case.kind in ("gold", OFF_QUESTION)
    ]


def verdict_on(case: AuditCase, auditor: Auditor) -> VerdictKind:
    """Return the verdict on a case's weakest sentence; `not_a_claim` when it has none that claims."""
    audit = auditor.audit(
        f"{case.answer} {format_tag(_LABEL)}",
        passages=[plain_passage(_LABEL, case.context, tenant=_TENANT)],
        labels={_LABEL},
        question=case.question,
        tier="strong",
        tenant=_TENANT,
    )
    said = {sentence.kind for sentence in audit.sentences}
    worst: VerdictKind = "not_a_claim"
    for kind in reversed(_WORST_FIRST):
        if kind in said:
            worst = kind
    return worst


def _rejected(verdicts: Counter[str]) -> float:
    return 1 - verdicts["supported"] / verdicts.total() if verdicts else 0.0


def _report(kind: str, verdicts: Counter[str], kept: float | None) -> KindReport:
    rejected = _rejected(verdicts)
    balanced = None if kind == "gold" or kept is None else (kept + rejected) / 2
    return KindReport(
        kind=kind,
        cases=verdicts.total(),
        verdicts=dict(verdicts.most_common()),
        rejected=rejected,
        balanced_accuracy=balanced,
    )
