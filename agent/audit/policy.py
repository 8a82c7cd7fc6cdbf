"""What follows from an audit: which sentences failed, which of two answers holds better, when one is withheld."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from agent.audit.verdicts import Audit, Evidence, Risk, SentenceVerdict
from agent.audit.wording import AnswerLanguage
from agent.settings import AuditPolicy
from retrieval.labels import format_tag
from retrieval.neutralise import neutralise_line
from retrieval.types import Passage

_FAILING: Final = frozenset({"contradicted", "unsupported", "uncited"})
_RANK: Final[dict[Risk, int]] = {"low": 0, "medium": 1, "high": 2}
_NEAREST: Final = 3
"""Sources that an explanation names."""

_KINDS: Final[dict[str, tuple[str, str]]] = {
    "partly_supported": (
        "{n} 句有数值或引文不见于来源",
        "{n} with a figure or quotation that the source does not have",
    ),
    "contradicted": ("{n} 句与来源相矛盾", "{n} contradicted by the source"),
    "unsupported": ("{n} 句在来源中没有依据", "{n} without support in the source"),
    "uncited": ("{n} 句没有注明来源", "{n} without a source"),
    "unhedged": ("{n} 句把质量不高的结果说成确定的", "{n} that states a result of low quality as certain"),
    "unknown": ("{n} 句引用了并不存在的来源", "{n} citing a source that does not exist"),
}


def failed_sentences(audit: Audit) -> tuple[SentenceVerdict, ...]:
    """Return the sentences that do not hold, in order."""
    return tuple(each for each in audit.sentences if _fails(each))


def _fails(verdict: SentenceVerdict) -> bool:
    unhedged = "unhedged" in verdict.flags
    return verdict.kind in _FAILING or bool(verdict.unknown_labels) or unhedged or _misstates(verdict)


def _misstates(verdict: SentenceVerdict) -> bool:
    """Tell whether a sentence that is carried in part states a figure or a quotation that its source does not."""
    return verdict.kind == "partly_supported" and any(
        each.rule in ("figure", "quote") and not each.passed for each in verdict.evidence
    )


def is_clean(audit: Audit) -> bool:
    """Tell whether nothing has to follow from an audit."""
    return _severity(audit) == 0


def _severity(audit: Audit) -> int:
    """Rank the risk; a sentence that does not hold is no low risk where something follows from it."""
    return max(_RANK[audit.risk], 1 if failed_sentences(audit) or audit.violations else 0)


def holds_better(first: Audit, second: Audit) -> bool:
    """Tell whether `first` is the audit of the better answer: less risk, then fewer sentences that do not hold."""
    return _badness(first) < _badness(second)


def _badness(audit: Audit) -> tuple[int, int]:
    return _severity(audit), len(failed_sentences(audit)) + len(audit.violations)


def must_withhold(audit: Audit, policy: AuditPolicy, at: Risk) -> bool:
    """Tell whether a tenant's readers must not get the answer."""
    return policy == "withhold" and _severity(audit) >= _RANK[at]


def withheld_text(audit: Audit, passages: Sequence[Passage], language: AnswerLanguage) -> str:
    """Return what the reader gets in the place of a withheld answer: how it failed, and where to look instead."""
    zh = language == "zh"
    failed = failed_sentences(audit)
    counts = Counter(_sort_of(each) for each in failed)
    parts = [_KINDS[kind][0 if zh else 1].format(n=counts[kind]) for kind in _KINDS if counts[kind]]
    if zh:
        why = f"（{'，'.join(parts)}）" if parts else ""
        text = f"这个回答没有通过出处核对，因此不予给出{why}。"
    else:
        why = f" ({', '.join(parts)})" if parts else ""
        text = f"This answer is withheld: it did not hold against its sources{why}."
    nearest = [_named(each, language) for each in passages[:_NEAREST]]
    if nearest:
        text += ("请直接查阅：" if zh else " Please read the sources themselves: ") + "; ".join(nearest)
    return text


def _sort_of(verdict: SentenceVerdict) -> str:
    if verdict.unknown_labels:
        return "unknown"
    return "unhedged" if verdict.kind == "supported" else verdict.kind


def _named(passage: Passage, language: AnswerLanguage) -> str:
    chunk = passage.chunk
    title = neutralise_line(chunk.title)
    if language == "zh":
        place = f"第 {chunk.page_start} 页" if chunk.page_start is not None else ""
        return f"《{title}》{place} {format_tag(passage.label)}"
    place = f", page {chunk.page_start}" if chunk.page_start is not None else ""
    return f"“{title}”{place} {format_tag(passage.label)}"


def withheld_audit(audit: Audit, text: str, language: AnswerLanguage) -> Audit:
    """Return the audit that goes with an explanation: the risk and violations of what was withheld, no claim."""
    detail = "未予给出的回答" if language == "zh" else "the answer that was withheld"
    said = SentenceVerdict(
        index=0,
        start=0,
        end=len(text),
        text=text,
        kind="not_a_claim",
        evidence=(Evidence(rule="policy", passed=True, detail=detail),),
    )
    return Audit(risk=audit.risk, sentences=(said,), violations=audit.violations, action="withheld")
