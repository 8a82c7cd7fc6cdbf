"""Near-duplicates among candidates: the same words about the same thing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from retrieval.fusion import symbol_tokens
from retrieval.types import Chunk

NEAR: Final = 95.0
"""Similarity in percent (Indel ratio) from which two texts count as the same words."""

_DIGITS_RE = re.compile(r"\d+")
_SPACE_RE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What decides whether two chunks say the same: the words, and every figure they come with."""

    words: str
    figures: tuple[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def of(cls, chunk: Chunk) -> Fingerprint:
        """Take the fingerprint of a chunk."""
        words = _SPACE_RE.sub(" ", unicodedata.normalize("NFKC", chunk.text).casefold()).strip()
        around = unicodedata.normalize("NFKC", " ".join((chunk.title, *chunk.heading_path)))
        return cls(words, (tuple(_DIGITS_RE.findall(f"{around} {words}")), tuple(symbol_tokens(chunk))))

    def near(self, other: Fingerprint) -> bool:
        """Tell whether the two are near-duplicates.

        Two sentences that differ in one figure, or stand under the headings of two quarters,
        are nearly the same letters and not the same statement: they are kept apart.
        """
        if self.figures != other.figures:
            return False
        return self.words == other.words or fuzz.ratio(self.words, other.words, score_cutoff=NEAR) >= NEAR
