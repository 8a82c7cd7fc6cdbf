"""Years that stand alone (`in 2024`, `| 2019 | 2018 |`, the Act of 1974) and decades (1990s, 20世纪90年代)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from retrieval.symbols.values.calendar import decade, whole_year
from retrieval.symbols.values.signs import in_cell
from retrieval.symbols.values.times import DASH, YEAR, Time, in_word

# A bare year counts only where something says that it is one.
_YEAR_CUE = re.compile(
    r"(?:(?<![a-z])(?i:in|during|since|until|by|year|years|ended|ending|fiscal|for|of|to|from|and|versus|vs\.?|than|through|before|after|late|early|mid|around|circa"
    r"|(?P<law>(?:act|law|code|reform|treaty|bill|directive|convention|agreement)\sof)))[\s-]\Z"
)
_LIST_CUE = re.compile(rf"(?<![0-9]){YEAR}(?:,|\sand|,\sand|\sor|\s&|、|\sto|\svs\.?|\sversus)\s?\Z")
_LIST_NEXT = re.compile(
    rf"(?:,|\sand|,\sand|\sor|\s&|、|\sto|\svs\.?|\sversus)\s?{YEAR}(?![0-9])|{DASH}{YEAR}\s?年|\s?[和与及]\s?{YEAR}\s?年"
)
_NO_YEAR_AFTER = re.compile(
    r"\s?(?:%|[/:][0-9]|[万亿千百元个人股份吨件台美]|(?:percent|million|billion|thousand|mn|bn|shares|people|employees|users"
    r"|customers|units|tons|tonnes|miles|km|kg|hours|days|yuan|dollars|euros|points|bps|items|cases|stores|vehicles)\b)"
    r"|[,.][0-9]|[-–][A-Za-z]|[0-9A-Za-z_]"
)
_STRONG = frozenset({
    "in",
    "during",
    "since",
    "until",
    "year",
    "years",
    "ended",
    "ending",
    "fiscal",
    "through",
    "circa",
})
_ANY_YEAR = re.compile(r"19[5-9]|20[0-4]")
# A 2017 Polish film, the 2024 annual report.
_ARTICLE = re.compile(r"(?<![A-Za-z])(?i:an?|the|our|its|their|this)\s\Z")
_NAMED_BY_YEAR = re.compile(
    r"\s(?:[A-Z][a-z]+(?:\s|-)[a-z]|(?i:annual|interim|budget|report|results|season|film|movie|novel|album|song|election"
    r"|edition|census|season|financial|fiscal|tax|model|world\scup|olympics|agm|plan)\b)"
)
_PHRASE_END = re.compile(
    r"\s?(?:[^\sA-Za-z0-9]|\Z)|\s(?:was|were|is|are|and|or|to|as|the|we|our|by|due|primarily|compared|versus|vs|from|at|on|in|with|which|that|has|had|when|after|before|protects?|requires?|provides?|prohibits?)\b"
)
_DECADE_EN = re.compile(r"(1[5-9]|20)([0-9])0(?:['’]?s)(?![A-Za-z0-9])")
_DECADE_ZH = re.compile(r"年代(?<=[0-9〇零一二三四五六七八九十]..)")
_DECADE_BEFORE = re.compile(
    r"(?:(?P<century>[0-9]{2}|十[六七八九]|二十一?)\s?世纪|(?P<last>上个?世纪))?\s?的?(?<![0-9〇零一二三四五六七八九十])"
    r"(?:(?P<year>(?:1[5-9]|20)[0-9]0)|(?P<tens>[0-9]0)|(?P<chinese>[一二三四五六七八九]十))\s?\Z"
)
_CENTURIES = {"十六": 16, "十七": 17, "十八": 18, "十九": 19, "二十": 20, "二十一": 21}


def read_bare_years(text: str, years: Sequence[int], taken: Sequence[Time]) -> Iterator[Time]:
    """Yield those of `years` that stand without a word of theirs, outside `taken`; both are ordered by start."""
    at = 0
    for start in years:
        end = start + 4
        while at < len(taken) and taken[at].end <= start:
            at += 1
        if at < len(taken) and taken[at].start < end:
            continue
        if in_word(text, start) or text[start - 1 : start] in ("$", "¥", "€", "£") or _NO_YEAR_AFTER.match(text, end):
            continue
        confidence = _confidence(text, start, end)
        span = whole_year(int(text[start:end]))
        if confidence and span:
            yield Time(span, start, end, confidence)


def _confidence(text: str, start: int, end: int) -> float:
    """How sure a bare year is one. Those of this century and the last need less beside them than older ones."""
    if in_cell(text, start, end):
        return 0.7 if _ANY_YEAR.match(text, start) else 0.0
    window = text[max(0, start - 16) : start]
    cue = _YEAR_CUE.search(window)
    word = cue.group().rstrip(" -").lower() if cue is not None else ""
    if cue is not None and (word in _STRONG or cue.group("law") or _PHRASE_END.match(text, end)):
        return 0.9 if _ANY_YEAR.match(text, start) else 0.8 if word in _STRONG else 0.0
    if _ANY_YEAR.match(text, start) is None:
        return 0.0
    if _LIST_CUE.search(window) or _LIST_NEXT.match(text, end):
        return 0.8
    if _ARTICLE.search(window[-6:]) and _NAMED_BY_YEAR.match(text, end):
        return 0.8
    return 0.0


def read_decades(text: str) -> Iterator[Time]:
    """Yield decades as ten years."""
    for match in _DECADE_EN.finditer(text) if "0s" in text or "0'" in text or "0’" in text else ():
        span = decade(int(f"{match.group(1)}{match.group(2)}0"))
        if span is not None and not in_word(text, match.start()):
            yield Time(span, match.start(), match.end())
    for match in _DECADE_ZH.finditer(text):
        window = text[max(0, match.start() - 12) : match.start()]
        before = _DECADE_BEFORE.search(window)
        span = decade(_first_year(before)) if before is not None else None
        if before is not None and span is not None:
            yield Time(span, match.start() - len(before.group()), match.end())


def _first_year(match: re.Match[str]) -> int:
    if match.group("year"):
        return int(match.group("year"))
    tens = match.group("tens")
    digit = int(tens[0]) if tens else "〇一二三四五六七八九".index(match.group("chinese")[0])
    century = match.group("century")
    if century:
        return 100 * (_CENTURIES.get(century) or int(century)) - 100 + 10 * digit
    return (1900 if match.group("last") or digit >= 3 else 2000) + 10 * digit
