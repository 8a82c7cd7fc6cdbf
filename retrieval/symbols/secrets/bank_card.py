"""Bank cards: Luhn and the ranges of the issuers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum import luhn

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import candidates, is_ordinary

# Issuer ranges, ISO/IEC 7812: UnionPay, Visa, Mastercard, Maestro, Amex, JCB, Diners; 9558 is an old ICBC range.
_ISSUER = re.compile(r"3(?:0[0-5]|[4678]|5(?:2[89]|[3-8]))|4|5[0-8]|6|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|9558")
_CARD = re.compile(r"[0-9](?:[0-9]{12,18}(?![0-9A-Za-z])|[0-9]{3}(?:-[0-9]{4}){3}(?:-[0-9]{1,3})?(?![0-9A-Za-z-]))")


def find_bank_cards(text: str) -> Iterator[SecretFound]:
    """Find card numbers written without a break or in groups of four set apart by dashes."""
    for match in candidates(_CARD, text):
        digits = match.group().replace("-", "")
        if is_card(digits) and not is_ordinary(text, *match.span()):
            yield SecretFound("bank_card", digits, match.start(), match.end())


def is_card(digits: str) -> bool:
    """Tell whether the digits have the length, the issuer range and the check digit of a card."""
    return 13 <= len(digits) <= 19 and _ISSUER.match(digits) is not None and luhn.is_valid(digits)
