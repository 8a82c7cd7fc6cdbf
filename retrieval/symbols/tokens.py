"""The grammar of tokens: what stands in an index text in place of a symbol."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrieval.symbols.codes.domain import Vocabulary
from retrieval.symbols.pseudonyms import PSEUDONYM
from retrieval.symbols.values.currencies import CODES as CURRENCY_CODES

AS_WRITTEN = frozenset({"number", "url", "ip_address"})
"""Kinds of values that an index text keeps as they are written."""


def token_grammar(vocabularies: Iterable[Vocabulary]) -> str:
    """Return the pattern of all tokens; group 1 takes part in pseudonyms only."""
    number = r"-?[0-9]{1,45}(?:\.[0-9]{1,24})?"
    codes = [re.escape(f"{v.token_prefix}_{c.code}") for v in vocabularies for c in v.codes]
    codes.append(r"ENTITY_[A-Z0-9][A-Z0-9_.-]{0,31}")
    figures = "|".join((*CURRENCY_CODES, "QTY", "PCT", "PP"))
    time = r"[0-9]{4}(?:Q[1-4]|H[12]|-[0-9]{2}(?:-[0-9]{2})?)?"
    alternatives = [rf"(?:{figures})_{number}", rf"(?:DATE|PERIOD)_{time}(?:/{time})?", *codes]
    return rf"{PSEUDONYM.pattern}|\[(?:{'|'.join(alternatives)})\]"
