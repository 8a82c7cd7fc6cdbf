"""Units of quantities: how they are written after a figure, and what they are converted to.

Every conversion is exact (a mile is 1609.344 m, a 亩 2000/3 m²).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit read in a text."""

    name: str
    """Of the normal form: `kg`, `person`."""
    factor: Fraction
    """What one written unit is in the unit of the normal form."""
    counted: bool
    """Whether it counts things (persons, copies) rather than measures."""
    end: int


def _exact(text: str) -> Fraction:
    return Fraction(text)


# Unit of the normal form → factor → writings. Those in capitals or with signs are matched as they stand.
_MEASURES: dict[str, dict[str, str]] = {
    "kg": {
        "0.000001": "毫克 mg milligram milligrams",
        "0.001": "克 g gram grams gramme grammes",
        "1": "千克 公斤 kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos",
        "1000": "吨 公吨 t tonne tonnes ton tons metric_ton metric_tons metric_tonne metric_tonnes",
    },
    "m": {
        "0.001": "毫米 mm millimetre millimetres millimeter millimeters",
        "0.01": "厘米 cm centimetre centimetres centimeter centimeters",
        "1": "米 m metre metres meter meters",
        "1000": "公里 千米 km kms kilometre kilometres kilometer kilometers",
        "1609.344": "英里 mile miles",
    },
    "m2": {
        "1": "平方米 平米 ㎡ m² m2 sqm sq_m square_metre square_metres square_meter square_meters",
        "1000000": (
            "平方公里 平方千米 km² km2 sq_km square_kilometre square_kilometres square_kilometer square_kilometers"
        ),
        "10000": "公顷 hectare hectares",
        "2000/3": "亩",
    },
    "m3": {
        "0.001": "升 L l litre litres liter liters",
        "0.000001": "毫升 ml mL millilitre millilitres milliliter milliliters",
        "1": "立方米 m³ m3 cubic_metre cubic_metres cubic_meter cubic_meters",
    },
    "kWh": {
        "1": "千瓦时 千瓦小时 度电 度 kWh kilowatt_hour kilowatt_hours kilowatt-hour kilowatt-hours",
        "1000": "兆瓦时 MWh megawatt_hour megawatt_hours megawatt-hour megawatt-hours",
        "1000000": "GWh gigawatt_hour gigawatt_hours gigawatt-hour gigawatt-hours",
        "1000000000": "TWh terawatt_hour terawatt_hours terawatt-hour terawatt-hours",
    },
    "kW": {
        "1": "千瓦 kW kilowatt kilowatts",
        "1000": "兆瓦 MW megawatt megawatts",
        "1000000": "GW gigawatt gigawatts",
    },
    "B": {"1000": "KB kB", "1000000": "MB", "1000000000": "GB", "1000000000000": "TB"},
    "degC": {"1": "℃ °C 摄氏度 degrees_Celsius degree_Celsius"},
    "km/h": {"1": "公里/小时 千米/小时 公里每小时 km/h kph"},
}
_COUNTS: dict[str, str] = {
    "person": "人 名 位 people persons person employees employee staff",
    "household": "户 households household",
    "firm": "家 companies company firms firm branches branch",
    "share": "股 shares share",
    "copy": "份 copies copy",
    "item": "件 pieces piece items item",
    "unit": "台 辆 units unit vehicles vehicle sets set",
    "transaction": "笔 transactions transaction",
    "occasion": "次",
    "fund": "只 funds fund",
    "workday": "个工作日 工作日 workdays workday working_days working_day business_days business_day",
    "page": "页 pages page",
}
MEASURED, COUNTED = tuple(_MEASURES), tuple(_COUNTS)
"""The units of normal forms: those that measure, and those that count."""
_SINGULAR = frozenset({
    *("person", "employee", "household", "company", "firm", "branch", "share", "copy", "piece", "item", "unit"),
    *("vehicle", "set", "transaction", "fund", "page", "workday", "working day", "business day"),
})
# One character that also begins other words: what must not follow it, or for some what must.
_NOT_BEFORE = {
    "人": "民次均类工口士生家事才心大格体物数份文力",
    "名": "单称义额下牌目词列片",
    "家": "庭长人具电居族乡属用务里园",
    "股": "东价票本权息市民比改指利",
    "份": "额子量内",
    "件": "数均",
    "台": "湾风币阶上下式州北中南词账",
    "笔": "记者直试画名尖",
    "次": "日年月序要级品子生方元",
    "户": "口外型籍均主名头",
    "克": "服拉隆制里扣",
    "吨": "公级位",
    "米": "饭兰粉级/每",
    "公斤": "级",
    "千克": "级",
    "升": "级值幅至到高降温学职任旗起空华天",
    "页": "岩码眉脚面",
    "亩": "产均",
    "度": "假",
    "公里": "/每",
    "千米": "/每",
    "千瓦": "时小",
    "兆瓦": "时",
    "平方米": "/",
    "辆": "次",
}
_ONLY_BEFORE = {
    "位": r"(?=顾客|客户|员工|用户|股东|投资者|专家|董事|监事|学生|教师|代表|嘉宾)",
}
_IN_CONTEXT = frozenset("度只")
_POWER_NEAR = re.compile(r"电[^。；;\n]{0,12}\Z")
_FUND_AFTER = re.compile(r"[\u4e00-\u9fff]{0,6}基金|\s?(?:ETF|LOF|REIT)")
_FUND_NEAR = re.compile(r"基金[^。；;\n]{0,8}\Z")
_POUNDS = re.compile(r"(?:lbs?|pounds?)(?![A-Za-z])", re.IGNORECASE)
_WEIGHT_NEAR = re.compile(r"(?<![A-Za-z])weigh(?:s|ed|ing|t)?(?:\s[a-z]{1,12}){0,3}\s\Z", re.IGNORECASE)
_POUND = Fraction("0.45359237")

_PER_TIME = re.compile(
    r"\s?/\s?(?:s|sec|min|h|hr|秒|分钟|分|小时|时)(?![A-Za-z])|\s?每(?:秒|分钟?|小时)|\s(?i:per|an?)\s(?i:second|minute|hour)(?![a-z])"
)
_GAP = re.compile(r"[余多]?[ \t-]?")  # on the next line the label of a table's next row begins
_WORD = re.compile(r"[A-Za-z]+(?:²|³|[23](?![0-9]))?(?:/h(?![A-Za-z])|-hours?(?![A-Za-z]))?(?![A-Za-z0-9])")
_CASED = re.compile(r"[A-Z²³0-9/]|^.{1,2}$")


def _tables() -> tuple[dict[str, tuple[str, Fraction, bool]], dict[str, list[tuple[str, re.Pattern[str] | None]]]]:
    known: dict[str, tuple[str, Fraction, bool]] = {}
    for name, by_factor in _MEASURES.items():
        for factor, writings in by_factor.items():
            known |= {w.replace("_", " "): (name, _exact(factor), False) for w in writings.split()}
    for name, writings in _COUNTS.items():
        known |= {w.replace("_", " "): (name, Fraction(1), True) for w in writings.split()}
    heads: dict[str, list[tuple[str, re.Pattern[str] | None]]] = {}
    for writing in sorted((w for w in known if not (w[0].isascii() and w[0].isalpha())), key=len, reverse=True):
        guard = _ONLY_BEFORE.get(writing) or (f"(?![{_NOT_BEFORE[writing]}])" if writing in _NOT_BEFORE else None)
        heads.setdefault(writing[0], []).append((writing, re.compile(guard) if guard else None))
    return known, heads


_KNOWN, _HEADS = _tables()
# Latin words by their first word: most have one.
_LATIN = {w if _CASED.search(w) else w.lower(): w for w in _KNOWN if w[0].isascii() and w[0].isalpha() and " " not in w}
_PHRASES: dict[str, list[str]] = {}
for _phrase in sorted((w for w in _KNOWN if " " in w), key=len, reverse=True):
    _PHRASES.setdefault(_phrase.split()[0].lower(), []).append(_phrase)
UNIT_WRITINGS = (*_KNOWN, "lb", "lbs", "pounds")
"""All writings that may follow a figure."""


def unit_after(text: str, end: int, *, gap: bool = True) -> Unit | None:
    """Return the unit written right after position `end`, where the text around lets it be one.

    Args:
        text: A folded text.
        end: Where the figure ends.
        gap: Let a space, a hyphen, 余 or 多 stand before the unit.
    """
    start = end
    if gap:
        match = _GAP.match(text, end)
        start = match.end() if match else end
    head = text[start : start + 1]
    if head.isascii() and head.isalpha():
        return _latin_unit(text, end, start)
    for writing, guard in _HEADS.get(head, ()):
        stop = start + len(writing)
        if not text.startswith(writing, start) or (guard is not None and guard.match(text, stop) is None):
            continue
        if writing in _IN_CONTEXT and not _is_in_context(text, end, stop, writing):
            continue
        return _unit(text, writing, stop)
    return None


def _unit(text: str, writing: str, stop: int) -> Unit | None:
    """Return the unit; None where it goes on to a speed or a flow (15 m/s, 3米每秒): no quantities of ours."""
    known = _KNOWN[writing]
    is_rate = known[0] in _FLOWING and text[stop : stop + 1] in _RATE_HEADS and _PER_TIME.match(text, stop) is not None
    return None if is_rate else Unit(*known, stop)


_FLOWING = frozenset({"m", "m2", "m3", "kg"})
_RATE_HEADS = frozenset("/每 ")


def _is_in_context(text: str, end: int, stop: int, writing: str) -> bool:
    """度 counts electricity and 只 funds only where the words around say so; what costs money is electricity."""
    before = text[max(0, end - 24) : end]
    if writing == "度" and before[-1:] in ("/", "每"):
        return True
    if writing == "度":
        return text[stop : stop + 1] == "电" or _POWER_NEAR.search(before) is not None
    return _FUND_AFTER.match(text, stop) is not None or _FUND_NEAR.search(before) is not None


def _latin_unit(text: str, end: int, start: int) -> Unit | None:
    match = _WORD.match(text, start)
    if match is None:
        return None
    word = match.group()
    lower = word.lower()
    for phrase in _PHRASES.get(lower, ()):
        stop = start + len(phrase)
        written = text[start:stop].replace("-", " ")
        if written.lower() == phrase.lower() and not text[stop : stop + 1].isalnum():
            return None if _is_lone_singular(text, end, start, phrase) else Unit(*_KNOWN[phrase], stop)
    writing = _LATIN.get(word) or _LATIN.get(lower)
    if writing is not None:
        if _CASED.search(writing) and writing != word:
            return None
        return None if _is_lone_singular(text, end, start, writing) else _unit(text, writing, match.end())
    if _POUNDS.fullmatch(word) and _WEIGHT_NEAR.search(text[max(0, end - 60) : end].rstrip("0123456789.,")):
        return Unit("kg", _POUND, False, match.end())
    return None


def _is_lone_singular(text: str, end: int, start: int, writing: str) -> bool:
    """`12 company` is two words side by side; `a 300-page report` and `1 share` are counts."""
    if writing not in _SINGULAR:
        return False
    return text[end:start] != "-" and not (text[end - 1 : end] == "1" and not text[end - 2 : end - 1].isdigit())


_PER_BEFORE = re.compile(r"每(?:一)?([\u4e00-\u9fff]{1,3})\s?\Z")
_PER_AFTER = re.compile(r"\s?(?:/\s?|每)|\s(?i:per|an?)\s")


def per_unit_before(text: str, start: int) -> tuple[Unit, int] | None:
    """Return (unit, start) of 每股, 每吨 … written right before position `start`."""
    if "每" not in text[max(0, start - 6) : start]:
        return None
    match = _PER_BEFORE.search(text[max(0, start - 6) : start])
    if match is None:
        return None
    at = max(0, start - 6) + match.start()
    unit = unit_after(text, at + match.start(1) - match.start(), gap=False)
    return (unit, at) if unit is not None and unit.end == start - (text[start - 1] == " ") else None


def per_unit_after(text: str, end: int) -> Unit | None:
    """Return the unit of `/吨`, `/share`, `per share` written right after position `end`."""
    match = _PER_AFTER.match(text, end)
    if match is None:
        return None
    at = match.end()
    article = match.group().strip().lower() in ("a", "an")
    unit = _per_latin(text, at) if text[at : at + 1].isascii() else unit_after(text, at, gap=False)
    return None if unit is None or (article and unit.name not in ("share", "kg")) else unit


def _per_latin(text: str, at: int) -> Unit | None:
    match = _WORD.match(text, at)
    if match is None:
        return None
    word = match.group()
    for phrase in _PHRASES.get(word.lower(), ()):
        if text.startswith(phrase, at):
            return Unit(*_KNOWN[phrase], at + len(phrase))
    writing = _LATIN.get(word) or _LATIN.get(word.lower())
    return Unit(*_KNOWN[writing], match.end()) if writing is not None and writing.lower() == word.lower() else None


def factor_of(writing: str) -> tuple[str, Fraction] | None:
    """Return the unit of the normal form and what one of `writing` (`g`, `吨`, `miles`) is in it; None if unknown."""
    known = _KNOWN.get(writing) or _KNOWN.get(_LATIN.get(writing.lower(), writing))
    return known[:2] if known is not None else None
