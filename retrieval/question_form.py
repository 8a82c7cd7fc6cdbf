"""The form of a question: what its wording alone tells the trigger. Pure and linear."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Form = Literal["arithmetic", "small_talk", "aims_at_documents", "open"]

_SMALL_TALK_WHOLE = re.compile(
    r"""(?:
    (?:hi|hello|hey|yo|good\ (?:morning|afternoon|evening|night)|howdy|greetings)(?:\ there|\ everyone|\ again)?
    | how\ are\ you(?:\ doing)?(?:\ today)? | how(?:'s|\ is)\ it\ going | what'?s\ up | nice\ to\ meet\ you
    | (?:many\ )?thanks?(?:\ you)?(?:\ (?:so|very)\ much|\ a\ lot)? | cheers | bye(?:\ bye)? | goodbye | see\ you(?:\ later)?
    | ok(?:ay)? | great | cool | never\ ?mind | you(?:'re|\ are)\ welcome
    | (?:who|what)\ are\ you | what(?:'s|\ is)\ your\ name | are\ you\ (?:a\ )?(?:human|robot|bot|ai|real|there)
    | who\ (?:made|created|built)\ you | how\ old\ are\ you | where\ are\ you\ from | what\ can\ you\ do
    | 你好[啊呀吗]? | 您好 | 嗨 | 哈[喽啰罗] | 早上?好 | 上午好 | 中午好 | 下午好 | 晚上好 | 晚安 | 在吗 | 在不在
    | 谢谢[你您啦了]? | 多谢 | 感谢 | 辛苦了 | 再见 | 拜拜 | 好的 | 好吧 | 明白了?
    | 你是谁 | 你叫什么(?:名字)? | 你是(?:不是)?(?:人|机器人|AI|真人)吗? | 你会(?:做)?什么 | 你能(?:做|干)(?:什么|啥)
    | 你多大了? | 你几岁了? | 最近(?:怎么样|好吗) | 吃了吗 | 你还好吗 | 很高兴认识你
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SMALL_TALK_INSIDE = re.compile(
    r"""(?:
    \b(?:tell|know|give)\b.{0,12}\b(?:joke|riddle|funny\ story|fun\ fact)s?\b | \bmake\ me\ laugh\b
    | \b(?:write|compose|recite|sing)\b.{0,20}\b(?:poem|song|haiku|limerick|lullaby)\b
    | \b(?:what\ is|what's|how\ is|how's)\ the\ (?:weather|temperature\ outside) | \bflip\ a\ coin\b | \broll\ (?:a|the)\ di[ce]e?\b
    | \bmeaning\ of\ life\b | \bwhat\ time\ is\ it\b | \bwhat(?:'s|\ is)\ (?:today'?s\ date|the\ date(?:\ today)?)\b
    | \bset\ (?:an?\ )?(?:alarm|timer|reminder)\b | \bdo\ you\ (?:love|like|hate|have)\ (?:me|pets?|a\ (?:dog|cat))\b
    | (?:讲|说|来|给我).{0,4}(?:笑话|段子|故事|谜语|绕口令) | 逗我(?:笑|开心) | (?:写|作|来).{0,3}(?:首|一首).{0,4}(?:诗|歌)
    | 唱.{0,3}歌 | (?:今天|明天|现在|外面).{0,6}(?:天气|气温|下雨|几度) | 现在几点 | 今天(?:几号|星期几|周几) | 抛硬币 | 掷骰子
    | 人生的意义 | 我(?:好|很|有点)?(?:无聊|难过|开心|累) | 陪我聊
    )""",
    re.IGNORECASE | re.VERBOSE,
)
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
    if _is_small_talk(bare):
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
    if not any(c.isdigit() for c in bare) or _DATE_OR_PHONE.fullmatch(bare):
        return False
    return _EXPRESSION.fullmatch(text) is not None or _ARITHMETIC_WORDS.match(text) is not None


def _is_small_talk(bare: str) -> bool:
    # Greetings stand alone or lead in more small talk ("hello, how are you").
    parts = [p for p in re.split(r"[\s]*[,.!?;，。！？；~～]+[\s]*", bare) if p]
    if parts and all(_SMALL_TALK_WHOLE.fullmatch(p) for p in parts):
        return True
    return len(bare) <= 80 and _SMALL_TALK_INSIDE.search(bare) is not None
