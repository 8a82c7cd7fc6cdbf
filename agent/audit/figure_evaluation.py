"""Measures the auditor on statements about figures: false ones found, true ones kept, kind by kind."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from agent.audit.auditor import Auditor
from agent.audit.figure_writing import FigureStatement
from agent.audit.plain import plain_passage
from retrieval.labels import format_tag
from retrieval.types import Value

_LABEL = "doc_f19e_s1"
_TENANT = "evaluation"


class FigureKind(Value):
    """What the auditor said of the statements of one kind."""

    kind: str
    """How they were made."""
    language: str
    true: bool
    statements: int
    right: float
    """Share judged as it should be: a true one `supported`, a false one anything else."""
    contradicted: float
    """Share called contradicted."""


class FigureReport(Value):
    """The whole measurement."""

    kinds: tuple[FigureKind, ...]
    statements: int
    detection: float
    """Share of false statements that are not called supported."""
    specificity: float
    """Share of true statements that are called supported."""
    seconds: float

    @property
    def metrics(self) -> dict[str, float]:
        """The two shares, and those of each kind."""
        kinds = {f"{k.language}.{'true' if k.true else 'false'}.{k.kind}": k.right for k in self.kinds}
        return {"detection": self.detection, "specificity": self.specificity} | kinds


def evaluate_figures(statements: Iterable[FigureStatement], auditor: Auditor) -> FigureReport:
    """Audit every statement, each citing its context.

    Raises:
        ValueError: no true or no false statement.
    """
    started = time.perf_counter()
    said: Counter[tuple[str, str, bool, str]] = Counter()
    for context, group in groupby(statements, key=lambda statement: statement.context):
        book = auditor.read([plain_passage(_LABEL, context, tenant=_TENANT)], tenant=_TENANT)
        for one in group:
            audit = auditor.audit(
                f"{one.statement} {format_tag(_LABEL)}",
                passages=(),
                labels={_LABEL},
                question=one.question,
                tier="strong",
                tenant=_TENANT,
                book=book,
            )
            kinds = {sentence.kind for sentence in audit.sentences}
            verdict = "contradicted" if "contradicted" in kinds else kinds.pop() if len(kinds) == 1 else "mixed"
            said[(one.language, one.kind, one.true, verdict)] += 1
    return FigureReport(
        kinds=tuple(
            _kind(said, *key) for key in sorted({key[:3] for key in said}, key=lambda k: (k[0], not k[2], k[1]))
        ),
        statements=said.total(),
        detection=1 - _share(said, true=False),
        specificity=_share(said, true=True),
        seconds=round(time.perf_counter() - started, 1),
    )


def _share(said: Counter[tuple[str, str, bool, str]], *, true: bool) -> float:
    """Share of the true or the false ones that are called supported."""
    counts = [(verdict, count) for (_, _, is_true, verdict), count in said.items() if is_true is true]
    total = sum(count for _, count in counts)
    if not total:
        raise ValueError("figures are measured on true and false statements; one of the two is missing")
    return sum(count for verdict, count in counts if verdict == "supported") / total


def _kind(said: Counter[tuple[str, str, bool, str]], language: str, kind: str, true: bool) -> FigureKind:
    verdicts = Counter[str]()
    for (*key, verdict), count in said.items():
        if key == [language, kind, true]:
            verdicts[verdict] += count
    supported = verdicts["supported"] / verdicts.total()
    return FigureKind(
        kind=kind,
        language=language,
        true=true,
        statements=verdicts.total(),
        right=supported if true else 1 - supported,
        contradicted=verdicts["contradicted"] / verdicts.total(),
    )
