"""Turns what the checks found into evidence: spans in the answer and the source, and a sentence for people."""

from __future__ import annotations

from agent.audit.claims import Sentence
from agent.audit.entailment import Stance
from agent.audit.figure_finding import FOUND, FigureFinding
from agent.audit.flips import Flip
from agent.audit.quotes import QuoteFinding
from agent.audit.restrictors import Restrictor
from agent.audit.sources import Source
from agent.audit.substitution import Substitution
from agent.audit.support import Support
from agent.audit.verdicts import Evidence
from agent.audit.wording import AnswerLanguage, say, shorten
from retrieval.types import Symbol

PERIOD_OUTCOMES = frozenset({"period_mismatch", "period_above", "period_not_asked"})


def figure_evidence(finding: FigureFinding, sentence: Sentence, language: AnswerLanguage) -> Evidence:
    """Report one figure."""
    symbol, match = finding.symbol, finding.match
    answer_value = symbol.surface
    source_value = match.surface if match else None
    if finding.outcome in PERIOD_OUTCOMES and finding.other is not None:
        answer_value = finding.other.surface
    elif finding.outcome == "sign" and match is not None:
        answer_value, source_value = _signed(symbol), _signed(match)
    detail = say(
        f"figure_{finding.outcome}" if finding.outcome not in PERIOD_OUTCOMES else finding.outcome,
        language,
        answer=shorten(answer_value),
        source=shorten(finding.formula or source_value or ""),
        match=shorten(finding.other.surface) if finding.other else "",
    )
    return Evidence(
        rule="period" if finding.outcome in PERIOD_OUTCOMES else "figure",
        passed=finding.outcome in FOUND,
        detail=detail,
        label=finding.source.label if finding.source else None,
        answer_span=sentence.answer_span(symbol.start, symbol.end),
        source_span=_span(finding, match),
        answer_value=answer_value,
        source_value=source_value,
    )


def _signed(symbol: Symbol) -> str:
    """A percentage with its sign: the surface of a fall of 5.2 % shows none."""
    return symbol.normal.replace("-", "−") if symbol.normal.startswith("-") else f"+{symbol.normal}"


def _span(finding: FigureFinding, match: Symbol | None) -> tuple[int, int] | None:
    """Figures of headings stand outside the passage's text and have no span there."""
    if match is None or finding.source is None or match not in finding.source.figure_set:
        return None
    return match.start, match.end


def quote_evidence(finding: QuoteFinding, sentence: Sentence, language: AnswerLanguage) -> Evidence:
    """Report one quotation."""
    key = {"verbatim": "quote_ok", "question": "quote_question", "stitched": "quote_stitched", "gap": "quote_gap"}.get(
        finding.outcome, "quote_missing"
    )
    return Evidence(
        rule="quote",
        passed=finding.outcome in ("verbatim", "question"),
        detail=say(key, language, text=shorten(finding.text), n=finding.pieces),
        label=finding.source.label if finding.source else None,
        answer_span=sentence.answer_span(finding.start, finding.end),
        source_span=finding.source_span,
        answer_value=finding.text,
    )


def flip_evidence(flip: Flip, sentence: Sentence, language: AnswerLanguage) -> Evidence:
    """Report a clause whose source says the opposite."""
    stated = sentence.text[slice(*flip.claim_span)].strip()
    found = flip.source.text[slice(*flip.source_span)].strip()
    return Evidence(
        rule="meaning",
        passed=False,
        detail=say("flip", language, answer=shorten(stated), source=shorten(found)),
        label=flip.source.label,
        answer_span=sentence.answer_span(*flip.claim_span),
        source_span=flip.source_span,
        answer_value=stated,
        source_value=found,
    )


def substitution_evidence(found: Substitution, sentence: Sentence, language: AnswerLanguage) -> Evidence:
    """Report a word of the source that another one stands in the place of."""
    return _wording_evidence("substitution", found.claim_span, found.source, found.source_span, sentence, language)


def restrictor_evidence(found: Restrictor, sentence: Sentence, language: AnswerLanguage) -> Evidence:
    """Report a word that widens or narrows what the source says."""
    return _wording_evidence("restrictor", found.claim_span, found.source, found.source_span, sentence, language)


def _wording_evidence(
    key: str,
    claim_span: tuple[int, int],
    source: Source,
    source_span: tuple[int, int],
    sentence: Sentence,
    language: AnswerLanguage,
) -> Evidence:
    stated, found = sentence.text[slice(*claim_span)].strip(), source.text[slice(*source_span)].strip()
    return Evidence(
        rule="meaning",
        passed=False,
        detail=say(key, language, answer=shorten(stated), source=shorten(found)),
        label=source.label,
        answer_span=sentence.answer_span(*claim_span),
        source_span=source_span,
        answer_value=stated,
        source_value=found,
    )


def stance_evidence(stance: Stance, support: Support, sentence: Sentence, language: AnswerLanguage) -> Evidence:
    """Report that a model finds sentence and source at odds."""
    return Evidence(
        rule="meaning",
        passed=False,
        detail=say("stance", language, percent=round(100 * stance.contradicts)),
        label=support.source.label if support.source else None,
        answer_span=sentence.answer_span(0, len(sentence.text)),
        source_span=support.source_span,
    )


def support_evidence(support: Support, passed: bool, sentence: Sentence, language: AnswerLanguage) -> Evidence:
    """Report how far the sources carry the sentence's words."""
    if support.kind == "verbatim":
        detail = say("support_verbatim", language)
    elif support.kind == "other_language":
        detail = say("support_language", language)
        if support.names:
            separator = "、" if language == "zh" else ", "
            detail += "；" if language == "zh" else "; "
            detail += say("support_names", language, text=shorten(separator.join(support.names)))
    else:
        detail = say("support_share", language, percent=round(100 * support.score))
    return Evidence(
        rule="support",
        passed=passed,
        detail=detail,
        label=support.source.label if support.source else None,
        answer_span=sentence.answer_span(0, len(sentence.text)),
        source_span=support.source_span,
    )
