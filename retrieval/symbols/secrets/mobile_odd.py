"""Mobile numbers in groups that hardly anything but a label makes one number: 138/1234/5678, 138_1234_5678."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import is_ordinary_labelled, is_phone_labelled, text_before

_SEPARATOR = r"[/_\t*,` -]{1,5}"
_MOBILE = re.compile(
    rf"1(?<![0-9A-Za-z]1)[3-9][0-9](?:{_SEPARATOR}[0-9]{{4}}(?:{_SEPARATOR})?|[0-9]{{4}}{_SEPARATOR})[0-9]{{4}}"
    r"(?![0-9A-Za-z])"
)
_NOT_DIGIT = re.compile("[^0-9]+")
_BOLD = re.compile(r"\*\*1[0-9]+\*\*[0-9]+|1[0-9]{2}\*\*[0-9]{4}\*\*[0-9]{4}")


def find_odd_mobiles(text: str) -> Iterator[SecretFound]:
    """Yield the numbers of a folded text in which plainly written ones are masked."""
    for number in _MOBILE.finditer(text):
        start, end = number.span()
        before = text_before(text, start).rstrip("*`_")
        bold = _BOLD.match(text, start - 2 if text[start - 2 : start] == "**" else start)
        is_bold = bold is not None and bold.end() == end and not is_ordinary_labelled(before)
        if is_bold or is_phone_labelled(before):
            yield SecretFound("mobile", _NOT_DIGIT.sub("", number.group()), start, end, 0.9)
