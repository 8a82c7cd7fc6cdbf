"""Lexical support: do the cited sources speak of what the sentence says?

Rules only. A sentence about a source in another language cannot be judged by its words:
then figures, names and quotations decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.audit.content import blank_out, content_terms, share, subject_terms, union
from agent.audit.folding import find_verbatim, fold
from agent.audit.sources import Source
from retrieval.language_id import language_of
from retrieval.types import Symbol

_WINDOW = 3
"""Sentences of a source read together when the best place is looked for."""
_NAME = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z][A-Za-z0-9&.-]*[A-Za-z0-9](?:\s+(?=[A-Z]))?)+|[A-Za-z]+[0-9][\w-]*")
_SHORTEST_VERBATIM = 8
"""A fragment with fewer folded characters stands in many texts by chance."""
_ABOUT_THE_QUESTION = 0.3
"""Share of the question's terms that the source of such a fragment must hold."""


@dataclass(frozen=True, slots=True)
class Support:
    """How well the cited sources carry a sentence by their words."""

    kind: Literal["verbatim", "lexical", "other_language", "no_terms"]
    score: float
    """0 to 1: share of the sentence's content terms found, near each other weighing as much as anywhere."""
    source: Source | None = None
    source_span: tuple[int, int] | None = None
    """The best place."""
    names: tuple[str, ...] = ()
    """Names in Latin letters that stand in a source of another language."""


def measure_support(
    text: str, sources: Sequence[Source], *, figures: Sequence[Symbol] = (), question: str = "", context: str = ""
) -> Support:
    """Measure the sentence `text` against its cited sources.

    Args:
        text: The sentence.
        sources: What it cites.
        figures: Its figures; they are checked elsewhere and say nothing of what the sentence is about.
        question: A fragment (`拔都`, `DQ`) answers it, so its source must be about it.
        context: Headings above, known to the reader and no claim of the sentence.
    """
    verbatim = _verbatim(text, sources, question)
    if verbatim is not None:
        return verbatim
    language = language_of(text)
    same = [source for source in sources if _comparable(language, source)]
    if not same and sources and language != "other":
        return _other_language(text, sources)
    bare = blank_out(text, figures)
    wanted = (subject_terms(bare) or content_terms(bare)) - content_terms(context)
    if not wanted:
        return Support("no_terms", 0.0)
    anywhere = share(wanted, union(source.terms for source in same))
    best = max((_best_window(wanted, source) for source in same), key=lambda found: found[0], default=None)
    if best is None:
        return Support("lexical", 0.0)
    near, source, span = best
    return Support("lexical", (anywhere + near) / 2, source, span)


def _comparable(language: str, source: Source) -> bool:
    return source.language == language or "other" in (language, source.language)


def _verbatim(text: str, sources: Sequence[Source], question: str) -> Support | None:
    """A table row is never verbatim support: its cells stand in many places."""
    folded_text = fold(text).text
    if text.count("|") >= 2 or not any(char.isalpha() for char in folded_text):
        return None
    asked = content_terms(question) if len(folded_text) < _SHORTEST_VERBATIM else frozenset[str]()
    for source in sources:
        if asked and share(asked, source.terms) < _ABOUT_THE_QUESTION:
            continue
        folded = source.folded
        span = find_verbatim(text, folded)
        if span is not None:
            return Support("verbatim", 1.0, source, (folded.offsets[span[0]], folded.offsets[span[1] - 1] + 1))
    return None


def _best_window(wanted: frozenset[str], source: Source) -> tuple[float, Source, tuple[int, int]]:
    best, place = 0.0, (0, 0)
    sentences = source.sentence_terms
    for index in range(len(sentences)):
        window = sentences[index : index + _WINDOW]
        score = share(wanted, union([source.heading_terms, *window]))
        if score > best:
            last = min(index + _WINDOW, len(source.sentences)) - 1
            best, place = score, (source.sentences[index][0], source.sentences[last][1])
    return best, source, place


def _other_language(text: str, sources: Sequence[Source]) -> Support:
    names = dict.fromkeys(name.strip() for name in _NAME.findall(text))
    found = tuple(name for name in names if any(name.casefold() in source.text.casefold() for source in sources))
    return Support("other_language", share(frozenset(names), frozenset(found)), sources[0], None, found)
