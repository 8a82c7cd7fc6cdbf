"""Finds personal and account data in a folded text.

Works in stages; each masks what it found before the next looks, so that replacing the findings
by pseudonyms leaves nothing for a second reading to find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from retrieval.symbols.fold import mask
from retrieval.symbols.secrets.bank_card import find_bank_cards
from retrieval.symbols.secrets.email import find_emails
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.id_card import find_id_cards, find_old_id_cards
from retrieval.symbols.secrets.mobile import find_mobiles
from retrieval.symbols.secrets.rows import find_rows
from retrieval.symbols.secrets.torn import find_torn

_Stage = Callable[[str], Iterable[SecretFound]]


def find_secrets(text: str) -> list[SecretFound]:
    """Return the secrets of a folded text, ordered by start, not overlapping."""
    found: list[SecretFound] = []
    has_digits = _ENOUGH_DIGITS.search(text) is not None
    for stage, needs_digits in _STAGES:
        if needs_digits and not has_digits:
            continue
        fresh = list(stage(text))
        if fresh:
            text = mask(text, [(s.start, s.end) for s in fresh])
            found += fresh
    found.sort(key=lambda s: s.start)
    return found


# What the stages that need digits find has eleven and more, and never more than one character between two of them.
_ENOUGH_DIGITS = re.compile(r"[0-9](?:[-.\s\u200b]?[0-9]){10}")

# (stage, whether it needs a long run of digits), in order of precedence: what one found the next do not see.
_STAGES: tuple[tuple[_Stage, bool], ...] = (
    (find_emails, False),
    (find_id_cards, True),
    (find_old_id_cards, True),
    (find_bank_cards, True),
    (find_mobiles, True),
    (find_rows, True),
    (find_torn, True),
)
