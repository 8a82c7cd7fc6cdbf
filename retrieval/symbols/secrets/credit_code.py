"""Unified social credit codes of the mainland (GB 32100): authority, region, organisation, check character."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum.cn import uscc

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import is_ordinary_labelled, text_before

_SEPARATOR = r"[ \n\u200b\-\u2010-\u2014]"
_REGION = r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3]|10)"
# Digits and letters without I, O, S, V, Z; authority and kind, region, then the organisation.
_CANDIDATE = re.compile(
    rf"[159YNA](?<![0-9A-Za-z]{{2}}){_SEPARATOR}?[1-9gG]{_SEPARATOR}?[1-8](?:{_SEPARATOR}?[0-9]){{5}}"
    rf"(?:{_SEPARATOR}?[0-9A-HJ-NPQRTUWXYa-hj-npqrtuwxy]){{10}}(?![0-9A-Za-z])"
)
_LABEL = re.compile(
    r"(?:信用代码|税号|纳税人识别号|(?i:credit (?:code|no|number)|uscc|usci|tax (?:id|no|number)))[^0-9\n]{0,12}\Z"
)
_NOT_ALNUM = re.compile("[^0-9A-Za-z]+")


def find_credit_codes(text: str) -> Iterator[SecretFound]:
    """Find credit codes in one go or in groups."""
    for match in _CANDIDATE.finditer(text):
        written = match.group()
        code = _NOT_ALNUM.sub("", written).upper()
        if re.match(_REGION, code[2:4]) is None or not uscc.is_valid(code):
            continue
        before = text_before(text, match.start())
        labelled = _LABEL.search(before) is not None
        # A code of digits alone, or a number in groups, may be any number: one in thirty has this check character.
        if not labelled and (
            is_ordinary_labelled(before) or (code.isdecimal() and not code.startswith(("91", "92", "93")))
        ):
            continue
        if not labelled and written != written.upper() and any(c.isupper() for c in written):
            continue
        yield SecretFound("credit_code", code, match.start(), match.end())
