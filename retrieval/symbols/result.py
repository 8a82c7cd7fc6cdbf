"""What symbolising a text gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from retrieval.types import Symbol


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret taken out of a text: what stands for it, and what it was."""

    pseudonym: str
    kind: str
    value: str = field(repr=False)
    """The normalised clear value: for the vault only."""


@dataclass(frozen=True, slots=True)
class Symbolised:
    """A text without its secrets, and the form of it that is encoded."""

    text: str
    """Secrets replaced by pseudonyms; codes and values as written."""
    index_text: str
    """All three classes replaced by tokens; letters, digits and characters folded (`fold_letters`)."""
    symbols: tuple[Symbol, ...]
    """Spans in `text`."""
    secrets: tuple[Secret, ...]
    """The secrets that were in the clear, each once, in order of appearance."""
    erased: frozenset[str] = frozenset()
    """Fingerprints of erased values that were in the clear."""
