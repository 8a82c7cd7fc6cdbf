"""The secrets that are numbers: one pass over the runs of digits, every kind looks at each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from retrieval.symbols.secrets.bank_card import read_bank_cards
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.id_card import read_id_cards
from retrieval.symbols.secrets.mobile import read_mobiles
from retrieval.symbols.secrets.phone import read_further, read_phones
from retrieval.symbols.secrets.runs import Candidate, Run, choose, digit_runs
from retrieval.symbols.secrets.social_security import read_social_security

# The kinds in order of certainty: what two of them claim belongs to the earlier.
_READERS: tuple[Callable[[Run], Iterable[Candidate]], ...] = (
    read_id_cards,
    read_bank_cards,
    read_mobiles,
    read_social_security,
    read_phones,
)


def find_numbers(text: str) -> Iterator[SecretFound]:
    """Find identity cards, bank cards, telephone and social security numbers; ordered, not overlapping."""
    before: Candidate | None = None
    for run in digit_runs(text):
        if before is not None and (further := read_further(run, before)) is not None:
            before = further
            yield SecretFound(further.kind, further.value, further.start, further.end, further.confidence)
            continue
        before = None
        candidates = [candidate for read in _READERS for candidate in read(run)]
        if candidates:
            chosen = sorted(choose(run, candidates), key=lambda c: c.start)
            for c in chosen:
                yield SecretFound(c.kind, c.value, c.start, c.end, c.confidence)
            before = chosen[-1] if chosen else None
