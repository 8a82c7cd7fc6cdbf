"""What a recogniser of secrets finds."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SecretFound:
    """A secret in a folded text; `value` is its normalised clear value."""

    kind: str
    value: str = field(repr=False)
    start: int
    end: int
    confidence: float = 1.0
    """1 where a checksum or a label decides; less where only the surroundings do."""
