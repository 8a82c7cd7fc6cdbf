"""Makes a follow-up question stand alone: by rules, from the questions before it. Pure; takes a millisecond or two.

A follow-up leaves out what the question before it said (`那成本呢？`, `and in Q4?`) or points at it (`it`,
`该公司`). The rules put in what the last question named: its matter, whom it is about, its period. What they
cannot resolve keeps the last question beside it, so that search finds what both name. A question that
stands alone is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Periods = Callable[[str], Sequence[tuple[int, int]]]
"""Returns where dates and periods stand in a text, in order."""

_ASIDE_EN = re.compile(
    r"^(?:and|but|or|so|then|ok(?:ay)?|well|also|now)?[,\s]*(?:what|how)\s+about\s+|^(?:and|but|or)\s+(?!what|how|who|when"
    r"|where|why|which|is|are|was|were|do|does|did|can|could)",
    re.I,
)
_ASIDE_ZH = re.compile(r"^(?:那么|那|然后|还有|另外|以及|而|再问)?[，,\s]*(.{1,24}?)(?:又|怎么样|如何)?呢[？?。！]*$")
_POINTS_EN = re.compile(
    r"\b(it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those)\b(?!\s+(?:is|was)\s+(?:a|the)\b)",
    re.I,
)
_POINTS_AT_NOUN_EN = re.compile(
    r"\b(?:this|that|these|those|the\s+same)\s+(?:one|company|firm|document|report|product|fund|policy|rule|person|team"
    r"|department|project|contract|period|quarter|year|figure|number|amount)s?\b",
    re.I,
)
_POINTS_ZH = re.compile(
    r"(?:(?<!其)(?:它们|他们|她们|它|他(?!人)|她)|该(?:公司|部门|产品|项目|基金|合同|文件|制度|人|员工|客户)?|其(?!他|它|中|实|余))"
)
_BARE_EN = re.compile(r"^(?:and\s+)?(?:why|how\s+so|how\s+come|since\s+when|by\s+whom|who|when|where)\s*\?*$", re.I)
_BARE_ZH = re.compile(r"^(?:那)?(?:为什么|为何|怎么会|原因是什么|原因呢|什么时候|谁)(?:呢)?[？?]*$")
_MATTER_EN = re.compile(
    r"\b(?:what|how\s+(?:much|many|high|large|big))\s+(?:(?:was|were|is|are)\s+)?(?:the\s+)?(?P<matter>[^?]+?)"
    r"(?=\s+(?:in|of|for|during|at|on|by|from|between|after|before|did|does|do|was|were|is|are)\b|\s*\?|\s*$)",
    re.I,
)
_MATTER_ZH = re.compile(
    r"(?:^|的|，|,|年|度|季|月|日|司|团|行|门)?(?P<matter>(?:(?<![\d〇零一二三四五六七八九十])[年月日]|[^的，,。？?\s年季月日]){2,12}?)"
    r"(?:(?:各|分别|一共|总共)?(?:是多少|有多少|为多少|有几|是什么|有哪些|怎么样|如何|多少|是谁|多大|多高|怎么|几))"
)
_NAMED_EN = re.compile(r"\b(?:[A-Z][\w&.-]*)(?:\s+(?:of|and|&|the|[A-Z][\w&.-]*))*(?<!of)(?<!and)(?<!the)\b")
_NAMED_ZH = re.compile(
    r"《[^》]{1,40}》|“[^”]{1,40}”|[\w\u4e00-\u9fff]{2,20}?(?:公司|集团|银行|基金|部门|部|项目|产品|系统|合同|制度|办法|计划|中心)"
)
_ASKING = """
    what who when where why which how is are was were do does did can could in on at for of and the a an tell show
    list give please"""
_ASKS_EN = frozenset(_ASKING.split())
_LEADING = re.compile(r"^(?:in|for|at|of|with)\s+", re.I)
_PART_OF_YEAR = re.compile(r"\b(?:Q[1-4]|H[12])\b|第?[一二三四]季度|[上下]半年|全年|\bfull\s+year\b", re.I)
"""Read as a period where the question before it names one."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_HAS_YEAR = re.compile(r"(?:19|20)\d\d|[今去前明本上]年|\b(?:last|this|next)\s+year\b", re.I)
_CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question as it is answered."""

    question: str
    changed: bool
    """False: it stood alone."""


def stand_alone(question: str, before: Sequence[str], periods: Periods) -> Rewritten:
    """Return a question that needs no other beside it.

    Args:
        question: as it was written.
        before: the questions before it as they were answered, the newest last.
        periods: finds dates and periods.
    """
    question = question.strip()
    if not before or not question:
        return Rewritten(question, False)
    last = before[-1].strip()
    chinese = _CJK.search(question) is not None
    new = _rewritten_zh(question, last, periods) if chinese else _rewritten_en(question, last, periods)
    return Rewritten(new, True) if new is not None and new != question else Rewritten(question, False)


def _rewritten_en(question: str, last: str, periods: Periods) -> str | None:
    if _BARE_EN.match(question):
        return f"{question.rstrip(' ?')}: {last}"
    aside = _ASIDE_EN.match(question)
    if aside is not None:
        return _continued(question[aside.end() :].strip(" ?."), last, periods, _MATTER_EN, "{last} ({rest})")
    noun = _POINTS_AT_NOUN_EN.search(question)
    points = noun or _POINTS_EN.search(question)
    if points is None:
        return None
    named = _named_en(last, periods)
    if named is None:
        return f"{question.rstrip()} ({last})"
    word = points[0].lower()
    put = (
        f"{named}'s" if word in {"its", "their", "his", "theirs", "hers"} or _is_possessive(question, points) else named
    )
    return _dated(question[: points.start()] + put + question[points.end() :], last, periods, " ({period})")


def _rewritten_zh(question: str, last: str, periods: Periods) -> str | None:
    if _BARE_ZH.match(question):
        return f"{question.rstrip('？?呢')}：{last}"
    aside = _ASIDE_ZH.match(question)
    if aside is not None:
        return _continued(aside[1].strip("，, "), last, periods, _MATTER_ZH, "{last}（{rest}）")
    points = _POINTS_ZH.search(question)
    if points is None:
        return None
    found = _NAMED_ZH.search(last) or _NAMED_EN.search(last)
    if found is not None:
        named = found[0]
    else:
        matter = _MATTER_ZH.search(last)
        if matter is None:
            return f"{question}（{last}）"
        named = matter["matter"]
    named += "的" if points[0] == "其" else ""
    return _dated(question[: points.start()] + named + question[points.end() :], last, periods, "（{period}）")


def _continued(rest: str, last: str, periods: Periods, matter: re.Pattern[str], beside: str) -> str:
    """Put what a fragment names in the place of its like in the last question: a period, or the matter."""
    there = periods(last)
    here = periods(rest) or [match.span() for match in _PART_OF_YEAR.finditer(rest)]
    if here and there and _all_but(rest, here) == "":
        (start, end), (first, final) = there[0], (here[0][0], here[-1][1])
        return last[:start] + _with_year(rest[first:final], last[start:end]) + last[end:]
    rest = _LEADING.sub("", rest)
    found = matter.search(last)
    if found is not None and not here and not _NAMED_ZH.fullmatch(rest) and not rest[:1].isupper():
        start, end = found.span("matter")
        return last[:start] + rest.removeprefix("the ") + last[end:]
    named = _NAMED_ZH.search(last) if _CJK.search(last) else _proper(last, periods)
    if named is not None and not here:
        return last[: named.start()] + rest + last[named.end() :]
    return beside.format(last=last.rstrip(), rest=rest)


def _with_year(period: str, former: str) -> str:
    """Give the year of the former period to one that names none: `and Q4?` after a question about 2024."""
    year = _YEAR.search(former)
    if year is None or _HAS_YEAR.search(period):
        return period
    return f"{year[0]}年{period}" if _CJK.search(period) else f"{period} {year[0]}"


def _named_en(last: str, periods: Periods) -> str | None:
    """Return whom or what the last question is about: a name, else its matter."""
    found = _proper(last, periods)
    if found is not None:
        return found[0]
    matter = _MATTER_EN.search(last)
    return f"the {matter['matter']}" if matter is not None else None


def _proper(text: str, periods: Periods) -> re.Match[str] | None:
    spans = periods(text)
    for match in _NAMED_EN.finditer(text):
        words = match[0].split()
        if (match.start() == 0 and words[0].casefold() in _ASKS_EN) or match[0] == "I":
            continue
        if any(start < match.end() and match.start() < end for start, end in spans):
            continue
        return match
    return None


def _is_possessive(question: str, points: re.Match[str]) -> bool:
    """Tell whether `her` stands before a noun."""
    return points[0].lower() == "her" and re.match(r"\s+[a-z]", question[points.end() :]) is not None


def _dated(question: str, last: str, periods: Periods, form: str) -> str:
    """Add the last question's period to one that names none."""
    there = periods(last)
    if not there or periods(question):
        return question
    start, end = there[0]
    body = question.rstrip(" ?？。.")
    return body + form.format(period=last[start:end]) + question[len(body) :]


def _all_but(text: str, spans: Sequence[tuple[int, int]]) -> str:
    rest = "".join(char for i, char in enumerate(text) if not any(start <= i < end for start, end in spans))
    return re.sub(r"\b(?:in|for|during|of|the|and|at|on)\b|[的，,\s在]", "", rest, flags=re.I)
