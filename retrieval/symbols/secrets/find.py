"""Personal and account data: mainland mobile numbers, identity cards, e-mail addresses, bank cards.

Works in stages; each masks what it found before the next looks, so that replacing the findings
by pseudonyms leaves nothing for a second reading to find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date

from stdnum import luhn
from stdnum.cn import ric

from retrieval.symbols.fold import mask
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.torn import torn_card, torn_groups, torn_mobile
from retrieval.symbols.values.currencies import currency_before


def find_secrets(text: str) -> list[SecretFound]:
    """Return the secrets of a folded text, ordered by start, not overlapping."""
    found: list[SecretFound] = []
    stages = _STAGES if _ENOUGH_DIGITS.search(text) else _STAGES[:1]
    for stage in stages:
        fresh = list(stage(text))
        if fresh:
            text = mask(text, [(s.start, s.end) for s in fresh])
            found += fresh
    found.sort(key=lambda s: s.start)
    return found


# No secret but an e-mail address has fewer digits, or more than one character between two of them.
_ENOUGH_DIGITS = re.compile(r"[0-9](?:[-.\s\u200b]?[0-9]){10}")

_LOCAL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._%+'-]{0,63})\Z")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}")
_LOCAL_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+'-")


def _emails(text: str) -> Iterator[SecretFound]:
    done = 0
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        start = at
        while domain and start > max(done, at - 64) and text[start - 1] in _LOCAL_CHARS:
            start -= 1
        while start < at and not text[start].isalnum():
            start += 1
        if domain and start < at:
            done = domain.end()
            yield SecretFound("email", text[start:done].lower(), start, done)
        at = text.find("@", max(at + 1, done))


# GB 11643: region (6), birth date (8), order (3), check character (ISO 7064 MOD 11-2).
_PROVINCE = r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[123])"
_ID_CARD = re.compile(
    rf"({_PROVINCE}[0-9]{{4}})([-\s\u200b]?)((?:18|19|20)[0-9]{{6}})\2([0-9]{{3}}[0-9Xx])(?![0-9A-Za-z])"
)
_OLD_ID_CARD = re.compile(rf"{_PROVINCE}[0-9]{{13}}(?![0-9A-Za-z])")


def _id_cards(text: str) -> Iterator[SecretFound]:
    for match in _candidates(_ID_CARD, text):
        number = match.group(1) + match.group(3) + match.group(4).upper()
        if _is_date(match.group(3)) and ric.calc_check_digit(number) == number[-1]:
            yield SecretFound("id_card", number, match.start(), match.end())


def _old_id_cards(text: str) -> Iterator[SecretFound]:
    """Numbers issued before 1999 have no check character: the date alone must hold."""
    for match in _candidates(_OLD_ID_CARD, text):
        digits = match.group()
        if _is_date("19" + digits[6:12]) and not _is_ordinary(text, *match.span()):
            number = f"{digits[:6]}19{digits[6:]}"
            yield SecretFound("id_card", number + ric.calc_check_digit(number + "0"), match.start(), match.end())


# Issuer ranges, ISO/IEC 7812: UnionPay, Visa, Mastercard, Maestro, Amex, JCB, Diners; 9558 is an old ICBC range.
_ISSUER = re.compile(r"3(?:0[0-5]|[4678]|5(?:2[89]|[3-8]))|4|5[0-8]|6|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|9558")
_CARD = re.compile(r"[0-9](?:[0-9]{12,18}(?![0-9A-Za-z])|[0-9]{3}(?:-[0-9]{4}){3}(?:-[0-9]{1,3})?(?![0-9A-Za-z-]))")


def _bank_cards(text: str) -> Iterator[SecretFound]:
    for match in _candidates(_CARD, text):
        digits = match.group().replace("-", "")
        if _is_card(digits) and not _is_ordinary(text, *match.span()):
            yield SecretFound("bank_card", digits, match.start(), match.end())


_MOBILE = re.compile(r"1[3-9][0-9](?:([-. \u200b]?)[0-9]{4}\1[0-9]{4}|[0-9]([- ])[0-9]{3}\2[0-9]{4})(?![0-9A-Za-z])")
_COUNTRY = re.compile(r"(?:\(?(?:\+|00)\s?86\)?|(?<![0-9])86)[-\s\u200b]{0,2}\Z")
_PHONE_LABEL = re.compile(
    r"(?:手机|电话|联系方式|致电|拨打|微信|(?i:(?<![a-z])(?:tel|phone|mobile|mob|cell|call|wechat|whatsapp)))"
    r"(?:号码|号|(?i:\s?(?:no|number|at))\.?)?\s?[:为是]?\s?\Z"
)


def _mobiles(text: str) -> Iterator[SecretFound]:
    done = -1
    for match in _MOBILE.finditer(text):
        start, end = match.span()
        before = text[max(0, start - 24) : start]
        country = _COUNTRY.search(before)
        sure = country is not None or _PHONE_LABEL.search(before) is not None
        if not sure and (_in_number(before) or (start - 1 != done and _AFTER_DASH.search(before))):
            continue
        if not sure and (" " in match.group() or _is_ordinary(text, start, end)):
            continue
        done = end
        yield SecretFound("mobile", _digits(match.group()), start - len(country.group() if country else ""), end)


_AFTER_DASH = re.compile(r"[0-9A-Za-z]-\Z")


# Digit groups set apart by single spaces. A row is read as secrets only if secrets explain all
# of it; otherwise it is the row of a table.
_ROW = re.compile(r"[0-9][0-9]{0,7}+(?: [0-9]{1,8}[Xx]?(?![0-9A-Za-z]))++(?![ .,/-][0-9])")


def _rows(text: str) -> Iterator[SecretFound]:
    for row in _ROW.finditer(text):
        before = text[max(0, row.start() - 8) : row.start()]
        groups = row.group().split(" ")
        if len(groups) < 3 or _in_number(before) or re.search(r"[0-9][,/-]\Z", before):
            continue
        starts = [row.start()]
        for group in groups:
            starts.append(starts[-1] + len(group) + 1)
        for kind, value, first, last in _explain(groups):
            if not _is_ordinary(text, starts[first], starts[last] - 1):
                yield SecretFound(kind, value, starts[first], starts[last] - 1)


def _torn(text: str) -> Iterator[SecretFound]:
    """Find mobile numbers and cards that a line end has torn; the space that joined the lines stands inside."""
    for match in torn_groups(text):
        start, end = match.span()
        if _is_ordinary(text, start, end):
            continue
        before = text[max(0, start - 24) : start]
        mobile = torn_mobile(match.group(), is_labelled=_PHONE_LABEL.search(before) is not None)
        card = torn_card(match.group())
        if mobile is not None:
            yield SecretFound("mobile", mobile, start - before.endswith("+"), end)
        elif card is not None and _is_card(card):
            yield SecretFound("bank_card", card, start, end)


def _explain(groups: list[str]) -> Iterator[tuple[str, str, int, int]]:
    """Yield (kind, value, first, last) of a partition of all groups into secrets; nothing if there is none."""
    best: list[tuple[str, str, int] | None] = [None] * len(groups)
    for i in range(len(groups) - 1, -1, -1):
        for kind, value, n in _units(groups, i):
            if i + n == len(groups) or (i + n < len(groups) and best[i + n] is not None):
                best[i] = (kind, value, n)
                break
    at = 0
    while at < len(groups):
        unit = best[at]
        if unit is None:
            return
        yield unit[0], unit[1], at, at + unit[2]
        at += unit[2]


def _units(groups: list[str], at: int) -> Iterator[tuple[str, str, int]]:
    lengths = [len(g) for g in groups[at : at + 5]]
    if groups[at] in ("86", "0086") and lengths[1:4] == [3, 4, 4] and re.match("1[3-9]", groups[at + 1]):
        yield "mobile", "".join(groups[at + 1 : at + 4]), 4
    if lengths[:3] == [3, 4, 4] and re.match("1[3-9]", groups[at]) and not _years(groups[at + 1 : at + 3]):
        yield "mobile", "".join(groups[at : at + 3]), 3
    if lengths[:3] == [6, 8, 4]:
        match = _ID_CARD.fullmatch("".join(groups[at : at + 3]))
        number = match.group().upper() if match else ""
        if match and _is_date(match.group(3)) and ric.calc_check_digit(number) == number[-1]:
            yield "id_card", number, 3
    for n in (4, 5):
        digits = "".join(groups[at : at + n])
        if lengths[:4] == [4, 4, 4, 4] and len(lengths) >= n and len(digits) <= 19 and _is_card(digits):
            yield "bank_card", digits, n
    if lengths[:3] == [4, 6, 5] and _is_card("".join(groups[at : at + 3])):
        yield "bank_card", "".join(groups[at : at + 3]), 3


def _years(groups: list[str]) -> bool:
    return all(re.fullmatch("(?:19|20)[0-9]{2}", g) for g in groups)


# A small-letter word is glued text (zhang13812345678); capitals before digits make a serial number.
_BEFORE_LABEL = re.compile(r"(?<![A-Za-z])(?i:tel|phone|mobile|mob|cell|id|card)\Z|[a-z]{3}\Z")


def _in_number(before: str) -> bool:
    """Tell whether digits that follow `before` continue a number or an identifier."""
    if not before:
        return False
    if before[-1] in "0123456789" or (before[-1] == "." and before[-2:-1].isdecimal()):
        return True
    return before[-1].isascii() and before[-1].isalpha() and _BEFORE_LABEL.search(before) is None


def _candidates(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    for match in pattern.finditer(text):
        if not _in_number(text[max(0, match.start() - 8) : match.start()]):
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


def _is_ordinary(text: str, start: int, end: int) -> bool:
    """Tell whether a label, a currency or a unit says that the digits are no secret."""
    return (
        _NUMBER_LABEL.search(text[max(0, start - 24) : start]) is not None
        or _UNIT_AFTER.match(text, end) is not None
        or currency_before(text, start) is not None
    )


def _is_card(digits: str) -> bool:
    return 13 <= len(digits) <= 19 and _ISSUER.match(digits) is not None and luhn.is_valid(digits)


def _is_date(digits: str) -> bool:
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    return True


def _digits(text: str) -> str:
    return "".join(c for c in text if c in "0123456789")


_STAGES: tuple[Callable[[str], Iterator[SecretFound]], ...] = (
    _emails, _id_cards, _old_id_cards, _bank_cards, _mobiles, _rows, _torn,
)  # fmt: skip
