"""Checks that what rests on a result of low quality is said to be uncertain."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Final

from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.audit.wording import AnswerLanguage, say

_HEDGES: Final = re.compile(
    r"(?<!毫)(?<!并)(?<!没有)(?<!无)不(?:太|大|完全|一定|能)?(?:确定|可靠|准确|完整|清楚|保证)|(?<![无不])可能|或许|也许|大概|疑似|似乎|存疑"
    r"|尚待|有待|(?<!无)(?<!不)(?:需|须|应|请)要?(?:再|进一步|另行)?(?:核实|核对|确认|查证)|仅供参考|据称|质量(?:不高|较低|低)|不完整|无法确认|未经(?:核实|证实)|谨慎"
    r"|\b(?:uncertain|unreliable|unverified|unconfirmed|incomplete|inconclusive|questionable|tentative(?:ly)?"
    r"|apparent(?:ly)?|reported(?:ly)?|possib(?:le|ly)|perhaps|presumably|likely|unlikely|may|might|could|seems?|appears?"
    r"|suggests?|with\s+caution|low[\s-]quality|poor[\s-]quality)\b"
    r"|\bnot\s+(?:entirely\s+|fully\s+|quite\s+)?(?:certain|sure|clear|complete|reliable|verified|confirmed|guaranteed)\b"
    r"|\b(?:should|must|needs?\s+to)\s+be\s+(?:verified|checked|confirmed|treated)\b|\bcannot\s+be\s+(?:verified|confirmed|sure)\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(?:no|without|any)\s+(?:uncertain\w*|doubt)|\bnot\s+(?:uncertain|unreliable)\b", re.IGNORECASE
)


def is_hedged(text: str) -> bool:
    """Tell whether a text says that something is uncertain."""
    return _HEDGES.search(_DENIED.sub(" ", text)) is not None


def flag_unhedged(audit: Audit, low_quality: Set[str], language: AnswerLanguage) -> Audit:
    """Flag the sentences that cite a result of low quality as if it were certain; the risk is then not low.

    The hedge may stand in the sentence itself or in the one before or after it.
    """
    if not low_quality:
        return audit
    verdicts = tuple(_flagged(audit.sentences, index, low_quality, language) for index in range(len(audit.sentences)))
    if verdicts == audit.sentences:
        return audit
    unhedged = any("unhedged" in each.flags for each in verdicts)
    risk = "medium" if unhedged and audit.risk == "low" else audit.risk
    return audit.model_copy(update={"sentences": verdicts, "risk": risk})


def _flagged(
    sentences: Sequence[SentenceVerdict], index: int, low_quality: Set[str], language: AnswerLanguage
) -> SentenceVerdict:
    verdict = sentences[index]
    weak = [label for label in verdict.labels if label in low_quality]
    if not weak or verdict.kind == "not_a_claim":
        return verdict
    hedged = any(is_hedged(each.text) for each in sentences[max(0, index - 1) : index + 2])
    detail = say("hedged" if hedged else "unhedged", language, label=weak[0])
    evidence = (*verdict.evidence, Evidence(rule="hedge", passed=hedged, detail=detail, label=weak[0]))
    flags = verdict.flags if hedged else (*verdict.flags, "unhedged")
    return verdict.model_copy(update={"evidence": evidence, "flags": flags})
