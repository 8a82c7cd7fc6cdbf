"""Words that widen or narrow what a source says (`all`, `some`, `only`, `at least`) and do not stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.audit.content import content_terms, share
from agent.audit.sources import Source
from retrieval.language_id import language_of

_CLASSES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"部分|有些|有的|个别|少数|某些|大多|多数|\b(?:some(?!\s*(?:what|one|thing|how))|part(?:s|ly)?\s+of|partly|most|several)\b",
        r"有时|偶尔|往往|\b(?:sometimes|occasionally|often|usually|rarely)\b",
        r"仅|只有|只能|只(?=[对在由向有])|唯一|\b(?:only|solely|exclusively|limited\s+to)\b",
        r"所有|全部|全体|一切|一律|任何|\b(?:all|every(?:body|one)?|any(?:body|one)?|entire(?:ly)?|each)\b",
        r"从不|永不|永远|始终|从未|\b(?:never|always)\b",
        r"至少|最少|不少于|不低于|以上|下限|\b(?:at\s+least|no\s+(?:less|fewer)\s+than|minimum|or\s+more|above|over|older\s+than|more\s+than)\b",
        r"至多|最多|不超过|不多于|不高于|以下|以内|上限|不[得可能应]超过"
        r"|\b(?:at\s+most|up\s+to|no\s+more\s+than|maximum|within|not\s+exceed\w*|exceed\w*|limit|below)\b",
    )
)
_SAME_THING = 0.5
"""Share of the sentence's terms in a sentence of the source before it is the one that is retold."""


@dataclass(frozen=True, slots=True)
class Restrictor:
    """A word of the claim and the source's sentence that has none of its sort."""

    claim_span: tuple[int, int]
    source: Source
    source_span: tuple[int, int]


def find_restrictor(text: str, sources: Sequence[Source]) -> Restrictor | None:
    """Return a word that widens or narrows the sentence of the source that `text` retells; None where there is none."""
    words = [(number, match) for number, pattern in enumerate(_CLASSES) if (match := pattern.search(text))]
    if not words:
        return None
    nearest = _retold(text, sources)
    if nearest is None:
        return None
    source, start, end = nearest
    for number, match in words:
        if _CLASSES[number].search(source.text, start, end) is None:
            return Restrictor(match.span(), source, (start, end))
    return None


def _retold(text: str, sources: Sequence[Source]) -> tuple[Source, int, int] | None:
    terms, language = content_terms(text), language_of(text)
    best, found = _SAME_THING, None
    for source in sources:
        if source.language != language:
            continue
        for index, there in enumerate(source.sentence_terms):
            score = share(terms, there)
            if score > best or (score == best and found is None):
                best, found = score, (source, *source.sentences[index])
    return found if found is not None and "|" not in found[0].text[found[1] : found[2]] else None
