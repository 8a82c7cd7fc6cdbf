"""The verdict rules: from what the checks found to one word a sentence, and one risk an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.audit.entailment import CONTRADICTS_AT, Stance
from agent.audit.figure_finding import CONTRADICTS, FOUND, FigureFinding, is_minor
from agent.audit.flips import Flip
from agent.audit.quotes import QuoteFinding
from agent.audit.restrictors import Restrictor
from agent.audit.substitution import Substitution
from agent.audit.support import Support
from agent.audit.verdicts import Risk, SentenceVerdict, VerdictKind
from agent.settings import AuditSettings

_INVENTED = frozenset({"missing", "stitched", "gap"})
_CONFIRMS = FOUND - {"question", "page"} | {"unit_unknown"}
_TELLING = frozenset({"amount", "percent", "percent_points", "quantity"})
"""Figures that hardly stand in a source by chance, whatever words stand round them."""
_DOUBTFUL = frozenset({"period_above", "period_not_asked", "unit_unknown"})


@dataclass(frozen=True, slots=True)
class Findings:
    """All that the checks found about one cited sentence."""

    length: int
    """Characters of the sentence."""
    figures: Sequence[FigureFinding]
    quotes: Sequence[QuoteFinding]
    flip: Flip | None
    support: Support
    substitution: Substitution | None = None
    restrictor: Restrictor | None = None
    stance: Stance | None = None
    """What a model says of the sentence and the place of its source; None where none was asked."""
    wrong_period: bool = False
    """Every cited passage belongs to another period than was asked for, and the sentence does not say so."""

    @property
    def invented_quote(self) -> bool:
        """Tell whether a quotation stands in no source."""
        return any(quote.outcome in _INVENTED for quote in self.quotes)


def judge(findings: Findings, settings: AuditSettings) -> VerdictKind:
    """Return the verdict on a sentence that cites at least one source whose text is at hand."""
    if findings.flip is not None or any(f.outcome in CONTRADICTS for f in findings.figures):
        return "contradicted"
    if findings.substitution is not None and findings.substitution.moved:
        return "contradicted"
    if findings.stance is not None and findings.stance.contradicts >= CONTRADICTS_AT:
        return "contradicted"
    if findings.invented_quote:
        return "unsupported"
    kind = _by_words(findings, settings)
    missing = [f for f in findings.figures if f.outcome == "missing" and not is_minor(f)]
    if missing:
        kind = "partly_supported" if _confirmed(findings) and kind != "unsupported" else "unsupported"
    return "partly_supported" if kind == "supported" and _has_doubt(findings) else kind


def _by_words(findings: Findings, settings: AuditSettings) -> VerdictKind:
    support = findings.support
    if support.kind == "verbatim":
        return "supported"
    if support.kind == "other_language":
        if _mostly_quoted(findings):
            return "supported"
        return "partly_supported" if _confirmed(findings) or support.names else "unsupported"
    if support.kind == "no_terms":
        return "supported" if _confirmed(findings) or _mostly_quoted(findings) else "unsupported"
    needed = settings.supported_share
    if _confirmed(findings) or _mostly_quoted(findings):
        needed = settings.supported_share_with_figures
    if support.score >= needed:
        return "supported"
    if any(f.outcome in _CONFIRMS and f.symbol.kind in _TELLING for f in findings.figures):
        return "partly_supported"
    return "partly_supported" if support.score >= settings.partly_share else "unsupported"


def _confirmed(findings: Findings) -> bool:
    """Tell whether a figure of the sentence stands in a source; the question's or a page's number confirms nothing."""
    return any(f.outcome in _CONFIRMS for f in findings.figures)


def _mostly_quoted(findings: Findings) -> bool:
    quoted = sum(len(quote.text) for quote in findings.quotes if quote.outcome == "verbatim")
    return 2 * quoted >= findings.length


def _has_doubt(findings: Findings) -> bool:
    return (
        findings.wrong_period
        or findings.substitution is not None
        or findings.restrictor is not None
        or any(f.outcome in _DOUBTFUL for f in findings.figures)
        or any(q.outcome == "term_missing" for q in findings.quotes)
    )


def risk_of(verdicts: Iterable[SentenceVerdict], violations: Sequence[str]) -> Risk:
    """Return the risk of a whole answer."""
    verdicts = tuple(verdicts)
    invented = any(e.rule == "quote" and not e.passed and v.kind == "unsupported" for v in verdicts for e in v.evidence)
    if violations or invented or any(v.kind == "contradicted" or v.unknown_labels for v in verdicts):
        return "high"
    if any(v.kind in ("unsupported", "uncited") for v in verdicts):
        return "medium"
    return "low"
