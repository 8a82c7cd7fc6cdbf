"""Which of the fused candidates are reranked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from retrieval.duplicates import Fingerprint
from retrieval.foreign import is_foreign
from retrieval.search_result import Dropped
from retrieval.types import Authority, Candidate, Chunk

_WEIGHT: Final[dict[Authority, int]] = {"official": 3, "approved": 2, "unknown": 1, "draft": 0}


def choose(candidates: Sequence[Candidate], count: int, abroad: int = 0) -> tuple[list[Candidate], list[Dropped]]:
    """Take the first `count` candidates that do not repeat one before them, and `abroad` more of the other language.

    Ranks do not tell how near the best of one language is beside the best of the other; both are looked at. Places
    that the question's own language leaves free, candidates of the other may have.

    Of those that say the same, the one that a reader would rather cite stays, at the place of the first: higher
    authority, then the later day from which it holds.
    """
    chosen: list[tuple[Candidate, Fingerprint]] = []
    dropped: list[Dropped] = []
    of_other = [candidate for candidate in candidates if is_foreign(candidate)]
    room = abroad + max(0, count - (len(candidates) - len(of_other)))
    left = {False: count, True: min(room, count + abroad) if of_other else 0}
    for candidate in candidates:
        if not left[is_foreign(candidate)]:
            dropped.append(Dropped(candidate, "below_rerank_k"))
            continue
        fingerprint = Fingerprint.of(candidate.chunk)
        twin = next((place for place, (_, known) in enumerate(chosen) if fingerprint.near(known)), None)
        if twin is None:
            chosen.append((candidate, fingerprint))
            left[is_foreign(candidate)] -= 1
            continue
        kept = chosen[twin][0]
        if _standing(candidate.chunk) > _standing(kept.chunk):
            chosen[twin] = candidate, fingerprint
            candidate, kept = kept, candidate
        dropped.append(Dropped(candidate, "near_duplicate", of=kept.chunk.chunk_id))
    names = {each.candidate.chunk.chunk_id: each.of for each in dropped if each.of is not None}
    return [candidate for candidate, _ in chosen], [_settled(each, names) for each in dropped]


def _settled(dropped: Dropped, names: dict[str, str]) -> Dropped:
    """Name the one that stayed, where the one that was repeated gave way to a third."""
    of = dropped.of
    while of is not None and of in names:
        of = names[of]
    return Dropped(dropped.candidate, dropped.reason, of)


def _standing(chunk: Chunk) -> tuple[int, date]:
    return _WEIGHT[chunk.authority], chunk.effective_from or date.min
