"""Which model a run begins with: the small one for what is simple, where that is switched on."""

from __future__ import annotations

import re

from retrieval.question_form import question_form
from retrieval.types import Tier

_MOST_CHARS = 160
_HARD = re.compile(
    r"比较|对比|相比|差异|区别|分析|原因|为什么|为何|怎么看|评价|总结|概括|归纳|趋势|影响|分别|计算|预测|建议"
    r"|\b(?:compar\w*|versus|vs\.?|differ\w*|analy\w*|why|explain|evaluat\w*|summar\w*|trend\w*|impact|each|respectively"
    r"|comput\w*|calculat\w*|forecast|recommend|assess)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[?？。!！;；\n]|\.\s")


def is_simple(question: str, tier: Tier) -> bool:
    """Tell whether a small model will do: small talk, a sum, or one short question that a passage answers.

    Tier `weak` is not simple: the model has to decide what to search for.
    """
    if tier == "none":
        return question_form(question) in {"small_talk", "arithmetic"} or len(question) <= _MOST_CHARS
    if tier == "weak" or len(question) > _MOST_CHARS:
        return False
    return len(_END.findall(question.strip().rstrip("?？。.!！"))) == 0 and _HARD.search(question) is None
