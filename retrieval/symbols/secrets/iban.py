"""International bank account numbers: country, check digits and the length the country has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from stdnum import iban, numdb
from stdnum.exceptions import ValidationError

from retrieval.symbols.secrets.found import SecretFound

_SEPARATOR = r"[ \n\u200b.\-\u2010-\u2014]"
# From the check digits on, which are rarer than the letters before them.
_CANDIDATE = re.compile(
    rf"[0-9](?:(?<=[A-Za-z]{{2}}[0-9])(?<![0-9A-Za-z][A-Za-z]{{2}}[0-9])|(?<=IBAN[A-Z]{{2}}[0-9])"
    # DE 89 3704
    rf"|(?<=[A-Z]{{2}} [0-9])(?<![0-9A-Za-z][A-Z]{{2}} [0-9]))[0-9](?:{_SEPARATOR}{{0,2}}[0-9A-Za-z]){{11,40}}+"
)
_LENGTH = re.compile(r"([1-9][0-9]*)![nac]")
_NOT_ALNUM = re.compile("[^0-9A-Za-z]+")


def find_ibans(text: str) -> Iterator[SecretFound]:
    """Find account numbers in one go or in groups; what follows them in letters or digits is cut off at the length."""
    at = 0
    while (match := _CANDIDATE.search(text, at)) is not None:
        start = match.start() - 2 - (text[match.start() - 1] == " ")
        end = _end(text, start, match.end())
        number = _NOT_ALNUM.sub("", text[start:end]).upper()
        if end and _is_valid(number):
            yield SecretFound("iban", number, start, end)
            at = end
        else:
            at = match.start() + 2


def _end(text: str, start: int, stop: int) -> int:
    """Return where the number that begins at `start` ends by its country's length; 0 if it is none."""
    missing = _length(text[start : start + 2].upper())
    if not missing:
        return 0
    for at in range(start, stop):
        if text[at].isalnum():
            missing -= 1
            if missing == 0:
                after = text[at + 1 : at + 2]
                return 0 if after.isascii() and after.isalnum() else at + 1
    return 0


@lru_cache(maxsize=1024)
def _length(country: str) -> int:
    properties = numdb.get("iban").info(country + "00")[0][1]
    return 4 + sum(map(int, _LENGTH.findall(properties["bban"]))) if properties else 0


def _is_valid(number: str) -> bool:
    try:
        iban.validate(number, check_country=False)
    except ValidationError:
        return False
    return True
