"""What the auditor says to people, in Chinese and English."""

from __future__ import annotations

from typing import Literal

AnswerLanguage = Literal["zh", "en"]

_TEXT: dict[str, tuple[str, str]] = {
    "tag_ok": ("{label} 是本次检索到的来源", "{label} is a source of this run"),
    "tag_unknown": ("{label} 不是本次检索到的来源", "{label} is not a source of this run"),
    "tag_malformed": ("来源标签“{label}”不合规范", 'the source tag "{label}" is malformed'),
    "tag_unavailable": (
        "{label} 的原文不在手边，无法核对",
        "the text of {label} is not at hand, so it could not be checked",
    ),
    "tag_link": (
        "来源标签被做成了指向别处的链接：{text}",
        "a source tag is dressed up as a link to somewhere else: {text}",
    ),
    "foreign_mark": ("“{text}”不是来源标签，指不到任何来源", '"{text}" is no source tag and names no source'),
    "no_tag": ("这句话没有注明来源", "the sentence names no source"),
    "figure_equal": (
        "“{answer}”与来源中的“{source}”一致",
        '"{answer}" agrees with "{source}" in the source',
    ),
    "figure_rounded": (
        "“{answer}”是来源中“{source}”的约数",
        '"{answer}" is "{source}" in the source, rounded',
    ),
    "figure_contains": (
        "“{answer}”与来源中的“{source}”相符",
        '"{answer}" fits "{source}" in the source',
    ),
    "figure_question": (
        "“{answer}”只是重复问题中的数值，不作为论断",
        '"{answer}" only repeats the question and is not taken as a claim',
    ),
    "figure_page": ("页码“{answer}”与来源一致", 'page "{answer}" is the source\'s page'),
    "figure_computed": (
        "“{answer}”可由来源中的数值算出：{source}",
        '"{answer}" follows from the source: {source}',
    ),
    "figure_different": (
        "回答写“{answer}”，来源写的是“{source}”",
        'the answer says "{answer}", the source says "{source}"',
    ),
    "figure_scale": (
        "数量级不符：回答写“{answer}”，来源写的是“{source}”",
        'wrong order of magnitude: the answer says "{answer}", the source says "{source}"',
    ),
    "figure_unit_unknown": (
        "来源表格中的“{source}”未注明单位，无法核对“{answer}”",
        'the source\'s table does not name the unit of "{source}", so "{answer}" could not be checked',
    ),
    "figure_sign": (
        "方向相反：回答是 {answer}，来源是 {source}",
        "opposite direction: the answer says {answer}, the source {source}",
    ),
    "figure_subject": (
        "来源中“{match}”说的是另一项；就这一项，来源写的是“{source}”，回答写“{answer}”",
        'in the source "{match}" belongs to something else; for this the source says "{source}", the answer "{answer}"',
    ),
    "figure_missing": ("来源中没有“{answer}”", '"{answer}" does not occur in the source'),
    "period_mismatch": (
        "期间不符：回答说的是“{answer}”，来源中的数据属于“{source}”",
        'wrong period: the answer speaks of "{answer}", the source\'s figure belongs to "{source}"',
    ),
    "period_above": (
        "上文说的是“{answer}”，来源中的数据属于“{source}”",
        'the lines above speak of "{answer}", the source\'s figure belongs to "{source}"',
    ),
    "period_not_asked": (
        "来源中的数据属于“{source}”，问题问的是“{answer}”",
        'the source\'s figure belongs to "{source}", the question asks for "{answer}"',
    ),
    "period_passage": (
        "来源所属期间与问题所问的“{answer}”不符",
        'the source belongs to another period than "{answer}", which was asked for',
    ),
    "quote_ok": ("引文与原文一字不差", "the quotation stands verbatim in the source"),
    "quote_question": ("引文出自问题", "the quotation is from the question"),
    "quote_missing": ("引文“{text}”不在来源中", 'the quotation "{text}" is not in the source'),
    "quote_stitched": (
        "引文“{text}”由原文中 {n} 处不相连的文字拼成",
        'the quotation "{text}" is stitched together from {n} separate places of the source',
    ),
    "quote_gap": (
        "引文“{text}”的省略处删去了改变原意的文字",
        'the omission in the quotation "{text}" drops words that change its meaning',
    ),
    "support_verbatim": ("来源中有原句", "the source says so verbatim"),
    "support_share": (
        "这句话的用词有 {percent}% 见于来源",
        "{percent}% of the sentence's terms occur in the source",
    ),
    "support_language": (
        "来源是另一种语言，只能核对数值、名称和引文",
        "the source is in another language: only figures, names and quotations could be checked",
    ),
    "support_names": (
        "名称“{text}”见于来源",
        'the names "{text}" occur in the source',
    ),
    "flip": (
        "意思相反：回答说“{answer}”，来源说“{source}”",
        'opposite meaning: the answer says "{answer}", the source says "{source}"',
    ),
    "substitution": (
        "回答写“{answer}”，来源在同一处写的是“{source}”",
        'the answer says "{answer}" where the source says "{source}"',
    ),
    "restrictor": (
        "来源没有说“{answer}”：“{source}”",
        'the source does not say "{answer}": "{source}"',
    ),
    "stance": (
        "推理模型认为来源与这句话矛盾（{percent}%）",
        "the model of inference finds that the source contradicts this ({percent}%)",
    ),
    "off_question": (
        "来源中确有此句，但看起来没有回答所问的问题",
        "the source says so, but it does not seem to answer what was asked",
    ),
    "hedged": ("{label} 质量不高，回答已说明其不确定", "{label} is of low quality, and the answer says so"),
    "unhedged": (
        "{label} 质量不高，回答却没有说明其不确定",
        "{label} is of low quality, and the answer does not say that it is uncertain",
    ),
    "general": ("一般知识，不来自文档", "general knowledge, not from the documents"),
}


def say(key: str, language: AnswerLanguage, **values: object) -> str:
    """Return one of the auditor's sentences in the answer's language."""
    return _TEXT[key][0 if language == "zh" else 1].format(**values)


def shorten(text: str, limit: int = 60) -> str:
    """Return `text` cut for display."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
