"""Times of day: 14:30, 14:30:05, 2:30 pm, 9am, 下午2点30分, 14时30分. The normal form is `HH:MM` or `HH:MM:SS`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.found import Found
from retrieval.symbols.values.times import small_chinese

# What each word adds to an hour of the clock face, and the hours that are of the other half of the day.
_HALVES: dict[str, tuple[int, range]] = {
    **dict.fromkeys(("上午", "早上", "早晨", "清晨", "凌晨", "早"), (0, range(0))),
    **dict.fromkeys(("中午", "正午"), (12, range(9, 12))),
    **dict.fromkeys(("下午", "午后", "傍晚"), (12, range(0))),
    **dict.fromkeys(("晚上", "晚间", "夜里", "夜间", "深夜", "晚"), (12, range(5))),
}
_HALF_ZH = re.compile(rf"({'|'.join(_HALVES)})\s?\Z")
_HALF_EN = re.compile(r"\s?([AaPp])(?:\.\s?[Mm]\.|[Mm](?![A-Za-z0-9]))")
_DASH = r"\s?(?:-|–|—|~|至|到|(?i:to|until|till))\s?"

# The colon is what the engine looks for; the hour stands before it.
_COLON = re.compile(r":([0-5][0-9])(?::([0-5][0-9]))?(?![0-9:%])")
_HOUR = re.compile(r"(?<![0-9A-Za-z_./\\$€£¥#+])(?<![0-9A-Za-z:]:)(?:[01]?[0-9]|2[0-4])\Z")
_HYPHEN = re.compile(r"[0-9]-\Z")
_RANGE_BEFORE = re.compile(r"(?<!:[0-5][0-9])(?<!T[0-2][0-9]):[0-5][0-9]-\Z")  # no time zone: 14:30:00-05:00
_STAMP = re.compile(r"[0-9]T\Z")  # 2024-07-01T14:30
_NO_TIME = re.compile(
    r"(?i:ratio|scale|odds|score|split|dilut|leverage|verse|chapter)|比例|比率|之比|比分|稀释|配比|杠杆|配股|换股|兑|按|以\s?\Z"
)
_NO_TIME_AFTER = re.compile(
    r"\s?(?i:ratio|split|scale|dilution|win|victory|draw)|\s?的?(?:比例|比率|杠杆|战胜|击败|取胜|大胜|险胜)"
)
_CUE_BEFORE = re.compile(
    r"(?:(?<![A-Za-z])(?i:at|from|until|till|to|by|before|after|between|around|about|since|time|daily)|[于在至到从约前后日号天晨])[:,]?\s{0,2}\Z"
    rf"|[0-9]:[0-5][0-9]{_DASH}\Z|时间\s?[::]?\s?\Z"
)
_CUE_AFTER = re.compile(
    rf"{_DASH}[0-9]{{1,2}}:[0-5][0-9]|\s?(?:开始|开会|开盘|开市|收盘|结束|召开|举行|之?前|之?后|起|止|准时)"
    r"|\s?(?:GMT|UTC|EST|EDT|CST|PST|CET|BST|HKT|ET|PT|h)(?![A-Za-z])"
)

_ZH_NUMBER = r"(?:[0-9]{1,2}|[零〇]?[一二两三四五六七八九]|[二三四五]?十[一二三四五六七八九]?|零|〇)"
# The word for the hour is what the engine looks for.
_ZH = re.compile(
    r"[点时](?<=[0-9零〇一二两三四五六七八九十\s].)(?![间候期代段刻节常])(?:"
    rf"\s?(?P<minute>{_ZH_NUMBER})\s?分(?![之钟位红])(?:\s?(?P<second>{_ZH_NUMBER})\s?秒)?"
    rf"|(?P<half>半)|(?P<quarter>[一三])刻|(?P<whole>[整钟]))?"
)
_ZH_HOUR = re.compile(rf"(?<![0-9.,第零〇一二两三四五六七八九十百千:])({_ZH_NUMBER})\s?\Z")
_ZH_BARE_MINUTE = re.compile(
    r"(?:[0-5][0-9]|[二三四五]十[一二三四五六七八九]?|十[一二三四五六七八九]?)(?![0-9一二三四五六七八九十百千万亿%个])"
)
_ZH_CUE_BEFORE = re.compile(r"[日号天晚晨]\s?\Z|[0-9][点时]?" + _DASH + r"\Z")
_ZH_CUE_AFTER = re.compile(rf"\s?(?:之?前|之?后|起|止|开始|结束|开盘|收盘)|{_DASH}{_ZH_NUMBER}\s?[点时]")
_ZH_FIRST = re.compile(rf"(?<![0-9.,第零〇一二两三四五六七八九十百千:])({_ZH_NUMBER}){_DASH}\Z")

_MERIDIEM = re.compile(r"[AaPp](?<=[0-9\s].)(?:\.\s?[Mm]\.|[Mm](?![A-Za-z0-9]))")
_EN_HOUR = re.compile(
    rf"(?<![0-9A-Za-z_.,:/$])(?:(1[0-2]|0?[1-9]){_DASH})?(?<![0-9])(1[0-2]|0?[1-9])(?:\.([0-5][0-9]))?\s?\Z"
)


def find_times(text: str) -> Iterator[Found]:
    """Yield the times of day of a folded text; the two ends of a range each by themselves."""
    if ":" in text:
        yield from _with_colons(text)
    if "点" in text or "时" in text:
        yield from _in_chinese(text)
    if "m" in text or "M" in text:
        yield from _with_meridiem(text)


def _with_colons(text: str) -> Iterator[Found]:
    for match in _COLON.finditer(text):
        at = match.start()
        window = text[max(0, at - 24) : at]
        hour = _HOUR.search(window) or (_HOUR.search(window[-2:]) if _STAMP.search(window[:-2]) else None)
        if hour is None:
            continue
        start, end = at - len(hour.group()), match.end()
        before = text[max(0, start - 20) : start]
        after = _HALF_EN.match(text, end)
        if _HYPHEN.search(before) and not (match.group(2) or _RANGE_BEFORE.search(before)):
            continue
        chinese = _HALF_ZH.search(before)
        if not (after or chinese or _is_time(text, hour.group(), before, match)):
            continue
        later = _later(after, chinese, int(hour.group()))
        if later is None and (follower := _second_end(text, match)) is not None:
            later = follower
        if after is not None:
            end = after.end()
        if chinese is not None:
            start -= len(before) - chinese.start()
        found = _found(int(hour.group()), match.group(1), match.group(2), later, start, end)
        if found is not None:
            yield found


def _is_time(text: str, hour: str, before: str, match: re.Match[str]) -> bool:
    """Tell a time from a ratio, a score or a reference to a line: `14:30` may stand alone, `1:10` may not."""
    if _NO_TIME.search(before) or _NO_TIME_AFTER.match(text, match.end()):
        return False
    if len(hour) == 2 or match.group(2):
        return True
    return _CUE_BEFORE.search(before) is not None or _CUE_AFTER.match(text, match.end()) is not None


_SECOND_END = re.compile(rf"{_DASH}([0-9]{{1,2}})(?::[0-5][0-9])?\s?([AaPp])(?:\.\s?[Mm]\.|[Mm](?![A-Za-z0-9]))")


def _second_end(text: str, match: re.Match[str]) -> int | None:
    """In `2:30 to 4:00 pm` the first end is in the afternoon too, in `10:00 to 2:00 pm` it is not."""
    second = _SECOND_END.match(text, match.end())
    if second is None:
        return None
    hour = text[max(0, match.start() - 2) : match.start()].lstrip("-–—~ (")
    return _first_later(int(hour) if hour.isdecimal() else 0, int(second.group(1)), second.group(2))


def _first_later(first: int, second: int, letter: str) -> int:
    later = 12 if letter in "pP" else 0
    return later if first % 12 <= second % 12 else 12 - later


def _later(after: re.Match[str] | None, chinese: re.Match[str] | None, hour: int) -> int | None:
    """Return what `pm` or 下午 adds to an hour of the clock face; None where neither stands."""
    if after is not None:
        return 12 if after.group(1) in "pP" else 0
    return _later_in_chinese(chinese.group(1), hour) if chinese is not None else None


def _later_in_chinese(word: str, hour: int) -> int:
    """中午12点 is noon and 中午1点 one in the afternoon; 晚上12点 is midnight and 夜里2点 two in the morning."""
    added, others = _HALVES[word]
    return 12 - added if hour % 12 in others else added


def _in_chinese(text: str) -> Iterator[Found]:
    half_day: tuple[int, int] = (-1, 0)  # where the last time with 下午 ended, and what it adds
    for match in _ZH.finditer(text):
        at = match.start()
        window = text[max(0, at - 12) : at]
        hour = _ZH_HOUR.search(window)
        if hour is None:
            continue
        start, end = at - len(window) + hour.start(), match.end()
        before = text[max(0, start - 6) : start]
        word = _HALF_ZH.search(before)
        minute, ended = _minute(text, match, word is not None)
        end = ended or end
        gap = text[half_day[0] : start] if 0 <= half_day[0] <= start else "?"
        continued = len(gap) <= 3 and re.fullmatch(_DASH, gap) is not None
        if not (minute or word or continued or _chinese_cue(text, hour.group(1), before, match)):
            continue
        number = small_chinese(hour.group(1))
        later = _later(None, word, number) if word else half_day[1] if continued else None
        if word is not None:
            start -= len(before) - word.start()
        second = match.group("second")
        found = _found(number, minute or "00", str(small_chinese(second)) if second else None, later, start, end)
        if found is None:
            continue
        first = _ZH_FIRST.search(before) if word is None else None
        if first is not None:
            begin = start - len(before) + first.start()
            yield from filter(
                None, [_found(small_chinese(first.group(1)), "00", None, None, begin, begin + len(first.group(1)))]
            )
        if later is not None:
            half_day = (end, later)
        yield found


def _minute(text: str, match: re.Match[str], has_word: bool) -> tuple[str, int]:
    """Return the minute, empty where none is written, and the end of one without 分 (下午2点30)."""
    if match.group("minute"):
        return str(small_chinese(match.group("minute"))), 0
    if match.group("half"):
        return "30", 0
    if match.group("quarter"):
        return "15" if match.group("quarter") == "一" else "45", 0
    if match.group("whole"):
        return "00", 0
    bare = _ZH_BARE_MINUTE.match(text, match.end()) if has_word else None
    return (str(small_chinese(bare.group())), bare.end()) if bare else ("", 0)


def _chinese_cue(text: str, hour: str, before: str, match: re.Match[str]) -> bool:
    """`14点前`, `7月1日14时`: a figure alone before 点 may count points."""
    if not hour.isascii():
        return False
    return _ZH_CUE_BEFORE.search(before) is not None or _ZH_CUE_AFTER.match(text, match.end()) is not None


def _with_meridiem(text: str) -> Iterator[Found]:
    for match in _MERIDIEM.finditer(text):
        at = match.start()
        window = text[max(0, at - 14) : at]
        hours = _EN_HOUR.search(window)
        if hours is None:
            continue
        first, second, minute = hours.groups()
        base = at - len(window)
        letter = match.group()[0]
        if first:
            later = _first_later(int(first), int(second), letter)
            begin = base + hours.start(1)
            yield from filter(None, [_found(int(first), "00", None, later, begin, begin + len(first))])
        later = 12 if letter in "pP" else 0
        found = _found(int(second), minute or "00", None, later, base + hours.start(2), match.end())
        if found is not None:
            yield found


def _found(hour: int, minute: str, second: str | None, later: int | None, start: int, end: int) -> Found | None:
    """Make the finding; None where a clock never shows that."""
    if later is not None and hour <= 12:
        hour = hour % 12 + later
    minutes, seconds = int(minute), int(second or 0)
    if hour == 24 and not minutes and not seconds:
        hour = 0
    if hour > 23 or minutes > 59 or seconds > 59:
        return None
    normal = f"{hour:02}:{minutes:02}" + (f":{seconds:02}" if second else "")
    return Found("value", "time", normal, f"[TIME_{normal}]", start, end)
