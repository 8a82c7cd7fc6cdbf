"""Measures the auditor on sentences with known verdicts: macro-F1 over supported and not supported, kind by kind."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from agent.audit.auditor import Auditor
from agent.audit.plain import plain_passage
from agent.audit.sentence_set import JudgedSentence
from retrieval.labels import format_tag
from retrieval.types import Value

_LABEL, _NOT_OF_THE_RUN = "doc_5e47_s1", "doc_0bad_s9"
_TENANT = "evaluation"


class SentenceKind(Value):
    """What the auditor said of one kind."""

    kind: str
    language: str
    apart: bool
    sentences: int
    right: float
    """Share judged as it should be: called supported where it is, and else not."""
    contradicted: float


class SentenceReport(Value):
    """The whole measurement."""

    kinds: tuple[SentenceKind, ...]
    sentences: int
    macro_f1: float
    """Mean of the F1 of `supported` and of everything else, over all sentences."""
    macro_f1_apart: float
    """The same over the third that no rule was written against."""
    seconds: float

    @property
    def metrics(self) -> dict[str, float]:
        """Both figures, and the share judged rightly of each kind."""
        kinds = {f"{k.language}.{k.kind}{'.apart' if k.apart else ''}": k.right for k in self.kinds}
        return {"macro_f1": self.macro_f1, "macro_f1.apart": self.macro_f1_apart} | kinds


def evaluate_sentences(sentences: Iterable[JudgedSentence], auditor: Auditor) -> SentenceReport:
    """Audit every sentence alone, citing its passage.

    Raises:
        ValueError: one of the two parts lacks supported or other sentences.
    """
    started = time.perf_counter()
    judged = [(one, verdict_on_sentence(one, auditor)) for one in sentences]
    keys = Counter((one.language, one.kind, one.apart) for one, _ in judged)
    return SentenceReport(
        kinds=tuple(_kind(judged, *key) for key in sorted(keys, key=lambda key: (key[2], key[0], key[1]))),
        sentences=len(judged),
        macro_f1=_macro_f1(judged),
        macro_f1_apart=_macro_f1([(one, verdict) for one, verdict in judged if one.apart]),
        seconds=round(time.perf_counter() - started, 1),
    )


def verdict_on_sentence(one: JudgedSentence, auditor: Auditor) -> str:
    """Return the verdict: the only one, else the one that is not `supported`."""
    label = _LABEL if one.passage is not None else _NOT_OF_THE_RUN
    audit = auditor.audit(
        f"{one.text} {format_tag(label)}",
        passages=[plain_passage(_LABEL, one.passage, tenant=_TENANT)] if one.passage is not None else [],
        labels={_LABEL},
        question="",
        tier="strong",
        tenant=_TENANT,
    )
    said = [sentence.kind for sentence in audit.sentences if sentence.kind != "not_a_claim"]
    return next((kind for kind in said if kind != "supported"), "supported" if said else "not_a_claim")


def _macro_f1(judged: Sequence[tuple[JudgedSentence, str]]) -> float:
    pairs = Counter((one.supported, verdict == "supported") for one, verdict in judged)
    if not {True, False} <= {one.supported for one, _ in judged}:
        raise ValueError("sentences are measured on supported ones and others; one of the two is missing")
    wrong = pairs[(True, False)] + pairs[(False, True)]
    return sum(2 * pairs[(side, side)] / (2 * pairs[(side, side)] + wrong) for side in (True, False)) / 2


def _kind(judged: Sequence[tuple[JudgedSentence, str]], language: str, kind: str, apart: bool) -> SentenceKind:
    own = [(one, verdict) for one, verdict in judged if (one.language, one.kind, one.apart) == (language, kind, apart)]
    return SentenceKind(
        kind=kind,
        language=language,
        apart=apart,
        sentences=len(own),
        right=sum((verdict == "supported") is one.supported for one, verdict in own) / len(own),
        contradicted=sum(verdict == "contradicted" for _, verdict in own) / len(own),
    )
