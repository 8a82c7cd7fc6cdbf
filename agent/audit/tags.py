"""Checks the source tags of an answer: a label this run did not hand out is a violation, never mapped or dropped."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from agent.audit.claims import LINK_AFTER_TAG, Sentence
from agent.audit.sources import Source, SourceBook
from agent.audit.verdicts import Evidence
from agent.audit.wording import AnswerLanguage, say, shorten
from retrieval.labels import Tag, find_tags

_FOREIGN_MARK = re.compile(
    r"(?<![\w\])])\[\^?\d{1,3}\](?![\w(])|(?<=[^\W\d_a-zA-Z])\[\^?\d{1,3}\]|【\d{1,3}(?:[†:：][^】\n]{0,60})?】"
)
"""Footnote marks other systems cite by: `[3]`, `[^3]`, `【3†source】`."""


def check_tags(
    sentence: Sentence, labels: Container[str], book: SourceBook, language: AnswerLanguage
) -> list[Evidence]:
    """Return one piece of evidence for every label of the sentence, in order."""
    return [_check(tag, labels, book, language) for tag in sentence.tags]


def _check(tag: Tag, labels: Container[str], book: SourceBook, language: AnswerLanguage) -> Evidence:
    if is_unknown(tag, labels):
        key, passed = ("tag_unknown" if tag.well_formed else "tag_malformed"), False
    elif book.get(tag.label) is None:
        key, passed = "tag_unavailable", False
    else:
        key, passed = "tag_ok", True
    return Evidence(
        rule="tag",
        passed=passed,
        detail=say(key, language, label=shorten(tag.label)),
        label=tag.label,
        answer_span=(tag.start, tag.end),
    )


def is_unknown(tag: Tag, labels: Container[str]) -> bool:
    """Tell whether a tag names no source of this run; a malformed label never does."""
    return not tag.well_formed or tag.label not in labels


def cited_sources(sentence: Sentence, labels: Container[str], book: SourceBook) -> list[Source]:
    """Return the sources whose text the sentence is checked against, each once."""
    found = (book.get(tag.label) for tag in sentence.tags if not is_unknown(tag, labels))
    return [source for source in found if source is not None]


def violations(
    answer: str, labels: Container[str], book: SourceBook, question: str, language: AnswerLanguage
) -> Iterator[str]:
    """Yield, for people, every tag of the answer that names no source or poses as one, in order of appearance."""
    tags = list(find_tags(answer))
    known = [source for tag in tags if not is_unknown(tag, labels) and (source := book.get(tag.label))]
    for tag in tags:
        if is_unknown(tag, labels):
            yield say("tag_unknown" if tag.well_formed else "tag_malformed", language, label=shorten(tag.label))
    for tag in tags:
        link = LINK_AFTER_TAG.match(answer, tag.end)
        if link is not None and link.group().lstrip().startswith("(") and not _is_tag(link.start(), tags):
            yield say("tag_link", language, text=shorten(link.group()))
    for mark in _foreign_marks(answer, tags, known, question):
        yield say("foreign_mark", language, text=shorten(mark))


def _is_tag(start: int, tags: Sequence[Tag]) -> bool:
    return any(tag.start == start for tag in tags)


def _foreign_marks(answer: str, tags: Sequence[Tag], known: Sequence[Source], question: str) -> Iterator[str]:
    """Footnote marks that are not copied from a cited source or the question."""
    for match in _FOREIGN_MARK.finditer(answer):
        mark = match.group()
        inside = any(tag.start <= match.start() < tag.end for tag in tags)
        if not inside and mark not in question and not any(mark in source.text for source in known):
            yield mark
