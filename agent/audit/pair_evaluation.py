"""Measures how often an answer is called supported by a passage of another document: it should hardly ever be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from agent.audit.auditor import Auditor
from agent.audit.evaluation import AuditCase
from agent.audit.figure_writing import FigureStatement
from agent.audit.plain import plain_passage
from retrieval.labels import format_tag
from retrieval.types import Value

_LABEL = "doc_9a1e_s1"
_TENANT = "evaluation"


class PairReport(Value):
    """What the auditor said of answers beside passages that have nothing to do with them."""

    pairs: int
    sentences: int
    verdicts: dict[str, int]
    supported: float
    """Share of sentences that are called supported."""

    @property
    def metrics(self) -> dict[str, float]:
        """`unsupported`: share of sentences that are not called supported."""
        return {"unsupported": 1 - self.supported}


def random_pairs(
    cases: Iterable[AuditCase], statements: Iterable[FigureStatement], count: int, seed: int = 5
) -> list[AuditCase]:
    """Return right answers, half of them Chinese, each beside a passage drawn from another document.

    Raises:
        ValueError: there are not two passages of either sort.
    """
    randoms = random.Random(seed)
    chinese = [case for case in cases if case.kind == "gold"]
    english = [
        AuditCase(question=s.question, answer=s.statement, context=s.context, supported=True, kind="gold")
        for s in statements
        if s.true and s.language == "en"
    ]
    return [*_paired(chinese, count // 2, randoms), *_paired(english, count - count // 2, randoms)]


def _paired(cases: Sequence[AuditCase], count: int, randoms: random.Random) -> list[AuditCase]:
    contexts = sorted({case.context for case in cases})
    if len(contexts) < 2:
        raise ValueError("pairs of different documents need two documents")
    found: list[AuditCase] = []
    while len(found) < count:
        case, other = randoms.choice(cases), randoms.choice(contexts)
        if other != case.context:
            found.append(case.model_copy(update={"context": other, "supported": False, "kind": "random"}))
    return found


def evaluate_pairs(pairs: Sequence[AuditCase], auditor: Auditor) -> PairReport:
    """Audit every answer, citing the passage beside it."""
    said: Counter[str] = Counter()
    for pair in pairs:
        audit = auditor.audit(
            f"{pair.answer} {format_tag(_LABEL)}",
            passages=[plain_passage(_LABEL, pair.context, tenant=_TENANT)],
            labels={_LABEL},
            question=pair.question,
            tier="strong",
            tenant=_TENANT,
        )
        said.update(sentence.kind for sentence in audit.sentences if sentence.kind != "not_a_claim")
    total = said.total()
    return PairReport(
        pairs=len(pairs),
        sentences=total,
        verdicts=dict(said.most_common()),
        supported=said["supported"] / total if total else 0.0,
    )
