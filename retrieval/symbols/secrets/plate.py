"""Mainland number plates: province, letter, five or six characters; embassies, police, trailers, Hong Kong, Macau."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.labels import text_before

_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_TRADITIONAL = str.maketrans("滬雲遼魯蘇贛陝閩貴粵寧瓊領學掛", "沪云辽鲁苏赣陕闽贵粤宁琼领学挂")
_WRITTEN = _PROVINCES + "滬雲遼魯蘇贛陝閩貴粵寧瓊"
_DOT = r"[ ]?[·•・‧.\-\u2010-\u2014 ]?[ ]?"
_SERIAL = "[0-9A-HJ-NP-Za-hj-np-z]"
_LAST = "[0-9A-HJ-NP-Za-hj-np-z挂掛学學警港澳领領使试超]"
_PLATE = re.compile(
    rf"[{_WRITTEN}][A-Za-z]{_DOT}(?:{_SERIAL}{{5}}[0-9DFdf]|[DFdf]{_SERIAL}{{5}}|{_SERIAL}{{4}}{_LAST})(?![0-9A-Za-z])"
    rf"|[使领領]{_DOT}[0-9]{{3}}{_DOT}[0-9]{{3}}(?![0-9A-Za-z])"
)
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
_COUNTED = re.compile(r"\s?[人名元万亿个户次台件吨%]")


def find_plates(text: str) -> Iterator[SecretFound]:
    """Find number plates; the value has no dot and no space."""
    for match in _PLATE.finditer(text):
        written = match.group()
        value = re.sub(r"[^0-9A-Za-z\u4e00-\u9fff]", "", written).upper().translate(_TRADITIONAL)
        labelled = _LABEL.search(text_before(text, match.start())) is not None
        if labelled or _stands(text, match, value):
            yield SecretFound("plate", value, match.start(), match.end(), 1.0 if labelled else 0.9)


def _stands(text: str, match: re.Match[str], value: str) -> bool:
    if value[0] in "使领":
        return "·" in match.group() and _COUNTED.match(text, match.end()) is None
    word = text[max(0, match.start() - 1) : match.start() + 1]
    serial = value[2:]
    letters = sum(c.isalpha() and c.isascii() for c in serial)
    if word in _WORD_ENDS or letters > 2 or sum(c.isdecimal() for c in serial) < 3:
        return False
    # Between words a space stands before prose too (川A 20240): a plate has a dot or nothing there.
    return _COUNTED.match(text, match.end()) is None and value[1] not in "IO"
