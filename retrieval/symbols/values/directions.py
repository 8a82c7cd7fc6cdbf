"""The words that make a percentage a fall: 同比下滑, fell by, a 5.2% decline; and those that only seem to.

`降至5%` and `fell to 5%` name the level that was reached, `降幅收窄` a smaller fall: none carries a minus.
"""

from __future__ import annotations

import re

_ZH_DOWN = (
    "负增长|下滑|下降|下跌|下挫|下探|下浮|下调|下行|减少|减小|减低|缩减|缩小|缩水|收缩|收窄|萎缩|降低|跌落|回落|滑落|走低|锐减|骤降|骤减"
    "|暴跌|大跌|微降|微跌|略降|调降|调减|削减|贬值|压降|(?<![上最])跌|(?<![下升])降|(?<!加)减|(?<![最较偏极至])低"
)
_ZH_DOWN_NOUN = "降幅|跌幅|减幅|下降幅度|下跌幅度|下滑幅度|降低幅度|减少幅度|贬值幅度"
_ZH_FILLER = r"(?:了|分别|约|近|超过|超|逾|达到?(?!至)|高达|不足|至少|大约|接近|将近|幅度|[\s(])"
_EN_DOWN = (
    r"fell|falls?|fallen|falling|drop(?:s|ped|ping)?|declin(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|down|downturn|slipp(?:ed|ing)"
    r"|slips?|slid|shr[aiu]nk(?:s|ing)?|contract(?:s|ed|ing|ion)|lower(?:ed|ing)?|reduc(?:es|ed|e|ing|tion)|plung(?:e|es|ed|ing)"
    r"|tumbl(?:e|es|ed|ing)|dip(?:s|ped)?|sank|slump(?:s|ed)?|cuts?(?=\sby|\s[a-z]+(?:\s[a-z]+){0,3}\sby)|negative\sgrowth|lost|loses?|sheds?|eased|weakened|plummet(?:s|ed|ing)?|retreated|narrow(?:s|ed|ing)|tighten(?:s|ed|ing)?|compress(?:es|ed|ing)"
)
_EN_PERIOD = r"(?:year|quarter|month)[\s-]o(?:n|ver)[\s-](?:year|quarter|month)|yoy|qoq|mom|y/y|q/q|m/m|y-o-y"
_EN_FILLER = (
    r"by|of|about|around|approximately|roughly|nearly|almost|some|an?|another|only|just|as\smuch\sas|more\sthan|over"
    r"|at\sleast|up\sto|sharply|slightly|significantly|modestly|further|an?\sestimated|estimated|" + _EN_PERIOD
)
_ZH_DOWN_BEFORE = re.compile(
    rf"(?:({_ZH_DOWN}){_ZH_FILLER}{{0,4}}|(?:{_ZH_DOWN_NOUN})(?:{_ZH_FILLER}|为|是|在|:){{0,4}}"
    # 下调存款准备金率0.5个百分点: the object stands between.
    r"|(?:下调|调降|降低|削减|减少|压降|调减|缩减)[\u4e00-\u9fffA-Za-z ]{1,12}(?<![至到为由从的在]))\Z"
)
_SMALLER_FALL = re.compile(r"(?:降幅|跌幅|减幅|降速)[^0-9，。；,;]{0,8}\Z")
_EN_CHANGE = (
    r"fell|falls?|drop(?:s|ped|ping)?|declin(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|reduc(?:es|ed|e|ing|tions?)"
    r"|lowered|lowering|cuts?|cutting|shr[aiu]nk|contraction"
)
# The object of the change: reduced operating costs by 5%, a decline in revenue of 5%.
_EN_OBJECT = (
    r"(?:\s(?!(?:while|but|and|or|whereas|from|to|as|rose|grew|up|increas\w*|ris\w+|grow\w*|gain\w*|higher)\s)"
    rf"[A-Za-z'’-]{{1,16}}){{1,6}}\s(?:by|of)\s(?:(?:{_EN_FILLER})\s){{0,3}}"
)
# decreased by $1.2 million, or 5.2%
_EN_SUM = (
    r"(?:\s(?:by|of|approximately|about)){0,2}\s(?:[A-Z]{2,3})?[$€£¥]?\s?[0-9][0-9.,]{0,16}"
    rf"(?:\s(?:thousand|million|billion|mn|bn))?,?\sor\s(?:(?:{_EN_FILLER})\s){{0,2}}"
)
_EN_DOWN_BEFORE = re.compile(
    rf"(?<![A-Za-z])(?i:(?:{_EN_DOWN})(?:(?:\s(?:{_EN_FILLER})){{0,4}}\s|{_EN_SUM})|(?:{_EN_CHANGE}){_EN_OBJECT})\Z"
)
_DOWN_AFTER = re.compile(
    rf"\s?的?\s?(?:同比|环比)?(?:降幅|跌幅|减幅|下降|下滑|下跌|降低|减少)(?!至|到|为|了?\s?[0-9])"
    rf"|\s(?i:(?:(?:{_EN_PERIOD}|annual|quarterly|monthly)\s)?"
    r"(?:declines?|decreases?|drops?(?!\sout)|reductions?|contractions?|slumps?"
    r"|falls?(?!\s(?:into|under|within|between|below|short|on))"
    r"|lower(?!\s(?:bound|limit|tier|end|part))|down(?!\s?payment|\sto|\sthe)))(?![A-Za-z])"
)
_WINDOW = 80


def is_fall(text: str, start: int, end: int) -> bool:
    """Tell whether the words around a percentage at `text[start:end]` make it a fall."""
    window = text[max(0, start - _WINDOW) : start]
    if window[-1:].isspace() and window[-2:-1].isalpha() and _EN_DOWN_BEFORE.search(window):
        return True
    if not window.isascii():
        match = _ZH_DOWN_BEFORE.search(window)
        if match is not None and not (match.group(1) and _SMALLER_FALL.search(window[: match.start()])):
            return True
    return _DOWN_AFTER.match(text, end) is not None


_LIST = re.compile(r"\s?(?:[、，,]|和|及|与|,?\s?and)\s?")


def shares_sign(text: str, end: int, start: int) -> bool:
    """Tell whether a figure at `start` goes on a list that a word governs as a whole: 分别下降5.2%和3.1%."""
    if start - end > 8 or _LIST.fullmatch(text, end, start) is None:
        return False
    return "分别" in text[max(0, end - _WINDOW) : end] or "respectively" in text[start : start + _WINDOW]
