"""What a sentence of an answer is: a claim, or one of the things that state nothing checkable.

Patterns err towards `claim`: a fact that passes for a greeting escapes the audit, a
greeting that passes for a fact only costs a yellow mark. A sentence of another role that
carries figures is made a claim again by the auditor.
"""

from __future__ import annotations

import re
from typing import Literal

Role = Literal[
    "claim",
    "mark",  # tags, rules and punctuation alone
    "heading",
    "table_header",
    "lead_in",
    "source_line",
    "question",
    "courtesy",
    "disclaimer",  # "the documents do not say", "I could not find"
]

_SOURCE_LINE = re.compile(
    r"""^(?:
    【?(?:资料|資料|数据|知识|参考)?(?:来源|來源|出处|出處)】?\s*[:：]?\s*(?:《.*)?$
    | 【(?:知识来源|置信度|来源)】.* | (?:参考资料|参考文献|参考来源|引用来源|引用|参考)\s*[:：]?\s*(?:《.*)?$
    | \[?(?:knowledge\ source|sources?|references?|citations?|confidence)\]?\s*[:：]?\s*$
    | \[(?:knowledge\ source|confidence)\].*
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LEAD_IN_WORDS = re.compile(
    r"""^(?:
    (?:以下|下面|下列|如下)(?:是|为|列出|给出|内容|几|各).{0,30}$ | .{0,30}(?:如下|如下所示|包括以下.{0,10})[。.]?$
    | (?:here\ (?:is|are)|below\ (?:is|are)|the\ following\ (?:is|are|lists?|shows?))\b.{0,60}$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_COURTESY = re.compile(
    r"""^(?:
    (?:您好|你好|好的|好|谢谢.{0,6}|感谢.{0,10}|不客气|抱歉|对不起|很高兴.{0,12}|没问题|当然(?:可以)?|是的?|对的?
      |不是|没有|不)[，,!！。.～~\s]*$
    | (?:希望|愿)(?:以上|这些|上述|对您|对你|能|这).{0,24}$
    | 如(?:果|有|需)?.{0,16}(?:疑问|问题|帮助|需要|更多信息|进一步).{0,24}
      (?:告诉|告知|联系|提问|问我|补充|说明|咨询|提出|提供).{0,16}$
    | (?:请|欢迎)(?:您|你)?(?:告诉|告知|随时|提供更多|补充|继续提问|说明).{0,24}$
    | (?:根据|基于|针对)(?:您|你)的(?:问题|提问|要求|描述)[，,]?.{0,8}$
    | (?:以上|上述)(?:信息|内容|回答|答案)?(?:仅供参考|供您参考|供参考).{0,8}$
    | (?:我|系统)(?:已|已经|将|先|会|正在|来|再)?(?:检索|搜索|查询|查找|查看|核对|整理)
      (?!.*(?:显示|发现|得知|表明)).{0,24}$
    | (?:hi|hello|hey|sure|certainly|of\ course|absolutely|great(?:\ question)?|yes|no|okay|ok|sorry)[\s,!.]*$
    | (?:thanks?|thank\ you|you(?:'|’)re\ welcome)\b.{0,40}$
    | (?:i\ )?hope\ (?:this|that|it)\b.{0,40}$
    | (?:please\ )?(?:let\ me\ know|feel\ free)\b.{0,90}$
    | please\ (?:tell\ me|provide\ more|clarify)\b.{0,60}$
    | if\ you\ (?:need|have|want|would\ like)\b.{0,60}
      (?:questions?|help|assistance|information|details|anything\ else)\b.{0,60}$
    | (?:i\ apologi[sz]e|i(?:'|’)m\ sorry)\b.{0,60}$
    | i\ (?:have\ |will\ |(?:'|’)ve\ )?(?:searched|looked|search|look|check|checked)\b
      (?!.*\b(?:found|shows?|states?)\b).{0,60}$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_DOCUMENT_ZH = (
    r"(?:资料|文档|文件|来源|知识库|检索(?:到的)?(?:结果|内容)?|上述内容|原文|片段|段落|材料"
    r"|报告|简报|手册|制度|合同|纪要)"
)
_TELLS_ZH = (
    r"(?:提到|提及|说明|涉及|包含|包括|给出|列出|披露|找到|显示|规定|记载|提供|载明|含有|回答|有关|相关|关于|对应|答案)"
)
_DISCLAIMER_ZH = re.compile(
    rf"""
    {_DOCUMENT_ZH}[^。，,；]{{0,16}}(?:没有|并未|未曾|未能|未|不|无)(?:直接|明确|具体|任何|单独|进一步)?{_TELLS_ZH}
    | ^(?:我|抱歉，?|很抱歉，?|目前|暂时?|在.{{0,24}}中)?(?:还|都|均|也|暂)?
      (?:没有|没|未能?|无法|不能)(?:从.{{0,16}}中)?(?:直接|明确)?
      (?:找到|检索到|查到|确定|判断|回答|得知|确认|核实|给出答案)
    | 不在(?:您|你|现有|已有)?的?{_DOCUMENT_ZH} | (?:不是|并非|没有|未|非)来自.{{0,8}}{_DOCUMENT_ZH}
    | ^.{{0,8}}没有(?:相关|足够|可用)的?(?:信息|资料|内容|记录|依据) | ^.{{0,6}}(?:我)?不(?:知道|清楚|确定)
    | 只(?:能|会)?(?:根据|依据|从){_DOCUMENT_ZH}.{{0,8}}回答 | 一般(?:性)?(?:知识|常识)
    """,
    re.VERBOSE,
)
_DOCUMENT_EN = (
    r"(?:documents?|sources?|passages?|knowledge\ base|context|materials?|excerpts?|reports?|files?|results?|texts?"
    r"|handbook|policy)"
)
_DISCLAIMER_EN = re.compile(
    rf"""
    \b{_DOCUMENT_EN}\b[^.]{{0,40}}\b(?:(?:do|does|did)\s*(?:not|n['’]t)|don['’]t|doesn['’]t|didn['’]t|never)
      \s+(?:\w+ly\s+)?
      (?:say|mention|contain|include|specify|state|provide|give|cover|show|address|list|disclose|indicate|answer|tell|have)\b
    | \bno\ (?:information|mention|details?|evidence|records?|passage|document)\b[^.]{{0,30}}
      \b(?:about|of|on|for|in|was|were|is|regarding)\b
    | \bthere\ is\ (?:no|not\ enough|insufficient)\ (?:information|data|evidence|detail)
    | ^(?:sorry,?\ |unfortunately,?\ )?(?:i|we)\ (?:could\ not|couldn['’]t|cannot|can['’]t|can\ not|was\ unable\ to
      |am\ unable\ to|did\ not|didn['’]t)
      \ (?:find|determine|answer|confirm|verify|locate|tell)
    | \b(?:not|nothing)\b[^.]{{0,24}}\bin\ (?:your|the|these)\ (?:\w+\ )?{_DOCUMENT_EN}
    | \bnot\ from\ (?:your|the)\ {_DOCUMENT_EN}
    | \bi\ (?:do\ not|don['’]t)\ (?:know|have\ (?:any\ |enough\ )?(?:information|data|access))
    | \bonly\ (?:answer|answers|quote|quotes)\ (?:\w+\ )?from\ (?:your\ |the\ )?{_DOCUMENT_EN} | \bgeneral\ knowledge\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TURN = re.compile(
    r"(?:[，,；;]\s*(?:但|但是|然而|不过|而是|而|只|仅))|\b(?:but|however|although|instead|yet)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]")


def role_of(text: str) -> Role:
    """Return the role of a sentence from its words alone (headings and table headers are told by their line)."""
    text = text.strip()
    if not _WORD.search(text):
        return "mark"
    if _SOURCE_LINE.match(text):
        return "source_line"
    if text.endswith((":", "：")) or _LEAD_IN_WORDS.match(text):
        return "lead_in"
    if text.endswith(("?", "？")):
        return "question"
    if _COURTESY.match(text):
        return "courtesy"
    if (_DISCLAIMER_ZH.search(text) or _DISCLAIMER_EN.search(text)) and not _TURN.search(text):
        return "disclaimer"
    return "claim"
