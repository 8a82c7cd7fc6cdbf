"""Mainland number plates: province, letter, five or six characters; embassies, police, trailers, Hong Kong, Macau."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import is_ordinary_labelled, text_before

_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_DOT = r"[ ]?[·•・‧.\-\u2010-\u2014 ]?[ ]?"
_SERIAL = "[0-9A-HJ-NP-Za-hj-np-z]"
_LAST = "[0-9A-HJ-NP-Za-hj-np-z挂学警港澳领使试超]"
_PROVINCE = re.compile(f"[{_PROVINCES}]")
# From the letter on, which is rarer in Chinese text than the characters before it.
_PLATE = re.compile(
    rf"[A-Za-z](?:(?<=[{_PROVINCES}][A-Za-z])|(?<=[{_PROVINCES}] [A-Za-z])(?=·)){_DOT}"
    rf"(?:{_SERIAL}{{5}}[0-9DFdf]|[DFdf]{_SERIAL}{{5}}|{_SERIAL}{{4}}{_LAST})(?![0-9A-Za-z])"
)
_EMBASSY = re.compile(rf"[使领]{_DOT}[0-9]{{3}}{_DOT}[0-9]{{3}}(?![0-9A-Za-z])")
_LABEL = re.compile(
    r"(?:车牌|牌照|号牌|车号|车辆|挂车|轿车|(?i:plate|licen[cs]e|registration|vehicle))[^0-9。;\n]{0,16}\Z"
)
# 更新A12345 is no plate of Xinjiang: the character ends a word.
_WORD_ENDS = frozenset(
    f"{before}{last}"
    for last, befores in {
        "新": "更最全创重刷翻高革清", "京": "北南东", "津": "天", "川": "四银", "藏": "收珍西", "蒙": "内",
        "宁": "南西辽",
        "苏": "江", "云": "里讯为上多有", "青": "年", "贵": "珍", "黑": "全纯",
    }.items()
    for before in befores
)  # fmt: skip
_NO_PART = re.compile("[^0-9A-Za-z\u4e00-\u9fff]")
_COUNTED = re.compile(r"\s?[人名元万亿个户次台件吨%]")


def find_plates(text: str) -> Iterator[SecretFound]:
    """Find number plates; the value has no dot and no space."""
    if text.isascii():
        return
    # Foreign text with a dash or an accent in it has many letters and no province.
    for match in _PLATE.finditer(text) if _PROVINCE.search(text) else ():
        yield from _judge(text, match.start() - (2 if text[match.start() - 1] == " " else 1), match.end())
    if "使" in text or "领" in text:
        for match in _EMBASSY.finditer(text):
            yield from _judge(text, *match.span())


def _judge(text: str, start: int, end: int) -> Iterator[SecretFound]:
    written = text[start:end]
    value = _NO_PART.sub("", written).upper()
    labelled = _LABEL.search(text_before(text, start)) is not None
    if labelled or _stands(text, start, end, value):
        yield SecretFound("plate", value, start, end, 1.0 if labelled else 0.9)


def _stands(text: str, start: int, end: int, value: str) -> bool:
    if value[0] in "使领":
        return "·" in text[start:end] and _COUNTED.match(text, end) is None
    if is_ordinary_labelled(text_before(text, start)):
        return False
    word = text[max(0, start - 1) : start + 1]
    serial = value[2:]
    letters = sum(c.isalpha() and c.isascii() for c in serial)
    if word in _WORD_ENDS or letters > 2 or sum(c.isdecimal() for c in serial) < 3:
        return False
    # Between words a space stands before prose too (川A 20240): a plate has a dot or nothing there.
    return _COUNTED.match(text, end) is None and value[1] not in "IO"
