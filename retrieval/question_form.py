"""The form of a question: what its wording alone tells the trigger. Pure and linear."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from retrieval.small_talk import is_small_talk
from retrieval.sums import is_sum

Form = Literal["arithmetic", "small_talk", "aims_at_documents", "open"]

_EXPRESSION = re.compile(r"[\d\s.,+\-*/×÷xX^%()（）=＝?？]+")
_DATE_OR_PHONE = re.compile(r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|[+(]?\d{2,4}[)\s-]*\d{3,4}[\s-]\d{4}|\d+(?:\.\d+){2,}")
_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?%?"
_ARITHMETIC_WORDS = re.compile(
    rf"""^(?:what(?:'s|\ is)|how\ much\ is|calculate|compute|work\ out|请?(?:计算|算)(?:一下)?|请问)?[\s:：]*
    (?:the\ )?(?:sum|product|difference|square\ root|square|根号)?\s*(?:of\ )?
    {_NUMBER}(?:\s*(?:[+\-*/×÷^%xX]|plus|minus|times|multiplied\ by|divided\ by|over|to\ the\ power\ of|and|percent\ of|of
    |加上?|减去?|乘以?|除以|的平方|的立方|的)\s*(?:{_NUMBER})?)+
    \s*(?:=|equals?|is|等于|是)?\s*(?:what|how\ much|多少|几|得多少|得几)?\s*[?？。.]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_AIMS = re.compile(
    r"""(?:
    \b(?:our|the\ company'?s|company)\b.{0,40}\b(?:polic(?:y|ies)|procedure|handbook|guideline|rule|process|report|contract|revenue|allowance|limit)s?\b
    | \b(?:according\ to|based\ on|in)\ (?:the|our|your|these|this)\ (?:\w+\ ){0,3}(?:documents?|files?|reports?|handbook|policy|manual|minutes|transcript|brief|guide|table)\b
    | \b(?:do|does|did)\ (?:the|our|this)\ (?:\w+\ ){0,3}(?:documents?|files?|reports?|handbook|policy|manual|contract|minutes|transcript|brief|guide|agreement)\ (?:say|state|mention|define|require|contain|allow)
    | \bin\ (?:the\ )?knowledge\ base\b | \bwhich\ document\b
    | (?:根据|依据|按照|按|查一?下|参考).{0,12}(?:文档|文件|制度|规定|手册|报告|简报|合同|纪要|政策|办法|指引)
    | (?:我们|我司|本公司|公司|咱们|贵司).{0,20}(?:制度|规定|政策|流程|手册|标准|报告|合同|收入|营收|利润|额度|办法|要求)
    | (?:文档|文件|制度|手册|报告|简报|合同|纪要|政策|办法|指引|协议)(?:里|中|上|内)?.{0,4}(?:怎么|如何|是否|有没有|有无).{0,3}(?:说|写|规定|要求|提到|提及)
    | 知识库 | 哪(?:份|个)文(?:档|件)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = (
    (re.compile(r"multiplied by|times|乘以?|(?<=[\d\s)])[x×](?=[\s\d(])"), "*"),
    (re.compile(r"divided by|\bover\b|除以|÷"), "/"),
    (re.compile(r"\bplus\b|加上?"), "+"),
    (re.compile(r"\bminus\b|减去?"), "-"),
    (re.compile(r"(?:percent|%)\s+of"), "% *"),
    (re.compile(r"to the power of|\^"), "**"),
    (re.compile(r"的平方"), "**2"),
    (re.compile(r"的立方"), "**3"),
)
_CALCULATION = re.compile(r"[-+(\d][\d\s.,+\-*/%()]*")
_EDGES = re.compile(r"^[\s,.!?;:~，。！？；：～、…]+|[\s,.!?;:~，。！？；：～、…]+$")


def question_form(question: str) -> Form:
    """Tell the form of a question.

    `small_talk` and `arithmetic` hold for the whole question; a question that names
    the documents (`aims_at_documents`) is never small talk.
    """
    text = unicodedata.normalize("NFKC", question).strip()
    bare = _EDGES.sub("", text)
    if _is_arithmetic(text, bare):
        return "arithmetic"
    if _AIMS.search(text):
        return "aims_at_documents"
    if is_small_talk(text):
        return "small_talk"
    return "open"


def arithmetic_expression(question: str) -> str | None:
    """Return the expression an arithmetic question asks for, in the notation of calculators; None when unclear.

    `What is 12 times 8?` gives `12 * 8`, `3的平方` gives `3 **2`.
    """
    text = unicodedata.normalize("NFKC", question).lower()
    for words, sign in _SIGNS:
        text = words.sub(f" {sign} ", text)
    found = max((m.group().strip() for m in _CALCULATION.finditer(text)), key=len, default="")
    expression = " ".join(found.replace(",", "").split()).rstrip("=.+-*/ ")
    complete = re.search(r"\d.*[-+*/%].*\d", expression) is not None
    return expression if complete else None


def _is_arithmetic(text: str, bare: str) -> bool:
    if _DATE_OR_PHONE.fullmatch(bare):
        return False
    if is_sum(text):
        return True
    if not any(c.isdigit() for c in bare):
        return False
    return _EXPRESSION.fullmatch(text) is not None or _ARITHMETIC_WORDS.match(text) is not None
