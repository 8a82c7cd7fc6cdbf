"""The secrets that are numbers: one pass over the runs of digits, every kind looks at each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from retrieval.symbols.secrets.bank_card import read_bank_cards
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.id_card import read_id_cards
from retrieval.symbols.secrets.mobile import read_mobiles
from retrieval.symbols.secrets.phone import goes_on_list, read_further, read_phones
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


_LISTED_LABEL = "拨打"
"""The word of a list of telephone numbers: it says that a number may be called, not that any digits are one."""


def find_numbers(text: str) -> Iterator[SecretFound]:
    """Find identity cards, bank cards, telephone and social security numbers; ordered, not overlapping."""
    before: Candidate | None = None
    for run in digit_runs(text):
        is_listed = before is not None and goes_on_list(run, before)
        if is_listed:
            run = replace(run, label=_LISTED_LABEL)
        further = read_further(run, before) if before is not None and is_listed else None
        chosen = [further] if further is not None else sorted(choose(run, _candidates(run)), key=lambda c: c.start)
        for c in chosen:
            yield SecretFound(c.kind, c.value, c.start, c.end, c.confidence)
        before = chosen[-1] if chosen else None


def _candidates(run: Run) -> list[Candidate]:
    found: list[Candidate] = []
    for read in _READERS:
        found += read(run)
        if any(c.is_sure and c.last - c.first == len(run.groups) for c in found):
            break  # nothing is left to the less certain kinds
    return found
