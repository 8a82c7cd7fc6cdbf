"""The grammar of tokens: what stands in an index text in place of a symbol."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrieval.symbols.codes.domain import Vocabulary
from retrieval.symbols.pseudonyms import PSEUDONYM
from retrieval.symbols.values.currencies import CODES as CURRENCY_CODES
from retrieval.symbols.values.units import COUNTED, MEASURED
from retrieval.types import Symbol

AS_WRITTEN = frozenset({"number", "url", "ip_address"})
"""Kinds of values that an index text keeps as they are written."""
_COUNT = "[COUNT_"
_SCALE_WORD = re.compile(
    r"[万亿萬億]|[百千]万|(?i:hundred|thousand|million|billion|trillion|crore|lakh|(?<![a-z])(?:mn|bn|tn|mln|bln)(?![a-z]))"
)


def is_as_written(symbol: Symbol) -> bool:
    """Tell whether an index text keeps a symbol as written: plain numbers, links, counts without a scale word."""
    if symbol.kind in AS_WRITTEN:
        return True
    return symbol.token.startswith(_COUNT) and _SCALE_WORD.search(symbol.surface) is None


def token_grammar(vocabularies: Iterable[Vocabulary]) -> str:
    """Return the pattern of all tokens; group 1 takes part in pseudonyms only."""
    number = r"-?[0-9]{1,60}(?:\.[0-9]{1,40})?"
    codes = [re.escape(f"{v.token_prefix}_{c.code}") for v in vocabularies for c in v.codes]
    codes.append(r"ENTITY_[A-Z0-9][A-Z0-9_.-]{0,31}")
    measured, counted = ("|".join(re.escape(name.upper()) for name in names) for names in (MEASURED, COUNTED))
    time = r"[0-9]{4}(?:Q[1-4]|H[12]|-[0-9]{2}(?:-[0-9]{2})?)?"
    clock = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?"
    length = r"PT?[0-9]{1,9}(?:\.[0-9]{1,9})?[YMDHS]"
    figures = [
        rf"(?:{'|'.join(CURRENCY_CODES)})_{number}(?:/(?:{measured}|{counted}))?",
        rf"QTY_{number}(?:_(?:{measured}))?",
        rf"COUNT_{number}_(?:{counted})",
        rf"(?:PCT|PP)_{number}",
        rf"RATIO_(?:{number}X|[0-9]{{1,30}}:[0-9]{{1,30}})",
    ]
    alternatives = [*figures, rf"(?:DATE|PERIOD)_{time}(?:/{time})?", rf"TIME_{clock}", rf"DURATION_{length}", *codes]
    return rf"{PSEUDONYM.pattern}|\[(?:{'|'.join(alternatives)})\]"
