"""Chinese names in forms, minutes and papers of courts: behind a label and a colon, or before `,男,`.

A form's label is known by what it ends with (…人, …员, …长, 审核, 抄送 …), whatever stands before, set wide
(姓 名:) or with a remark in parentheses (甲方代表(签字):). In return the name must fill its cell: nothing Chinese
follows it. Several names may be listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.fold import MASK
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.surnames_zh import DOUBLE, GIVEN, NO_NAME, SINGLE, WEAK

_HAN = "\u4e00-\u9fff"
# Read backwards from the colon: a remark, a second label behind a stroke, then the label, tight or set wide.
_REMARK = rf" ?(?:\)[^()\n]{{1,8}}\( ?)?(?:[{_HAN}]{{2,4}}/)?"
_TIGHT = re.compile(rf"{_REMARK}([{_HAN}]{{1,12}})")
_WIDE = re.compile(rf"{_REMARK}([{_HAN}](?: {{1,4}}[{_HAN}](?![{_HAN}])){{1,8}})")
_ENDS = (
    "人 员 师 者 代表 经理 总监 主任 律师 法官 同志 局长 处长 科长 部长 院长 校长 行长 董事长 审判长 队长 组长"
    " 班长 船长 机长 护士长 会长 秘书长 站长 所长 店长 厂长 家长 村长 镇长 市长 社长 军长 连长 股东 出租方 承租方"
    " 转让方 受让方 委托方 受托方 借款方 出借方 买方 卖方 甲方 乙方 丙方 原告 被告 患者 学生 司机 房东 租客 房主"
    " 户主 业主 护士 医生 教授 导师 教练 董事 监事 主席 书记 秘书 会计 出纳 保安 编辑 主编 责编 作者 译者 嘉宾"
    " 主讲 姓名 户名 全名 真名 曾用名 记录 主持 出席 列席 参会 与会 缺席 请假 抄送 主送 致 复核 审核 制表 制单"
    " 校对 批准 审定 审批 经办 起草 拟稿 签发 签收 签名 签字 撰稿 摄影 主管 成员"
)
_LABEL_ENDS = tuple(_ENDS.split())
_CELL = re.compile(
    rf"\s{{0,3}}(?:[{_HAN}]{{2,8}}(?:部|处|科|室|局|办|组|中心|公司|支行|分行) ?(?=[{_HAN}]{{2,4}}(?![{_HAN}])))?"
)
_RUN = re.compile(rf"[{_HAN}]+")
_KNOWN = re.compile(rf"{re.escape(MASK)}{{2,40}}(?:先生|女士|小姐|同志|老师|教授|博士)?")
_BETWEEN = re.compile(r" ?[、,;/] ?| {1,3}")
_SEX = re.compile(r"[男女](?=[,);、。])")
_NOT_GIVEN = frozenset("副的了是在我你他她它们这那不每某各")
_NO_PERSON_WORDS = (
    "应到 实到 全体 全员 时任 连续 和解 查无 方可 单位 管委 党组 万方 成员 安保 文印 车队 计财 盛夏 都有 均可"
    " 均为 路人 明示 柜台 贺卡 贺词 和谐 相关 关联方 全行 全院 全校 全司 全公司 施工方 监理 方案一 温馨"
)
_NO_PERSON = frozenset(_NO_PERSON_WORDS.split())
_MOST = 20


def find_names_in_forms(text: str) -> Iterator[SecretFound]:
    """Yield the names of a folded text; the span is the name alone."""
    if text.isascii():
        return
    spans: set[tuple[int, int]] = set()
    colon = text.find(":")
    while colon > 0:
        if names_a_person(text, colon):
            spans.update(_listed(text, colon + 1))
        colon = text.find(":", colon + 1)
    for sex in _SEX.finditer(text):
        start = _name_before(text, sex.start())
        if start is not None:
            spans.add((start, _bare_end(text, sex.start())))
    for start, end in sorted(spans):
        yield SecretFound("person", text[start:end], start, end, confidence=0.8)


def names_a_person(text: str, colon: int) -> bool:
    """Tell whether the label before a colon is that of a person."""
    before = text[colon - 1]
    if not (before in " )" or _is_han(before)):
        return False
    turned = text[max(0, colon - 40) : colon][::-1]
    return any(
        found is not None and found[1].replace(" ", "")[::-1].endswith(_LABEL_ENDS)
        for found in (_TIGHT.match(turned), _WIDE.match(turned))
    )


def _listed(text: str, at: int) -> Iterator[tuple[int, int]]:
    cell = _CELL.match(text, at)
    at = cell.end() if cell else at
    for _ in range(_MOST):
        if known := _KNOWN.match(text, at):  # found before, and hidden from here
            gap = _BETWEEN.match(text, known.end())
            if gap is None:
                return
            at = gap.end()
            continue
        run = _RUN.match(text, at)
        if run is None or not is_form_name(run.group()) or _goes_on(text[run.end() : run.end() + 2]):
            return
        yield run.span()
        gap = _BETWEEN.match(text, run.end())
        if gap is None:
            return
        at = gap.end()


def _goes_on(after: str) -> bool:
    """Tell whether what seems a name is the next label, or the word before a figure."""
    return after.lstrip()[:1] == ":" or after[:1].isdigit()


def _bare_end(text: str, at: int) -> int:
    """Return where the name before `,男` ends."""
    end = at
    while end > 0 and text[end - 1] in " ,(、;":
        end -= 1
    return end


def _name_before(text: str, at: int) -> int | None:
    end = _bare_end(text, at)
    if not 1 <= at - end <= 2:
        return None
    for length in (4, 3, 2):
        start = end - length
        name = text[max(0, start) : end]
        if start >= 0 and all(map(_is_han, name)) and is_form_name(name):
            return start
    return None


def is_form_name(name: str) -> bool:
    """Tell whether what fills a cell of names may be a Chinese name."""
    surname = 2 if name[:2] in DOUBLE else 1
    given = name[surname:]
    if not 1 <= len(given) <= 2 or (surname == 1 and name[0] not in SINGLE):
        return False
    if name in NO_NAME or name[:2] in NO_NAME or name in _NO_PERSON or name[:2] in _NO_PERSON:
        return False
    if surname == 1 and name[0] in WEAK and not all(c in GIVEN for c in given):
        return False
    return not any(c in _NOT_GIVEN for c in given)


def _is_han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"
