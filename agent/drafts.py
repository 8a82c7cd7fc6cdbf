"""Whether a `<final_answer>` is an answer for the reader, or a draft that one more model call has to complete."""

from __future__ import annotations

import re
from typing import Final, Literal

from retrieval.labels import find_tags, format_tag, strip_tags
from retrieval.language_id import language_of
from retrieval.neutralise import neutralise

Fault = Literal["language", "report"]
"""`language`: it is written in another one than the reader's. `report`: it tells of the work, not what came of it."""

_QUOTED_RE: Final = re.compile(r"“[^”]*”|「[^」]*」|《[^》]*》|\"[^\"\n]*\"|`[^`]*`")
_ASKS_LANGUAGE_RE: Final = re.compile(
    r"翻译|译成|译为|英文|英语|中文|汉语|双语|\b(?:translat\w*|english|chinese|mandarin|bilingual)\b", re.IGNORECASE
)
_WORK_ZH = r"(?:任务|问题|要求|工作|步骤|资料|文档|查询|检索|搜索)"
_DID_ZH = r"(?:完成|处理|搜索|检索|查阅|查询|结束|解决)(?:了|完|完毕)?"
_DID_EN = r"(?:now\s+)?(?:successfully\s+)?(?:finished|completed?|done|answered|resolved)(?:\s+successfully)?"
_WORK_EN = r"(?:the|your|this|all)\s+(?:tasks?|questions?|search|requests?|steps?|work)"
_REPORT_RE: Final = re.compile(
    rf"(?:我?(?:已经?)?(?:成功)?{_DID_ZH}(?:您的|你的|本次|所有|全部|该|相关)?{_WORK_ZH}?(?:完毕|了)?|{_WORK_ZH}(?:已经?)?{_DID_ZH}"
    rf"|如上(?:所述)?|见上文?|同上|(?:i\s+have\s+|i've\s+|{_WORK_EN}\s+(?:is|has\s+been)\s+)?{_DID_EN}(?:\s+{_WORK_EN})?"
    r"|(?:see|as\s+stated)\s+above|see\s+the\s+(?:passages?|results?)(?:\s+above)?)",
    re.IGNORECASE,
)
_LONGEST_REPORT: Final = 120
_LEAST_LETTERS: Final = {"zh": 6, "en": 12}
"""A name or a code says nothing of the language it stands in."""


def fault_of(draft: str, question: str, language: Literal["zh", "en"]) -> Fault | None:
    """Return what is wrong with a draft that one more call may mend; None for an answer."""
    text = strip_tags(draft).strip()
    if len(text) <= _LONGEST_REPORT and not any(find_tags(draft)):
        sentences = [part.strip(" \t\"'“”") for part in re.split(r"[。.!！\n]+", text) if part.strip()]
        if sentences and all(_REPORT_RE.fullmatch(sentence) for sentence in sentences):
            return "report"
    if _ASKS_LANGUAGE_RE.search(question):
        return None
    own = _QUOTED_RE.sub(" ", text)
    written = language_of(own)
    if written == "other" or written == language:
        return None
    return "language" if sum(char.isalpha() for char in own) >= _LEAST_LETTERS[written] else None


def shown(draft: str) -> str:
    """Return a draft for a prompt: nothing in it acts, and its tags stay tags."""
    parts: list[str] = []
    at = 0
    for tag in find_tags(draft):
        if tag.well_formed:
            parts += [neutralise(draft[at : tag.start]) if tag.start >= at else " ", format_tag(tag.label)]
            at = tag.end
    return "".join([*parts, neutralise(draft[at:])])
