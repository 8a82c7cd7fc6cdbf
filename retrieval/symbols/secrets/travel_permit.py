"""Numbers of permits for travel between the mainland, Hong Kong, Macau and Taiwan, beside the permit's name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.beside import RENEWED, numbers_beside
from retrieval.symbols.secrets.found import SecretFound

_S = r"(?:[ \n\u200b.\-\u2010-\u2014]{1,2})?"
_END = r"(?![0-9A-Za-z])(?![.,/-][0-9])"
_HOME_RETURN = rf"[HMhm]{_S}[0-9](?:{_S}[0-9]){{7}}(?:(?:{_S}[0-9]){{2}})?"
_TO_HONG_KONG = rf"[CWcw]{_S}[0-9A-Za-z](?:{_S}[0-9]){{7}}"
_TO_TAIWAN = rf"[LTlt]{_S}[0-9](?:{_S}[0-9]){{7}}"
_TAIWAN = rf"[0-9](?:{_S}[0-9]){{7}}(?:(?:{_S}[0-9]){{2}})?(?:\([A-Z0-9]\))?"

# A permit is called by many names; the letter its number begins with tells which it is.
_LETTERED = re.compile(
    rf"(?:港澳居民来往内地|港澳同胞|回乡[证卡]|往[来返]港澳|港澳通行证|通行证|来往港澳|往[来返]台湾){RENEWED}"
    r"|(?i:(?:travel|return|entry|macao|macau|hong kong|taiwan|mainland)[^0-9.;\n]{0,60}?permit)|HKMTP"
)
_LETTERED_NUMBER = re.compile(rf"(?<![0-9A-Za-z])(?:{_HOME_RETURN}|{_TO_HONG_KONG}|{_TO_TAIWAN}){_END}")
_OF_TAIWAN = re.compile(
    r"台胞证|台湾居民[^0-9。\n]{0,12}证|(?i:mainland travel permit|permit for taiwan(?:ese)? (?:compatriot|resident)s?"
    r"|taiwan(?:ese)? (?:compatriot|resident)s?[^0-9。\n]{0,20}permit)|MTP"
)
_OF_TAIWAN_NUMBER = re.compile(rf"(?<![0-9A-Za-z])(?:[Tt]{_S})?{_TAIWAN}{_END}")


_NAMED = ("通行", "回乡", "台胞", "台湾居民", "ermit", "ERMIT", "MTP")


def find_travel_permits(text: str) -> Iterator[SecretFound]:
    """Find numbers of travel permits beside their names."""
    if not any(name in text for name in _NAMED):
        return
    found = [*numbers_beside(text, _LETTERED, _LETTERED_NUMBER), *numbers_beside(text, _OF_TAIWAN, _OF_TAIWAN_NUMBER)]
    found.sort(key=lambda f: f[1])
    done = 0
    for value, start, end in found:
        if start >= done:
            done = end
            yield SecretFound("travel_permit", value, start, end)
