"""What the letter m behind a bare figure means: millions of people, or metres."""

from __future__ import annotations

import re
from typing import Literal

_NOUN = re.compile(
    r"\s(?:users|customers|clients|subscribers|members|accounts|visitors|barrels|jobs|workers|residents|downloads"
    r"|passengers|followers|viewers|records|policies|loans|homes|tons|tonnes)(?![a-z])"
)
_LENGTH = re.compile(
    r"[\u4e00-\u9fff×]|[0-9]\s?m?\s?x\s|(?<![A-Za-z])x\s?[0-9]|(?<![A-Za-z])(?i:high|tall|long|wide|deep|thick|away|apart"
    r"|height|width|length|depth|distance|diameter|radius|altitude|elevation|pole|cable|pipe|fence|wall|tower|bridge"
    r"|race|sprint|freestyle|hurdles|swim|measur[a-z]+|span[a-z]*|stretch[a-z]*|beam|rope|vessel|ship|trench|tunnel|mast"
    r"|waves?|metres?|meters?|km|cm)(?![A-Za-z])"
)
_REACH = 32


def read_m(text: str, start: int, end: int) -> Literal["million", "metre", ""]:
    """Tell what the m says that ends at `end` behind the figure at `start`; nothing where no word around decides.

    `3.5m customers` are millions; `a pole 1.2m high`, `长1.2m` are metres. Counted nouns that are units of their own
    (people, shares) are the caller's.
    """
    if _NOUN.match(text, end):
        return "million"
    if _LENGTH.search(text, max(0, start - _REACH), start) or _LENGTH.search(text, end, end + _REACH):
        return "metre"
    return ""
