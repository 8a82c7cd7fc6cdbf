"""Chinese addresses: from the province, city or district to the number in the road or the room.

The search goes from the sign behind a number (号, 室, 栋 …): they are rare, so most of a text is passed over. To the
left an address begins at a place of the table, else behind the last word that no place name contains (位于, 住, 在 …).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.places_zh import PLACE

_HAN = "\u4e00-\u9fff"
_SIGN = re.compile("[号弄室栋幢组]")
_COUNT = "[一二三四五六七八九十百零〇]{1,6}"
_NUMBER = re.compile(
    rf"(?:附?[甲乙丙丁]?[0-9]{{1,5}}[A-Za-z]?(?:[-~、之/][0-9]{{1,5}}[A-Za-z]?){{0,2}}|[A-Za-z][0-9]{{1,4}}"
    rf"|{_COUNT})\s?\Z"
)
_ROOM_NUMBER = re.compile(r"(?:[A-Za-z]-?[0-9]{1,5}|[0-9]{2,5}[A-Za-z]?(?:-[0-9]{1,5}){0,2})\s?\Z")
_ROAD = re.compile(
    rf"(?:[{_HAN}](?:大道|大街|马路|公路|胡同|路|街|巷|弄)|[{_HAN}](?P<weak>道|里|坊|村|庄|屯|段|条|社区|新区|园"
    rf"|苑|小区|花园|湾))"
    r"(?:[东西南北中](?![^\s0-9A-Za-z一-十])|[一二三四五六七八九十东西南北中]段|辅路)?\s?\Z"
)
_NO_ROAD = re.compile(
    r"(?:思路|电路|线路|铁路|网路|出路|退路|道路|该路|这路|条路|频道|轨道|跑道|通道|隧道|渠道|赛道|车道|航道|管道"
    r"|河道|街道|报道|知道|味道|过道"
    r"|这里|那里|哪里|家里|城里|手里|心里|公里|夜里|屋里|园区|会议|公路|国道|省道|[0-9]路)[东西南北中]?\s?\Z"
)
# What makes the number something else: a metro line, an order, an exit, a day.
_NO_HOUSE = re.compile(
    r"\s?(?:线|令|文|机|车|馆|厅|桌|球|选手|公告|通知|提案|决议|高地|卫星|出口|航站|登机|院线|种子|病毒|矿|井"
    r"|标段|信号|仓位)"
)
_DAY = re.compile(r"\s?(?:[上下]午|晚|早|凌晨|开|起|前|后|至|到|正式|当天|左右|举)")

_BREAK = re.compile(r"[^\u4e00-\u9fffA-Za-z0-9 \n·\-]")
_UNIT = r"(?:省|自治区|特别行政区|市|自治州|地区|盟|州|区|县|旗|镇|乡|街道|苏木|开发区|新区|村|社区)"
_ENDS_IN_UNIT = re.compile(rf"{_UNIT}\Z")
_HAS_UNIT = re.compile(rf"[{_HAN}]{{1,8}}?{_UNIT}[{_HAN}0-9A-Za-z·\- \n]")
_STOP = re.compile(
    r"位于|地处|坐落[于在]?|住址|地址|住在|注册地|居住|设立?[在于]|迁[至到往]|搬[至到]|寄[到往至给]?|送[到往至]?"
    r"|前往|[家店厂]在|是在"
    r"|在|到|往|去|于(?![洪都田潜])|至(?!善|诚|德)|从(?!化|江)|是|为(?!民)|的|和(?!平|县|田|谐|顺|静|龙|林|政|布"
    r"|硕|义|睦|兴|畅|煦|[东西南北中]?(?:大道|大街|路|街|巷))|与|及(?!第)|了|将(?!军)|把"
    r"|由|即|找|来(?!安|凤|宾)|住|我|你|您|他|她|它|们|请|让|叫|有|位(?!育)|第|每|距离?|离|沿|经过?(?!济|纬|开|十"
    r"|六)|按|对|被|向(?!阳)|着"
    r"|公司|总部|办公室|办公楼|办事处|营业部|分行|支行|网点|学校|医院|邮寄|快递|收件|先生|女士|小姐|现|原(?!平|阳"
    r"|州)|又|再|也|就|(?<![成花新江宜丰武首古商])都(?!江|匀|安|昌|兰)"
)
_FLOOR_AFTER = re.compile(r"[楼院]\s?[0-9]")
_LONGEST_LEFT = 48
_LONGEST_ROAD = 7
_SHORT_ROAD = re.compile(
    rf"[{_HAN}]{{1,2}}(?:大道|大街|马路|公路|胡同|路|街|巷|弄)[东西南北中]?(?:[一二三四五六七八九十]段)?\s?\Z"
)

# What may follow the number: 12号楼, A座, 3单元, 12层, 1203室, or a building by its name.
_NAMELESS = "是在的了于为和与及有位从到将已被对由请并或举召等也其我你他她它们共高约设建邮电联收"
_NAME = rf"(?:(?![{_NAMELESS}])[{_HAN}A-Za-z·]){{1,12}}?"
_INNER = (
    r"(?:[A-Za-z0-9甲乙丙丁一二三四五六七八九十]{1,4}(?:-[A-Za-z0-9]{1,4})?\s?"
    r"(?:号楼|号院|号库|号厂房|号铺|号|弄|栋|幢|座|楼|层|单元|室|房|区(?!域)|期(?!间|限|货|权)|门|户(?!口|型)|铺|[Ff])"
    r"(?:之[0-9一二三四五])?|[A-Za-z0-9]{1,2}塔楼?|写字楼|办公楼|[主附裙]楼|[东南西北中][座区塔楼院]|地下[一二三0-9]层?|附[0-9]{1,3}号?)"
)
_BUILDING = (
    rf"{_NAME}(?:大厦|广场|大楼|中心|花园|小区|公寓|家园|家属院|写字楼|商务楼|科技园|产业园|工业园|软件园|园区"
    rf"|酒店|塔楼|大院|新村|别墅|大学|学院|[城苑园邸](?![{_HAN}]))"
)
_NAMED_PART = rf"{_NAME}\s?[A-Za-z0-9一二三四五六七八九十]{{1,4}}(?:号楼|栋|幢|座|单元|室|期(?!间|限|货|权))"
_BARE_ROOM = r"(?<=[元楼栋幢座层])\s?[A-Z]?[0-9]{2,5}[A-Z]?(?![0-9.,]|\s?[元万亿平米%年月])"
_RIGHT = re.compile(
    rf"(?:大院|院(?!长|士|内)|楼|之[一二三四五0-9]|[甲乙丙丁](?![\u4e00-\u9fff]))?(?:\s?(?:{_INNER}|{_BUILDING}"
    rf"|{_NAMED_PART}|{_BARE_ROOM})){{0,7}}"
)
_SPACES = re.compile(rf"\s+(?=[{_HAN}])|(?<=[{_HAN}])\s+")


def find_chinese_addresses(text: str) -> Iterator[SecretFound]:
    """Yield the Chinese addresses of a folded text; the value has no spaces beside Chinese."""
    if text.isascii():
        return
    done = 0
    for sign in _SIGN.finditer(text):
        if sign.start() < done:
            continue
        start = _house_start(text, sign, done) if sign.group() in "号弄" else _room_start(text, sign, done)
        if start is None and sign.group() == "号" and _FLOOR_AFTER.match(text, sign.end()):
            start = _room_start(text, sign, done)
        if start is None:
            continue
        done = _RIGHT.match(text, sign.end()).end()  # type: ignore[union-attr]  # matches the empty text too
        yield SecretFound("address", _SPACES.sub("", text[start:done]), start, done, confidence=0.9)


def _house_start(text: str, sign: re.Match[str], done: int) -> int | None:
    """Return where the address of `road number 号` begins; None where it is none."""
    at = sign.start()
    number = _NUMBER.search(text, max(done, at - 18), at)
    if number is None:
        return None
    low = max(done, number.start() - _LONGEST_LEFT)
    road = _ROAD.search(text, max(low, number.start() - 8), number.start())
    if road is None or _NO_HOUSE.match(text, sign.end()):
        return None
    is_weak = road.group("weak") is not None
    no_road = _NO_ROAD.search(text, max(low, number.start() - 5), number.start()) is not None
    start, is_placed = _start(text, low, number.start())
    if not is_placed and (is_weak or no_road or _DAY.match(text, sign.end())):
        return None
    return start if start is None or number.start() - start >= 2 else None


def _room_start(text: str, sign: re.Match[str], done: int) -> int | None:
    """Return where an address without a road begins that ends in a room, a building or a village group."""
    at = sign.start()
    number = (_ROOM_NUMBER if sign.group() == "室" else _NUMBER).search(text, max(done, at - 14), at)
    if number is None or (
        sign.group() == "组" and text[number.start() - 1 : number.start()] not in ("村", "社", "屯", "庄")
    ):
        return None
    start, is_placed = _start(text, max(done, number.start() - _LONGEST_LEFT), number.start())
    return start if is_placed else None


def _start(text: str, low: int, end: int) -> tuple[int | None, bool]:
    """Return where the place names that end at `end` begin, and whether one of them is a province, city or district."""
    breaks = [m.end() for m in _BREAK.finditer(text, low, end)]
    low = breaks[-1] if breaks else low
    low = _join_spaced(text, low, end)
    places = list(PLACE.finditer(text, low, end))
    stops = [
        s
        for s in _STOP.finditer(text, low, end)
        if not any(p.start() < s.end() and s.start() < p.end() for p in places)
    ]
    last_stop = stops[-1].end() if stops else low
    for place in places:
        if place.start() >= last_stop and end - place.end() >= 2:
            return place.start(), True
    while last_stop < end and text[last_stop] in " \n-·":
        last_stop += 1
    if last_stop >= end:
        return None, False
    if _HAS_UNIT.match(text, last_stop, end) and end - last_stop <= 26:
        return last_stop, True
    if end - last_stop > _LONGEST_ROAD:
        short = _SHORT_ROAD.search(text, last_stop, end)
        return (short.start() if short else None), False
    return last_stop, False


def _join_spaced(text: str, low: int, end: int) -> int:
    """Return the start of the words, set apart by spaces, that lead to `end`: all but the last end in 市, 区 …."""
    start = end
    trimmed = len(text[low:end].rstrip()) + low
    while True:
        gap = max(text.rfind(" ", low, trimmed), text.rfind("\n", low, trimmed))
        start = gap + 1 if gap >= low else low
        if gap < low:
            return start
        word_end = gap
        before = text[max(low, word_end - 12) : word_end]
        if not (_ENDS_IN_UNIT.search(before) or PLACE.fullmatch(before.rpartition(" ")[2].rpartition("\n")[2])):
            return start
        trimmed = word_end
