"""Finds personal and account data in a folded text.

Works in stages; each masks what it found before the next looks, so that replacing the findings
by pseudonyms leaves nothing for a second reading to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from retrieval.symbols.fold import mask
from retrieval.symbols.secrets.address_en import find_english_addresses
from retrieval.symbols.secrets.address_zh import find_chinese_addresses
from retrieval.symbols.secrets.api_key import find_api_keys
from retrieval.symbols.secrets.credit_code import find_credit_codes
from retrieval.symbols.secrets.email import find_emails
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.iban import find_ibans
from retrieval.symbols.secrets.mobile_odd import find_odd_mobiles
from retrieval.symbols.secrets.names_beside import find_names_beside
from retrieval.symbols.secrets.names_en import find_english_names
from retrieval.symbols.secrets.names_form_en import find_english_names_in_forms
from retrieval.symbols.secrets.names_form_zh import find_names_in_forms
from retrieval.symbols.secrets.names_zh import find_chinese_names
from retrieval.symbols.secrets.numbers import find_numbers
from retrieval.symbols.secrets.passport import find_passports
from retrieval.symbols.secrets.person_list import NO_PERSONS, PersonList
from retrieval.symbols.secrets.plate import find_plates
from retrieval.symbols.secrets.travel_permit import find_travel_permits

_Stage = Callable[[str], Iterable[SecretFound]]


def find_secrets(text: str, persons: PersonList = NO_PERSONS) -> list[SecretFound]:
    """Return the secrets of a folded text, ordered by start, not overlapping.

    Args:
        text: The folded text.
        persons: Whose names are secrets wherever they stand; a name that a rule finds has their first form too.
    """
    found: list[SecretFound] = []
    for stage in (*_STAGES, persons.find, *_NAME_STAGES):
        fresh = list(stage(text))
        if fresh:
            text = mask(text, [(s.start, s.end) for s in fresh])
            found += fresh
    found.sort(key=lambda s: s.start)
    return [replace(s, value=persons.first_form(s.value)) if s.kind == "person" else s for s in found]


# In order of precedence: what one found the next do not see. Each looks for what its kind begins with before it reads.
_STAGES: tuple[_Stage, ...] = (
    find_api_keys,
    find_emails,
    find_ibans,
    find_passports,
    find_travel_permits,
    find_numbers,
    find_odd_mobiles,
    find_credit_codes,
    find_plates,
    find_chinese_addresses,
    find_english_addresses,
)
_NAME_STAGES: tuple[_Stage, ...] = (
    find_names_beside,
    find_chinese_names,
    find_names_in_forms,
    find_english_names,
    find_english_names_in_forms,
)
