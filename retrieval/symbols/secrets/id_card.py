"""Mainland identity cards of 18 characters, and the old ones of 15 digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from stdnum.cn import ric

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import candidates, is_ordinary

# GB 11643: region (6), birth date (8), order (3), check character (ISO 7064 MOD 11-2).
_PROVINCE = r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[123])"
ID_CARD = re.compile(
    rf"({_PROVINCE}[0-9]{{4}})([-\s\u200b]?)((?:18|19|20)[0-9]{{6}})\2([0-9]{{3}}[0-9Xx])(?![0-9A-Za-z])"
)
_OLD_ID_CARD = re.compile(rf"{_PROVINCE}[0-9]{{13}}(?![0-9A-Za-z])")


def find_id_cards(text: str) -> Iterator[SecretFound]:
    """Find identity numbers of 18 characters by their date and check character."""
    for match in candidates(ID_CARD, text):
        number = match.group(1) + match.group(3) + match.group(4).upper()
        if is_date(match.group(3)) and ric.calc_check_digit(number) == number[-1]:
            yield SecretFound("id_card", number, match.start(), match.end())


def find_old_id_cards(text: str) -> Iterator[SecretFound]:
    """Numbers issued before 1999 have no check character: the date alone must hold."""
    for match in candidates(_OLD_ID_CARD, text):
        digits = match.group()
        if is_date("19" + digits[6:12]) and not is_ordinary(text, *match.span()):
            number = f"{digits[:6]}19{digits[6:]}"
            yield SecretFound("id_card", number + ric.calc_check_digit(number + "0"), match.start(), match.end())


def is_date(digits: str) -> bool:
    """Tell whether eight digits are a day of the calendar."""
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    return True
