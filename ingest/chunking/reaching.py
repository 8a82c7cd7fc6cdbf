"""Finds how far a condition that costs much to test goes on to hold."""

from __future__ import annotations

from collections.abc import Callable


def reach(holds: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` for which `holds`; that it holds for 0 is taken for granted.

    `holds` is called a number of times logarithmic in the answer, on numbers near it. Where it holds
    again after it failed, the answer may be any number that holds before one that does not.
    """
    low, step = 0, 1
    while low < most and holds(at := min(low + step, most)):
        low, step = at, step * 2
    high = min(low + step, most) if low < most else low + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
