"""What a question asks for, and whether a text has the form of such an answer. Chinese questions only."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.types import Symbol

WH = re.compile(
    r"谁|什么(?:时候|时间|地方)?|何[时处人年]|为何|因何|哪[一]?[个些位里儿年天次种所家国座部首条]*|多少|几|如何"
    r"|怎[么样]+|多[大高长远久重宽深]"
)
_WHEN = re.compile(r"何时|什么时候|哪一?年|哪一?天|几年|几月|何年|多久|什么时间|哪个时|日期|年份|时期|年间|时间")
_COUNT = re.compile(r"多少|几|多[大高长远重宽深]|占.{0,6}比|面积|人口|数量")
_WHO = re.compile(r"谁|哪位|哪一位|何人|什么人|名字|姓名|哪[个些]人")
_WHERE = re.compile(r"哪里|哪儿|何处|什么地方|哪个(?:国家|省|市|城市|地方|地区)|位于|地点|分布|哪些地|哪国|产地")
_WHY = re.compile(r"为什么|为何|原因|因何|何以|怎么会")
_PLACE = re.compile(r"[省市县区州国镇村乡岛山洲海河湖路街府城都道东西南北]")
_REASON = re.compile(r"因|由于|为了?|以免|导致|使得|故|所以")
_GIVES_REASON = re.compile(r"因|由于|为了")
_TIME = re.compile(r"\d+\s*(?:年|月|日|世纪|点|时)|世纪|[一二三四五六七八九十]年|年间|时期|朝|年代|期|后|前")
_NUMBER = re.compile(r"[\d一二两三四五六七八九十百千万亿半]")
_BRIEF = 14
_VERY_BRIEF = 8
_NAME_CHARS = 12


def asks_when(question: str) -> bool:
    """Tell whether the answer is a time."""
    return _WHEN.search(question) is not None


def asks_count(question: str) -> bool:
    """Tell whether the answer is a number that is no time."""
    return not asks_when(question) and _COUNT.search(question) is not None


def form_features(question: str, answer: str, before: str, symbols: Sequence[Symbol]) -> dict[str, float]:
    """Return 0 or 1 per feature: has `answer` the form that `question` calls for?

    Args:
        question: The question.
        answer: What answers it.
        before: The few characters that stand before the answer's words in the source.
        symbols: The answer's symbols.
    """
    when, count = asks_when(question), asks_count(question)
    who, where, why = (pattern.search(question) is not None for pattern in (_WHO, _WHERE, _WHY))
    timed, numbered = _TIME.search(answer) is not None, _NUMBER.search(answer) is not None
    dated = any(symbol.kind in ("date", "period") for symbol in symbols)
    placed = _PLACE.search(answer) is not None
    reasoned = _REASON.search(answer) is not None or _REASON.search(before[-4:]) is not None
    length = len(answer)
    found = {
        "when_timed": when and timed,
        "when_untimed": when and not timed,
        "when_undated": when and not dated,
        "count_numbered": count and numbered,
        "count_unnumbered": count and not numbered,
        "who_named": who and length <= _NAME_CHARS,
        "who_told": who and length > _NAME_CHARS,
        "who_timed": who and timed,
        "where_placed": where and placed,
        "where_unplaced": where and not placed,
        "why_reasoned": why and reasoned,
        "why_unreasoned": why and not reasoned,
        "only_a_date": dated and not when and length < _BRIEF,
        "only_a_number": numbered and not (count or when) and length < _VERY_BRIEF,
        "a_reason_unasked": not why and _GIVES_REASON.match(answer) is not None,
        "a_figure_at_length": (when or count) and length > 2 * _BRIEF,
        "asks_when": when,
        "asks_count": count,
        "asks_who": who,
        "asks_where": where,
        "asks_why": why,
    }
    return {name: float(value) for name, value in found.items()}
