"""How the groups of a number are set apart: regularly, digit by digit, or torn by one line end."""

from __future__ import annotations

from collections.abc import Container, Sequence

_BLANK = frozenset({" ", "\n", " \n"})


def is_one_by_one(lengths: Sequence[int], gaps: Sequence[str]) -> bool:
    """Tell whether single digits are set apart by one and the same separator."""
    return max(lengths) == 1 and len(set(gaps)) == 1


def is_mended(lengths: Sequence[int], gaps: Sequence[str], regular: Container[tuple[int, ...]]) -> bool:
    """Tell whether joining the groups at one blank or line end gives one number or a regular grouping."""
    for i, gap in enumerate(gaps):
        if gap not in _BLANK and not gap.endswith("\n"):
            continue
        joined = (*lengths[:i], lengths[i] + lengths[i + 1], *lengths[i + 2 :])
        if len(joined) == 1 or joined in regular:
            return True
    # A line end at the place of a separator.
    return tuple(lengths) in regular and sum("\n" in gap for gap in gaps) == 1
