"""Words that say how exactly a figure is meant: 约, 不低于, 以内, at least, or more, nearly."""

from __future__ import annotations

import re

from retrieval.symbols.found import Found
from retrieval.types import Qualifier

_BEFORE_WORDS: dict[Qualifier, str] = {
    "about": (
        "大约 大概 约为 约 将近 接近 近 around about approximately approx. approx nearly almost roughly circa some ~ ≈"
    ),
    "at_least": (
        "不低于 不少于 不小于 不得低于 不得少于 至少 最少 最低 起码 ≥ >= at_least no_less_than not_less_than"
        " no_fewer_than not_fewer_than a_minimum_of minimum_of"
    ),
    "at_most": (
        "不超过 不高于 不大于 不多于 不得超过 不得高于 至多 最多 最高 ≤ <= at_most up_to no_more_than not_more_than"
        " not_exceeding not_to_exceed not_exceed a_maximum_of maximum_of"
    ),
    "more_than": (
        "超过 超 逾 高于 大于 多于 > more_than over exceeding above exceeds exceeded exceed greater_than higher_than"
        " in_excess_of upwards_of"
    ),
    "less_than": "低于 不足 少于 小于 未满 不满 不到 < less_than under below fewer_than lower_than",
}
_AFTER_WORDS: dict[Qualifier, str] = {
    "about": "左右 上下 or_so",
    "at_least": "及以上 或以上 以上 or_more or_above or_over or_higher and_above and_over at_least",
    "at_most": (
        "及以下 或以下 及以内 以内 之内 以下 or_less or_fewer or_below or_under or_lower and_below at_most at_the_most"
    ),
}
_OPPOSITE: dict[Qualifier, Qualifier] = {"more_than": "at_most", "less_than": "at_least"}
_REACH = 24


def _writings(words: dict[Qualifier, str]) -> dict[str, Qualifier]:
    return {word.replace("_", " "): qualifier for qualifier, listed in words.items() for word in listed.split()}


_BEFORE, _AFTER = _writings(_BEFORE_WORDS), _writings(_AFTER_WORDS)


def _alternation(words: list[str]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"\s") for word in ordered)


def _before_patterns() -> dict[str, re.Pattern[str]]:
    """By last character: most figures have none of them before them and need no search."""
    patterns: dict[str, re.Pattern[str]] = {}
    for last in {word[-1] for word in _BEFORE}:
        words = _alternation([word for word in _BEFORE if word[-1] == last])
        latin = last.isascii() and last.isalpha()
        pattern = rf"(?<![A-Za-z])(?:(not|no|n't)\s)?((?i:{words}))\Z" if latin else rf"(不)?({words})\Z"
        patterns[last] = re.compile(pattern)
        patterns[last.upper()] = patterns[last]
    return patterns


_BEFORE_PATTERNS = _before_patterns()
_AFTER_ZH, _AFTER_EN = (_alternation([w for w in _AFTER if w.isascii() is latin]) for latin in (False, True))
_AFTER_PATTERN = re.compile(rf"\s?(?:({_AFTER_ZH})|((?i:{_AFTER_EN}))(?![A-Za-z]))")
_AFTER_HEADS = frozenset(head for word in _AFTER for head in (word[0], word[0].upper()))
_OTHER_OVER = re.compile(r"(?:(?:extend|spread|stretch|carri|cover)\w*|[0-9])\sover\Z", re.IGNORECASE)
_RANGE_BEFORE = re.compile(r"[0-9%‰℃元万亿千百十吨米克升时分秒天月年人个倍成]\Z|[0-9][A-Za-z]{1,5}\Z")
_KINDS = frozenset({"amount", "percent", "percent_points", "ratio", "quantity", "duration", "number"})
_ABOUT_WITHIN = re.compile(r"[余多]")


def qualified(text: str, found: Found) -> Found:
    """Return a finding with the qualifier that the words around it give; dates and codes have none."""
    if found.kind not in _KINDS:
        return found
    start = found.start
    last = text[start - 1 : start]
    if last == " ":
        start -= 1
        last = text[start - 1 : start]
    pattern = _BEFORE_PATTERNS.get(last)
    qualifier = _before(pattern, text, start) if pattern is not None else ""
    if not qualifier:
        head = text[found.end : found.end + 1]
        if head == " ":
            head = text[found.end + 1 : found.end + 2]
        if head in _AFTER_HEADS:
            qualifier = _after(text, found.end)
    if not qualifier and found.kind != "number" and _ABOUT_WITHIN.search(text, found.start, found.end):
        qualifier = "more_than"  # 300余人
    return found._replace(qualifier=qualifier) if qualifier else found


def _before(pattern: re.Pattern[str], text: str, start: int) -> Qualifier:
    match = pattern.search(text[max(0, start - _REACH) : start])
    if match is None:
        return ""
    word = " ".join(match.group(2).lower().split())
    if word == "~" and _is_range_mark(text, start):
        return ""
    if word == "over" and _OTHER_OVER.search(text[max(0, start - _REACH) : start]):
        return ""
    qualifier = _BEFORE[word]
    return _OPPOSITE.get(qualifier, qualifier) if match.group(1) else qualifier


def _is_range_mark(text: str, end: int) -> bool:
    """Tell the ~ of a range (5~8, 5 ~ 8) that ends at `end` from the one that says about."""
    if text[end - 2 : end - 1] == " ":
        return text[end : end + 1] == " " and text[end - 3 : end - 2].isalnum()
    return _RANGE_BEFORE.search(text[max(0, end - _REACH) : end - 1]) is not None


def _after(text: str, end: int) -> Qualifier:
    match = _AFTER_PATTERN.match(text, end)
    if match is None:
        return ""
    word = match.group(1) or match.group(2)
    return _AFTER[" ".join(word.lower().split())]
