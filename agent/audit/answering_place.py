"""How near a question's words stand to the place of a source that an answer was taken from."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence

from agent.audit.folding import fold
from agent.audit.question_kinds import WH

_FUNCTION_CHARS = frozenset("的了是在和与及或为其该此而也都就并且被把从于以之者这那 ,.;:!?\"'()《》")
_BOUNDARY = re.compile(r"[;!?]|\.(?!\d)")
_SENTENCE_AWAY = 25
"""Characters that a sentence end between two places counts for."""
_STEP = 6
_NEIGHBOURHOOD = 20


def bigrams(text: str) -> list[str]:
    """Return the distinct pairs of neighbouring characters that carry meaning, in order."""
    pairs = (text[i : i + 2] for i in range(len(text) - 1))
    return list(dict.fromkeys(pair for pair in pairs if _FUNCTION_CHARS.isdisjoint(pair)))


class AskedWords:
    """Where the words of one question stand in one source; positions are in the folded texts."""

    def __init__(self, question: str, source: str) -> None:
        self.question = fold(question).text.rstrip("?")
        self.source = source
        asked = list(WH.finditer(self.question))
        self._hole = asked[-1].span() if asked else (len(self.question), len(self.question))
        start, end = self._hole
        self.wanted = bigrams(self.question[:start] + "  " + self.question[end:])
        places = {pair: [m.start() for m in re.finditer(re.escape(pair), source)] for pair in self.wanted}
        self._places = {pair: found for pair, found in places.items() if found}
        self._weights = {pair: 1 / len(self._places.get(pair, [0])) for pair in self.wanted}
        self._total = sum(self._weights.values()) or 1.0
        self._bounds = [m.start() for m in _BOUNDARY.finditer(source)]
        self._sentences = {p: bisect_right(self._bounds, p) for found in self._places.values() for p in found}

    @property
    def missing(self) -> float:
        """Share of the question's words that the source does not hold."""
        return 1 - len(self._places) / len(self.wanted) if self.wanted else 0.0

    def proximity(self, start: int, end: int, reach: float, *, inside: bool = True) -> float:
        """Return 0 to 1: how many of the question's words stand within about `reach` characters of a place.

        With `inside` false, words within the place itself do not count.
        """
        sentence = bisect_right(self._bounds, start)
        found = 0.0
        for pair, places in self._places.items():
            distance = math.inf
            for place in places:
                away = start - place - 2 if place < start else place - end if place >= end else 0 if inside else 1e6
                distance = min(distance, max(0, away) + _SENTENCE_AWAY * abs(self._sentences[place] - sentence))
            found += self._weights[pair] * math.exp(-distance / reach)
        return found / self._total

    def best_proximity(self, reach: float) -> float:
        """Return the highest proximity of any place of the source."""
        return max((self.proximity(at, at + 1, reach) for at in range(0, len(self.source), _STEP)), default=0.0)

    def features(self, start: int, end: int, rivals: Sequence[int]) -> dict[str, float]:
        """Describe the place `source[start:end]`; `rivals` are positions of other figures of the kind asked for."""
        near = self.proximity(start, end, 14)
        question, (first, last) = self.question, self._hole
        before, after = self.source[max(0, start - _NEIGHBOURHOOD) : start], self.source[end : end + _NEIGHBOURHOOD]
        words = self.source[start:end]
        around = before + words + after
        left = [question[i : i + 2] for i in range(max(0, first - 6), first - 1)]
        right = [question[i : i + 2] for i in range(last, min(len(question) - 1, last + 5))]
        own = bigrams(words)
        chars = [char for char in words if char not in _FUNCTION_CHARS]
        others = [self.proximity(at, at + 2, 14) for at in rivals if not start <= at < end]
        return {
            "near": near,
            "near_outside": self.proximity(start, end, 14, inside=False),
            "near_wide": self.proximity(start, end, 40),
            "better_elsewhere": self.best_proximity(14) - near,
            "rival_nearer": max(others, default=0.0) - near if rivals else 0.0,
            "left_around": _share(left, around),
            "right_around": _share(right, around),
            "left_before": _share(left, before),
            "right_after": _share(right, words[-6:] + after),
            "joins_left": float(first >= 2 and question[first - 2 : first] in before[-6:]),
            "joins_left_char": float(first >= 1 and start >= 1 and question[first - 1] == self.source[start - 1]),
            "joins_right": float(last + 2 <= len(question) and question[last : last + 2] in after[:6]),
            "right_inside": float(last + 2 <= len(question) and question[last : last + 2] in words),
            "repeats_chars": sum(char in question for char in chars) / len(chars) if chars else 0.0,
            "repeats_words": sum(pair in self.wanted for pair in own) / len(own) if own else 0.0,
            "stands_in_question": float(len(words) > 1 and words.rstrip(". ") in question),
            "stands_twice": float(self.source.count(words) > 1),
            "missing": self.missing,
        }


def _share(pairs: Sequence[str], text: str) -> float:
    return sum(pair in text for pair in pairs) / len(pairs) if pairs else 0.5
