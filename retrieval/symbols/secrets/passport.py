"""Passport numbers, which only the word beside them tells from other numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.beside import RENEWED, numbers_beside
from retrieval.symbols.secrets.found import SecretFound

_LABEL = re.compile(rf"护照{RENEWED}|[Pp](?:assport|ASSPORT)")
_S = r"(?:[ \n\u200b.\-\u2010-\u2014]{1,2})?"
_NUMBER = re.compile(
    rf"(?<![0-9A-Za-z])(?![Nn][Oo][^0-9A-Za-z])(?:[A-Za-z]{_S}(?:[A-Za-z]{_S})?[0-9](?:{_S}[0-9]){{5,7}}|[0-9](?:{_S}[0-9]){{8}})(?![0-9A-Za-z])"
    r"(?![.,/-][0-9])"
)


_NAMED = ("护照", "assport", "ASSPORT")


def find_passports(text: str) -> Iterator[SecretFound]:
    """Find passport numbers beside the word."""
    if not any(name in text for name in _NAMED):
        return
    for value, start, end in numbers_beside(text, _LABEL, _NUMBER):
        yield SecretFound("passport", value, start, end)
