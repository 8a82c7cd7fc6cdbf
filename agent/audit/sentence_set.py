"""Sentences with known verdicts: paraphrases, flips and swaps, and what is made of them (stitched, misattributed).

The file holds passages of two sentences with true and false sentences about them, all
written by hand. A third of the passages is kept apart: rules are not written against it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from retrieval.sentences import sentence_spans
from retrieval.types import Value

Kind = Literal[
    "paraphrase", "quotation", "negation", "quantifier", "swapped", "stitched", "misattributed", "invented_source"
]
_APART = 3
"""Every so many passages of a language one is kept apart."""


class WrittenPassage(Value):
    """One line of the file."""

    id: str
    language: Literal["zh", "en"]
    passage: str
    supported: tuple[str, ...]
    negation: tuple[str, ...]
    quantifier: tuple[str, ...]
    swapped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence, the passage it cites and whether that supports it."""

    language: Literal["zh", "en"]
    kind: Kind
    text: str
    passage: str | None
    """None where it cites a source that the run does not have."""
    supported: bool
    apart: bool
    """One of the third that no rule was written against."""


def read_judged(path: Path) -> list[JudgedSentence]:
    """Return all sentences that the file gives.

    Raises:
        OSError: it cannot be read.
        ValueError: a line is no passage.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        written = TypeAdapter(list[WrittenPassage]).validate_python([json.loads(line) for line in lines if line])
    except ValidationError as exc:
        raise ValueError(f"{path} does not hold passages with sentences") from exc
    found: list[JudgedSentence] = []
    for language in ("zh", "en"):
        group = [each for each in written if each.language == language]
        for number, each in enumerate(group):
            found += _of_passage(each, group[(number + 1) % len(group)], number % _APART == 0)
    return found


def _of_passage(written: WrittenPassage, other: WrittenPassage, apart: bool) -> Iterator[JudgedSentence]:
    def say(kind: Kind, text: str, passage: str | None, *, supported: bool = False) -> JudgedSentence:
        return JudgedSentence(written.language, kind, text, passage, supported, apart)

    for text in written.supported:
        yield say("paraphrase", text, written.passage, supported=True)
    first, second = (written.passage[start:end].strip() for start, end in sentence_spans(written.passage))
    yield say("quotation", _quoted(first, written.language), written.passage, supported=True)
    kinds: tuple[tuple[Kind, Sequence[str]], ...] = (
        ("negation", written.negation),
        ("quantifier", written.quantifier),
        ("swapped", written.swapped),
    )
    for kind, texts in kinds:
        for text in texts:
            yield say(kind, text, written.passage)
    for left, right in ((first, second), (second, first)):
        yield say("stitched", _quoted(_stitch(left, right, written.language), written.language), written.passage)
    for text in written.supported[:2]:
        yield say("misattributed", text, other.passage)
        yield say("invented_source", text, None)


def _stitch(left: str, right: str, language: str) -> str:
    """The first half of one sentence and the second half of another, as if they were one."""
    if language == "zh":
        return left[: len(left) // 2] + right[len(right) // 2 :]
    one, two = left.split(), right.split()
    return " ".join(one[: len(one) // 2] + two[len(two) // 2 :])


def _quoted(text: str, language: str) -> str:
    return f"原文写道：“{text}”" if language == "zh" else f'The document says: "{text}"'
