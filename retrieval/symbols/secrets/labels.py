"""What the surroundings of digits say: a label, a currency, a unit, a longer number they go on from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.values.currencies import currency_before

PHONE_LABEL = re.compile(
    r"(?:手机|电话|联系方式|致电|拨打|微信|(?i:(?<![a-z])(?:tel|phone|mobile|mob|cell|call|wechat|whatsapp)))"
    r"(?:号码|号|(?i:\s?(?:no|number|at))\.?)?\s?[:为是]?\s?\Z"
)


# A small-letter word is glued text (zhang13812345678); capitals before digits make a serial number.
_BEFORE_LABEL = re.compile(r"(?<![A-Za-z])(?i:tel|phone|mobile|mob|cell|id|card)\Z|[a-z]{3}\Z")


def in_number(before: str) -> bool:
    """Tell whether digits that follow `before` continue a number or an identifier."""
    if not before:
        return False
    if before[-1] in "0123456789" or (before[-1] == "." and before[-2:-1].isdecimal()):
        return True
    return before[-1].isascii() and before[-1].isalpha() and _BEFORE_LABEL.search(before) is None


def candidates(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that continue no number or identifier."""
    for match in pattern.finditer(text):
        if not in_number(text[max(0, match.start() - 8) : match.start()]):
            yield match


_NUMBER_LABEL = re.compile(
    r"(?:订单|单号|编号|流水|发票|合同|批号|货号|序列|条码|快递|运单|凭证|文号|ISBN|ISSN"
    r"|(?i:(?<![a-z])(?:order|invoice|tracking|serial|sku|ref|reference|batch|isbn|document|contract|ticket)))"
    r"(?:号码|号|(?i:\s?(?:no|number|id|code))\.?)?[\s_]?[:#为是]?\s?#?\Z"
)
_UNIT_AFTER = re.compile(
    r"[.][0-9]|,[0-9]{3}(?![0-9])|\s?(?:[元圆%股份吨台个]|[十百千]?[万亿]|(?:美|港|欧|日)元|人民币"
    r"|(?i:million|billion|thousand|yuan|rmb|cny|usd|dollars|units|shares)\b)"
)


def is_ordinary(text: str, start: int, end: int) -> bool:
    """Tell whether a label, a currency or a unit says that the digits are no secret."""
    return (
        _NUMBER_LABEL.search(text[max(0, start - 24) : start]) is not None
        or _UNIT_AFTER.match(text, end) is not None
        or currency_before(text, start) is not None
    )


def digits_of(text: str) -> str:
    """Return the ASCII digits of a text."""
    return "".join(c for c in text if c in "0123456789")
