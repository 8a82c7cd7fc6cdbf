"""Mainland mobile numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import PHONE_LABEL, digits_of, in_number, is_ordinary

_MOBILE = re.compile(r"1[3-9][0-9](?:([-. \u200b]?)[0-9]{4}\1[0-9]{4}|[0-9]([- ])[0-9]{3}\2[0-9]{4})(?![0-9A-Za-z])")
_COUNTRY = re.compile(r"(?:\(?(?:\+|00)\s?86\)?|(?<![0-9])86)[-\s\u200b]{0,2}\Z")


def find_mobiles(text: str) -> Iterator[SecretFound]:
    """Find mobile numbers; a country code before one belongs to it."""
    done = -1
    for match in _MOBILE.finditer(text):
        start, end = match.span()
        before = text[max(0, start - 24) : start]
        country = _COUNTRY.search(before)
        sure = country is not None or PHONE_LABEL.search(before) is not None
        if not sure and (in_number(before) or (start - 1 != done and _AFTER_DASH.search(before))):
            continue
        if not sure and (" " in match.group() or is_ordinary(text, start, end)):
            continue
        done = end
        yield SecretFound("mobile", digits_of(match.group()), start - len(country.group() if country else ""), end)


_AFTER_DASH = re.compile(r"[0-9A-Za-z]-\Z")
