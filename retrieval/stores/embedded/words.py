"""How many chunks hold each term, counted apart for every group of readers.

BM25 weighs a term by how rare it is. Rarity must be counted over what the asker may see, so
that scores tell nothing of the rest; asking the engine for that costs it a pass over everything
the asker may see, at every question. Chunks with the same tenant and access list share one
count; an asker's statistics are the sums over the lists that admit the asker.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LOOSE: Final = 2048
"""Terms that a count keeps in a dictionary (some 85 bytes each) before it packs them (8 bytes each)."""


class TermCounts:
    """How many chunks hold each term: packed arrays, and a dictionary of what changed since."""

    def __init__(self) -> None:
        self.chunks = 0
        self._terms: NDArray[np.uint32] | Sequence[int] = ()
        self._counts: NDArray[np.int32] | Sequence[int] = ()
        self._changes: dict[int, int] = {}

    def add(self, terms: Iterable[int], by: int) -> None:
        """Count one chunk with these distinct terms in (`by` 1) or out (-1)."""
        self.chunks += by
        changes = self._changes
        for term in terms:
            changes[term] = changes.get(term, 0) + by
        if len(changes) > _LOOSE + len(self._terms) // 4:
            self._pack()

    def of(self, term: int) -> int:
        """Return how many chunks hold the term."""
        count = self._changes.get(term, 0)
        at = bisect_left(self._terms, term)
        if at < len(self._terms) and self._terms[at] == term:
            count += int(self._counts[at])
        return count

    def _pack(self) -> None:
        import numpy as np  # not for a small index: the import takes longer than opening it

        count = len(self._changes)
        terms = np.fromiter(self._changes.keys(), dtype=np.uint32, count=count)
        counts = np.fromiter(self._changes.values(), dtype=np.int32, count=count)
        if len(self._terms):
            terms = np.concatenate([np.asarray(self._terms, dtype=np.uint32), terms])
            counts = np.concatenate([np.asarray(self._counts, dtype=np.int32), counts])
        distinct, where = np.unique(terms, return_inverse=True)
        sums = np.zeros(len(distinct), dtype=np.int32)
        np.add.at(sums, where, counts)
        held = sums != 0
        self._terms, self._counts, self._changes = distinct[held], sums[held], {}


class Words:
    """Term counts of all published chunks, by tenant and access list.

    They are learned from the points in order of their ids, a few at a time; until that is done
    `complete` is false, and changes of points that were not reached yet are left to be learned.
    """

    def __init__(self) -> None:
        self.complete = False
        self.reached: str | None = None
        """The first id that was not learned yet; None before the first and after the last."""
        self._readers: dict[str, dict[frozenset[str], TermCounts]] = {}

    def reach(self, next_id: str | None) -> None:
        """Say that all points before `next_id` were learned; None: all there are."""
        self.complete = next_id is None
        self.reached = next_id

    def covers(self, point_id: str) -> bool:
        """Tell whether the point was learned already, so that changes of it must be counted."""
        return self.complete or (self.reached is not None and point_id < self.reached)

    def add(self, tenant: str, access: Iterable[str], terms: Iterable[int], by: int = 1) -> None:
        """Count a published chunk in, or out with `by` -1."""
        lists = self._readers.setdefault(tenant, {})
        admitted = frozenset(access)
        counts = lists.setdefault(admitted, TermCounts())
        counts.add(terms, by)
        if not counts.chunks:
            del lists[admitted]

    def idf(self, tenant: str, access: frozenset[str], terms: Sequence[int]) -> list[float]:
        """Return ln(1 + (N - n + 0.5) / (n + 0.5)) of each term, over what this access sees: the engine's formula."""
        seen = [counts for admitted, counts in self._readers.get(tenant, {}).items() if not admitted.isdisjoint(access)]
        chunks = sum(counts.chunks for counts in seen)
        held = (sum(counts.of(term) for counts in seen) for term in terms)
        return [log(1 + (chunks - n + 0.5) / (n + 0.5)) for n in held]
