"""What a model of natural language inference says of a sentence and its source; none is ever required."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from retrieval.types import Value

CONTRADICTS_AT = 0.8
"""From this probability on the model's word is taken against a sentence."""


class Stance(Value):
    """How a text stands to a sentence; probabilities, the rest of 1 is neutral."""

    entails: float
    contradicts: float


class Entailment(Protocol):
    """Judges whether a text says what a sentence says. Safe for threads."""

    def judge(self, source: str, sentence: str) -> Stance:
        """Return how `source` stands to `sentence`."""
        ...


class ScriptedEntailment:
    """Says what it was given for a sentence; neutral to any other."""

    def __init__(self, stances: Mapping[str, Stance]) -> None:
        self._stances = dict(stances)
        self.asked: list[tuple[str, str]] = []

    def judge(self, source: str, sentence: str) -> Stance:
        """Return the stance given for `sentence`."""
        self.asked.append((source, sentence))
        return self._stances.get(sentence, Stance(entails=0.0, contradicts=0.0))
