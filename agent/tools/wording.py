"""What the executor itself says to the model, in the reader's language."""

from __future__ import annotations

from typing import Literal

Said = Literal["low_quality", "uncertain", "not_approved", "rate_limited", "breaker_open"]

_ZH: dict[Said, str] = {
    "low_quality": "（这个结果质量不高，评分 {score}：若引用它，回答中必须说明其不确定。）",
    "uncertain": "（质量不高，回答中必须说明其不确定）",
    "not_approved": "{tool} 会产生实际影响，须经人批准；没有得到批准，因此没有执行。请不要再次调用，用已有的信息继续。",
    "rate_limited": "{tool} 一分钟内的调用次数已用完，{seconds} 秒后才能再用。请先用其他办法继续。",
    "breaker_open": "{tool} 连续失败，已暂停使用，{seconds} 秒后才会再试。请不用它继续。",
}
_EN: dict[Said, str] = {
    "low_quality": "(This result is of low quality, score {score}: an answer that uses it must say that it "
    "is uncertain.)",
    "uncertain": "(of low quality: the answer must say that it is uncertain)",
    "not_approved": "{tool} has effects and needs a person's approval, which it did not get; it was not run. "
    "Do not call it again; go on with what you have.",
    "rate_limited": "{tool} was called as often as one minute allows; it can be used again in {seconds} s. "
    "Go on by other means.",
    "breaker_open": "{tool} failed again and again and is out of use; it is tried again in {seconds} s. "
    "Go on without it.",
}


def say(what: Said, language: Literal["zh", "en"], **values: object) -> str:
    """Return one of the fixed sentences."""
    return (_ZH if language == "zh" else _EN)[what].format(**values)
