"""How currencies are named before and after a figure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrieval.symbols.values.signs import is_sign

# ISO 4217 code → writings before the figure, writings after it.
_NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "CNY": (
        ("人民币", "RMB¥", "RMB", "CNY", "CN¥", "¥"),
        ("元人民币", "人民币元", "人民币", "yuan renminbi", "yuan", "renminbi", "RMB", "CNY"),
    ),
    "USD": (
        ("美元", "美金", "US$", "USD$", "USD", "$"),
        ("美元", "美金", "US dollars", "US dollar", "U.S. dollars", "dollars", "dollar", "USD"),
    ),
    "HKD": (
        ("港币", "港元", "HK$", "HKD"),
        ("港元", "港币", "元港币", "Hong Kong dollars", "HK dollars", "HKD"),
    ),
    "EUR": (("欧元", "€", "EUR"), ("欧元", "euros", "euro", "EUR", "€")),
    "GBP": (("英镑", "£", "GBP"), ("英镑", "pounds sterling", "British pounds", "pounds", "GBP")),
    "JPY": (("日元", "JP¥", "JPY"), ("日元", "日圆", "yen", "JPY")),
    "TWD": (("新台币", "新臺币", "NT$", "TWD"), ("新台币", "元新台币", "New Taiwan dollars", "TWD")),
    "MOP": (("澳门元", "澳门币", "MOP$", "MOP"), ("澳门元", "澳门币", "MOP")),
    "SGD": (("新加坡元", "S$", "SGD"), ("新加坡元", "新元", "Singapore dollars", "SGD")),
    "AUD": (("澳元", "A$", "AU$", "AUD"), ("澳元", "Australian dollars", "AUD")),
    "CAD": (("加元", "C$", "CA$", "CAD"), ("加元", "Canadian dollars", "CAD")),
    "CHF": (("瑞士法郎", "CHF"), ("瑞士法郎", "瑞郎", "Swiss francs", "CHF")),
    "KRW": (("韩元", "₩", "KRW"), ("韩元", "Korean won", "KRW")),
    "INR": (("₹", "INR", "Rs.", "Rs"), ("卢比", "rupees", "rupee", "INR")),
    "NZD": (("新西兰元", "NZ$", "NZD"), ("新西兰元", "New Zealand dollars", "NZD")),
    "SEK": (("瑞典克朗", "SEK"), ("瑞典克朗", "Swedish kronor", "SEK")),
    "NOK": (("挪威克朗", "NOK"), ("挪威克朗", "Norwegian kroner", "NOK")),
    "DKK": (("丹麦克朗", "DKK"), ("丹麦克朗", "Danish kroner", "DKK")),
    "THB": (("泰铢", "฿", "THB"), ("泰铢", "Thai baht", "baht", "THB")),
    "MYR": (("林吉特", "RM", "MYR"), ("林吉特", "ringgit", "MYR")),
    "VND": (("越南盾", "₫", "VND"), ("越南盾", "Vietnamese dong", "VND")),
    "BRL": (("巴西雷亚尔", "R$", "BRL"), ("雷亚尔", "Brazilian reais", "BRL")),
    "ZAR": (("南非兰特", "ZAR"), ("南非兰特", "兰特", "ZAR")),
    "AED": (("迪拉姆", "AED"), ("迪拉姆", "dirhams", "AED")),
    "RUB": (("₽", "RUB"), ("卢布", "roubles", "rubles", "RUB")),
}
CODES = tuple(_NAMES)

# 元 is also the first half of other words (元素, 元旦, 一元二次方程).
_YUAN = (
    r"块钱|块(?<=[0-9十百千万]{2}块)(?![\u4e00-\u9fff0-9])"
    # 三块五毛, 1块5
    r"|块(?=[0-9一二三四五六七八九](?:[毛角]|(?!\.?[0-9]|[A-Za-z%\u4e00-\u9fff-])|[一每的左上]))"
    r"|[元圆](?![素旦宵首件老帅气音编器]|[一二三n]次|年|月|方程|化)"
)


def _codes(position: int) -> dict[str, str]:
    return {name.lower(): code for code, names in _NAMES.items() for name in names[position]}


def _alternation(names: Iterable[str]) -> str:
    ordered = sorted(names, key=len, reverse=True)
    return "|".join(re.escape(n).replace(r"\ ", r"\s") for n in ordered)


def _ending_in(last: str) -> tuple[re.Pattern[str], int]:
    """Return the pattern of the names before a figure that end in a character, and how far back it reaches."""
    names = [n for n in _BEFORE_CODES if n[-1] == last]
    pattern = rf"(-?)(?:(?<![A-Z])(?![A-Za-z])|(?<![A-Za-z]))((?i:{_alternation(names)}))\s{{0,2}}(-?)\Z"
    return re.compile(pattern), max(map(len, names)) + 6


_BEFORE_CODES = _codes(0)
_AFTER_CODES = _codes(1)
# Not where the name belongs to the figure after it: 2亿，人民币3亿元.
_AFTER = re.compile(
    rf"[余多]?[\s-]{{0,2}}(?:((?i:{_alternation(_AFTER_CODES)}))(?![A-Za-z])(?!\s{{0,2}}[0-9])|({_YUAN}))"
)
# Pounds that were weighed.
_WEIGHT = re.compile(
    r"(?i:weigh|mass of|lift)[a-z]*(?:\s[a-z-]{1,12}){0,4}(?:\s[0-9][0-9,.]*)?(?:\s(?:thousand|million))?\Z"
)
CURRENCIES_AFTER = tuple(_AFTER_CODES)
"""The names that stand after a figure, in small letters."""
# Pattern and reach by the character the name ends in: a few names are tried instead of all.
_BEFORE = {c: _ending_in(n[-1]) for n in _BEFORE_CODES for c in (n[-1], n[-1].upper())}


# A sign with none of these before it names its currency by itself; most figures of a table's columns have one.
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY"}
_NO_NAME = frozenset(" |(\n\t")


def may_have_currency(text: str, start: int) -> bool:
    """Tell quickly whether a currency may be written right before position `start`."""
    last = text[start - 1 : start]
    if last in " -":
        last = text[max(0, start - 4) : start].rstrip(" -")[-1:]
    return last in _BEFORE


def currency_before(text: str, start: int) -> tuple[str, int, bool] | None:
    """Return (ISO code, start, negative) of a currency written right before position `start`."""
    last, gap = text[start - 1 : start], 0
    if last in " -":  # or nothing
        window = text[max(0, start - 4) : start]
        near = window.rstrip(" -")
        last, gap = near[-1:], len(window) - len(near)
    found = _BEFORE.get(last)
    if found is None:
        return None
    sign = start - gap - 1
    if last in _SIGNS and text[sign - 1 : sign] in _NO_NAME and (not gap or text[sign + 1 : start].isspace()) and sign:
        return _SIGNS[last], sign, False
    pattern, reach = found
    offset = max(0, start - reach)
    match = pattern.search(text[offset:start])
    if match is None:
        return None
    at = offset + match.start(2)
    minus = bool(match.group(1)) and is_sign(text, at - 1)
    return _BEFORE_CODES[" ".join(match.group(2).lower().split())], at - minus, minus or bool(match.group(3))


def currency_after(text: str, end: int) -> tuple[str, int] | None:
    """Return (ISO code, end) of a currency written right after position `end`; a bare 元 is CNY."""
    match = _AFTER.match(text, end)
    if match is None:
        return None
    if match.group(2):
        return "CNY", match.end()
    name = " ".join(match.group(1).lower().split())
    if name == "pounds" and (text.startswith(" of ", match.end()) or _WEIGHT.search(text, max(0, end - 48), end)):
        return None
    return _AFTER_CODES[name], match.end()
