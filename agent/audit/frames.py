"""The frame of a figure: the words round it. A sentence copied with one figure changed has its source's frame."""

from __future__ import annotations

from functools import lru_cache

from agent.audit.folding import fold

_REACH = 24
_ENOUGH = 4
"""Weight of the frame that shows where a figure was copied from: two Chinese characters or four others."""
_WIDE = "\u2e80"


def frame_weight(text: str, span: tuple[int, int], source: str, source_span: tuple[int, int]) -> float:
    """Return how much of the words next to a figure is the same in both texts; CJK characters weigh 2."""
    left = _common(_before(text, span[0])[::-1], _before(source, source_span[0])[::-1])
    right = _common(_after(text, span[1]), _after(source, source_span[1]))
    return left + right


def is_copied(rival: float, match: float, whole: float) -> bool:
    """Tell whether a sentence copies the rival's place and not the one where its own value stands.

    Args:
        rival: Frame weight at the place with another value.
        match: The best frame weight where the stated value stands.
        whole: Frame weight of the sentence with itself: all that could be the same.
    """
    return rival >= _ENOUGH and rival >= 0.8 * whole and match <= rival / 2


def full_weight(text: str, span: tuple[int, int]) -> float:
    """Return the weight of all words next to a figure."""
    return _weight(_before(text, span[0])) + _weight(_after(text, span[1]).rstrip(" ."))


@lru_cache(maxsize=8192)
def _folded(text: str) -> str:
    return fold(text).text


def _before(text: str, start: int) -> str:
    return _folded(text[max(0, start - _REACH) : start])


def _after(text: str, end: int) -> str:
    return _folded(text[end : end + _REACH])


def _common(one: str, other: str) -> float:
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return _weight(one[:shared])


def _weight(text: str) -> float:
    return sum(0 if char == " " else 2 if char >= _WIDE else 1 for char in text)
