"""Finds personal and account data in a folded text.

Works in stages; each masks what it found before the next looks, so that replacing the findings
by pseudonyms leaves nothing for a second reading to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from retrieval.symbols.fold import mask
from retrieval.symbols.secrets.api_key import find_api_keys
from retrieval.symbols.secrets.credit_code import find_credit_codes
from retrieval.symbols.secrets.email import find_emails
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.iban import find_ibans
from retrieval.symbols.secrets.numbers import find_numbers
from retrieval.symbols.secrets.passport import find_passports
from retrieval.symbols.secrets.plate import find_plates
from retrieval.symbols.secrets.travel_permit import find_travel_permits

_Stage = Callable[[str], Iterable[SecretFound]]


def find_secrets(text: str) -> list[SecretFound]:
    """Return the secrets of a folded text, ordered by start, not overlapping."""
    found: list[SecretFound] = []
    for stage in _STAGES:
        fresh = list(stage(text))
        if fresh:
            text = mask(text, [(s.start, s.end) for s in fresh])
            found += fresh
    found.sort(key=lambda s: s.start)
    return found


# In order of precedence: what one found the next do not see. Each looks for what its kind begins with before it reads.
_STAGES: tuple[_Stage, ...] = (
    find_api_keys,
    find_emails,
    find_ibans,
    find_passports,
    find_travel_permits,
    find_numbers,
    find_credit_codes,
    find_plates,
)
