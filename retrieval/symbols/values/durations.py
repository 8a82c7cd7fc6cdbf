"""Durations: 3年, three years, 6个月, thirty (30) days. The normal form is ISO 8601 with one unit, weeks as days."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from retrieval.symbols.found import Found
from retrieval.symbols.values.eras import after_an_era
from retrieval.symbols.values.numerals import parse_chinese, plain

# Designator, whether it follows `T`, and how many of the unit one is.
_UNITS: dict[str, tuple[str, int]] = {
    "年": ("Y", 1), "月": ("M", 1), "季度": ("M", 3), "天": ("D", 1), "日": ("D", 1), "周": ("D", 7), "星期": ("D", 7),
    "礼拜": ("D", 7), "小时": ("TH", 1), "钟头": ("TH", 1), "分钟": ("TM", 1), "秒": ("TS", 1), "decade": ("Y", 10),
    "year": ("Y", 1), "yr": ("Y", 1), "month": ("M", 1), "week": ("D", 7), "wk": ("D", 7), "day": ("D", 1),
    "hour": ("TH", 1), "hr": ("TH", 1), "minute": ("TM", 1), "min": ("TM", 1), "second": ("TS", 1), "sec": ("TS", 1),
}  # fmt: skip
_ZH_UNITS = tuple(word for word in _UNITS if not word.isascii())
_SMALLER = {"Y": ("M", 12), "D": ("TH", 24), "TH": ("TM", 60), "TM": ("TS", 60)}
_MONTHS = frozenset({"Y", "M"})


def find_durations(text: str) -> Iterator[Found]:
    """Yield the durations of a folded text; the two ends of a range each by themselves."""
    if any(word in text for word in _ZH_UNITS):
        yield from _in_chinese(text)
    yield from _in_english(text)


def _found(number: Decimal, word: str, start: int, end: int) -> Found:
    unit, many = _UNITS[word]
    number *= many
    while number % 1 and unit in _SMALLER:
        smaller, count = _SMALLER[unit]
        if unit in _MONTHS and number * count % 1:
            break
        unit, number = smaller, number * count
    normal = f"P{'T' if unit[0] == 'T' else ''}{plain(number)}{unit[-1]}"
    return Found("value", "duration", normal, f"[DURATION_{normal}]", start, end)


# The word for the unit is what the engine looks for; a number must stand before it.
_ZH_UNIT = re.compile(
    r"[年月天日自周星礼小钟分秒季](?<=[0-9零〇一二两三四五六七八九十百千半个)\s].)(?:"
    r"(?<=年)(?<![12][0-9][0-9][0-9].)(?![轻级度代月轮庆谱号画关货夜饭糕薪])|(?<=个月)(?!份)|(?<=天)(?![下空气然堂才地线津鹅主使文王平河山生体赋性])"
    r"|(?<=日)(?<!月.日)(?<!月..日)(?<!月...日)|(?<=自)然日"
    r"|(?<=周)(?![年岁期边长围转报刊末密知到全身易游])|(?<=星)期(?![一二三四五六日天])|(?<=礼)拜(?![一二三四五六日天堂])"
    r"|(?<=小)时(?!候)|(?<=钟)头|(?<=分)钟|(?<=秒)钟?(?![杀0-9])|(?<=个季)度)"
)
_ZH_NUMERAL = r"[零〇一二两三四五六七八九十百千]"
_NUMBER = rf"(?:[0-9]{{1,3}}(?:,[0-9]{{3}})++|[0-9]{{1,5}}(?:\.[0-9]{{1,3}})?|{_ZH_NUMERAL}{{1,7}}+)"
_NO_NUMBER = rf"(?<![0-9.,第/A-Za-z{_ZH_NUMERAL[1:-1]}])(?<!第\s)(?<![点元万亿])"
_ZH_BEFORE = re.compile(
    rf"{_NO_NUMBER}(?:(?P<first>{_NUMBER})\s?(?:-|–|—|~|至|到|或)\s?)?"
    rf"(?P<n>(?:{_NUMBER}|半)(?:\s?\([0-9]{{1,4}}\))?)(?P<piece>\s?个)?(?P<half>半)?\s?\Z"
)
_ZH_SMALL = re.compile(r"[这那第新上下每同前后次某有首头另当本全又哪]\s?\Z")
_SPELLED = re.compile(r"[十百千]")
_YEAR_GOES_ON = re.compile(
    rf"\s?(?:[0-9]{{1,2}}|{_ZH_NUMERAL}{{1,3}})\s?月|\s?第?\s?[一二三四1-4]\s?季|[上下]半年|[Qq][1-4]|底|初|末|间|一度|到头"
)
_ONE_DAY_AROUND = re.compile(r"\s?(?:(?:之|以)?内|之?后|以[上下]|假|时间|期限|左右|通知)")
_TERM_BEFORE = re.compile(
    r"(?:期限?|期限?[为是]|为期|不超过|不得超过|超过|不?少于|至少|至多|最长|最短|满|提前|历时|逾期|延长|间隔|每隔?|共|长达|提早)\s?\Z"
)
_TERM_AFTER = re.compile(r"\s?(?:(?:之|以)?内|(?:之)?后(?![续来])|以[上下]|的?期限|届满)")
_YEARS_BEFORE = re.compile(r"(?:[近约逾超满达历经有共活]|超过|大约|将近|不足|至少)\s?\Z")
_YEARS_AFTER = re.compile(r"\s?(?:以?来|之?前|之?后|[的多间期]|历史|时间|以[上下])")
_NO_PIECE = frozenset({"年", "天", "日", "分钟", "秒", "秒钟"})
"""Units that are counted without 个."""
_AFTER_YEARS = re.compile(r"半(?![年载数])")


def _in_chinese(text: str) -> Iterator[Found]:
    for match in _ZH_UNIT.finditer(text):
        at = match.start()
        window = text[max(0, at - 18) : at]
        number = _ZH_BEFORE.search(window)
        word = _zh_word(match.group())
        if number is None or _in_a_half(number, word) or (number.group("piece") and match.group() in _NO_PIECE):
            continue
        start, end = at - len(window) + number.start("n"), match.end()
        before = text[max(0, start - 8) : start]
        value = _value(number.group("n"))
        if value is None or not _is_duration(text, number.group("n"), value, word, before, end):
            continue
        if number.group("half"):
            value += Decimal("0.5")
        elif word == "年" and value % 1 == 0 and _AFTER_YEARS.match(text, end):
            value, end = value + Decimal("0.5"), end + 1
        first = _value(number.group("first")) if number.group("first") else None
        if first is not None and not _is_year(number.group("first")):
            begin = at - len(window) + number.start("first")
            yield _found(first, word, begin, begin + len(number.group("first")))
        elif first is not None:
            continue  # 2019-20年
        yield _found(value, word, start, end)


def _zh_word(surface: str) -> str:
    return {"自然日": "天", "秒钟": "秒", "季度": "季度"}.get(surface, surface)


def _in_a_half(number: re.Match[str], word: str) -> bool:
    """半年 is one, 半天 and 一半年 are none; 一个半小时 is one, 一半小时 is none."""
    if number.group("n") == "半":
        return word not in ("年", "小时") or bool(number.group("half"))
    return bool(number.group("half")) and not number.group("piece")


def _is_duration(text: str, written: str, value: Decimal, word: str, before: str, end: int) -> bool:
    if written == "半":
        return before[-1:] not in tuple("上下大小多一前后") and text[end : end + 1] not in ("度", "报")
    if word == "年" and (_is_year(written) or after_an_era(before) or _is_named(text, written, before, end)):
        return False
    if (
        value == 4
        and written == "四"
        and word == "周"
        and not (_TERM_AFTER.match(text, end) or _TERM_BEFORE.search(before))
    ):
        return False  # 四周: all around
    if value == 1 and _ZH_SMALL.search(before):
        return False
    if word == "日":
        return (before[-1:] != "月" and _TERM_AFTER.match(text, end) is not None) or bool(_TERM_BEFORE.search(before))
    if word == "天" and value == 1 and not written[0].isascii():  # 一天 is "one day" as well
        return _ONE_DAY_AROUND.match(text, end) is not None or _TERM_BEFORE.search(before) is not None
    return True


def _is_named(text: str, written: str, before: str, end: int) -> bool:
    """Tell whether 年 names a year rather than counts years: 24年7月, (660年), 550年—559年."""
    if _YEAR_GOES_ON.match(text, end) or (before[-1:] == "(" and text[end : end + 1] == ")"):
        return True
    if not written.isdecimal() or not written.isascii() or len(written) < 3:
        return False
    return len(written) > 4 or not (_YEARS_BEFORE.search(before) or _YEARS_AFTER.match(text, end))


def _is_year(written: str) -> bool:
    """2024, 二〇二四, 三五: a year, or two digits side by side that are no number."""
    if written.isascii():
        return written.isdecimal() and len(written) == 4 and 1000 <= int(written) <= 2999
    return len(written) > 1 and not _SPELLED.search(written)


def _value(written: str) -> Decimal | None:
    if written == "半":
        return Decimal("0.5")
    written = written.partition("(")[0].strip()
    if written.isascii():
        return Decimal(written.replace(",", ""))
    if written[0] in "百千零〇" or written[-1] == "〇":
        return None
    parsed = parse_chinese(written)
    return parsed[0] if parsed else None


_ONES = {word: i + 1 for i, word in enumerate((
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"))}  # fmt: skip
_TENS = {word: 10 * i + 20 for i, word in enumerate((
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"))}  # fmt: skip
_BELOW_100 = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(list(_ONES)[:9])}))?|{'|'.join(reversed(_ONES))})"
_WORDS = rf"(?:(?:a|{'|'.join(list(_ONES)[:9])})\shundred(?:\s(?:and\s)?{_BELOW_100})?|{_BELOW_100})"
_EN_NUMBER = rf"(?:[0-9]{{1,3}}(?:,[0-9]{{3}})++|[0-9]{{1,5}}(?:\.[0-9]{{1,3}})?|{_WORDS})"
_EN_UNIT = re.compile(
    r"[DHMSWYdhmswy](?<=[0-9A-Za-z)][ -].)"
    r"(?i:ay|ecade|our|r|onth|inute|in|econd|ec|eek|k|ear)(?i:s?)(?![A-Za-z0-9])"
)
_EN_BEFORE = re.compile(
    rf"(?i:(?<![A-Za-z0-9.,$€£¥/_-])(?<![0-9]:)(?:(?P<first>{_EN_NUMBER})-?\s?(?:-|–|—|to|or|and)\s?)??(?<![A-Za-z0-9.,$€£¥/_])(?<![0-9]:)"
    rf"(?:(?P<n>{_EN_NUMBER})(?:\s?\([0-9]{{1,4}}\))?(?P<half>\sand\sa\shalf)?(?P<joint>[ -])(?:calendar\s)?"
    r"|(?P<part>half)\s(?:an|a)\s))\Z"
)
_LAST_WORDS = frozenset({*_ONES, *_TENS, "hundred", "half", "a", "an", "calendar"})
_LAST_WORD = re.compile(r"[A-Za-z]+\Z")
_MONTH_BEFORE = re.compile(r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]{0,6}\.?\s\Z")
_ONE_DAY_BEFORE = re.compile(
    r"(?<![A-Za-z])(?i:within|of|for|after|in|least|per|every|only|than|about|lasts?|took|takes?)\s(?:just\s)?\Z"
)
_CLOCK = re.compile("(?:[01][0-9]|2[0-4])[0-5][0-9]")
_AT = re.compile(r"(?<![A-Za-z])(?i:at|by|from|to|until|till|before|after|since|and)\s\Z|[0-9]\s?-\s?\Z")
_NO_EN = re.compile(r"\s(?i:end|ended|ending|s?term\sended)\b")


def _in_english(text: str) -> Iterator[Found]:
    for match in _EN_UNIT.finditer(text):
        at = match.start()
        window = text[max(0, at - 48) : at]
        number = _EN_BEFORE.search(window) if _ends_a_number(window) else None
        if number is None:
            continue
        base = at - len(window)
        unit = match.group().lower()
        word = unit.removesuffix("s")
        if word not in _UNITS:
            continue
        if number.group("part"):
            if word in ("year", "hour"):
                yield _found(Decimal("0.5"), word, base + number.start("part"), match.end())
            continue
        value = _english_value(number.group("n"))
        if number.group("half"):
            value += Decimal("0.5")
        start = base + number.start("n")
        if not _is_english(text, number, value, unit, word, text[max(0, start - 12) : start], match.end()):
            continue
        if number.group("first"):
            first = number.group("first")
            begin = base + number.start("first")
            is_pair = re.search(r"(?i:and)\s?\Z", window[: number.start("n")])
            if not is_pair or re.search(r"(?i:between)\s\Z", text[max(0, begin - 9) : begin]):
                yield _found(_english_value(first), word, begin, begin + len(first))
        yield _found(value, word, start, match.end())


def _ends_a_number(window: str) -> bool:
    """Tell whether the last word before a unit can be a number's: cheap, and most are none."""
    last = window[-2:-1]
    if last.isdecimal() or last == ")":
        return True
    word = _LAST_WORD.search(window[-12:-1])
    return word is not None and word.group().lower() in _LAST_WORDS


def _is_english(text: str, number: re.Match[str], value: Decimal, unit: str, word: str, before: str, end: int) -> bool:
    written = number.group("n")
    if written.isdecimal() and len(written) == 4 and 1800 <= int(written) <= 2099:
        return False  # 2019 years
    if word in ("hour", "hr") and _CLOCK.fullmatch(written) and (written[0] == "0" or _AT.search(before)):
        return False  # 1900 hrs is a time of day
    hyphen = number.group("joint") == "-"
    if unit == word and value != 1 and not hyphen and (word == "second" or _NO_EN.match(text, end)):
        return False
    if unit == word and not hyphen and _MONTH_BEFORE.search(before):
        return False  # December 31 year end
    if value == 1 and not written[0].isdecimal() and word == "day" and not hyphen:
        return _ONE_DAY_BEFORE.search(before) is not None
    return True


def _english_value(written: str) -> Decimal:
    if written[0].isdecimal():
        return Decimal(written.replace(",", ""))
    total = 0
    for part in re.split(r"[\s-]", written.lower()):
        if part == "hundred":
            total = max(total, 1) * 100
        else:
            total += _ONES.get(part, 0) + _TENS.get(part, 0)
    return Decimal(total)
