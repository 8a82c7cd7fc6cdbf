"""Chinese names that an honorific or a role makes sure: 张伟先生, 客户经理李娜, 联系人:王小明.

A surname alone (李女士, 王总) is none. Whether a name has one or two characters behind the surname is decided by what
follows: the end of the Chinese, a word that goes on with the sentence (表示, 在, 和 …), else by the characters that
names are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.roles_zh import LABELS, OFFICES, PLAIN_HONORIFICS, ROLES, TITLES
from retrieval.symbols.secrets.surnames_zh import DOUBLE, FUNCTION, GIVEN, NO_NAME, SINGLE, WEAK
from retrieval.symbols.words import Words

# 先生们, 主任办公室, 教授级, 博士后 …: more than one person, or no person.
_NO_HONORIFIC = re.compile("们|助理|办公|室|级|人|部|会|层|负责制|事务|后(?=[^来])|生|学|录")

_WORDS = Words([*PLAIN_HONORIFICS, *TITLES, *LABELS, *ROLES])
# Between a label and its name. A label needs one of these; a role does not.
_LINK = re.compile(r"(?:\s?(?:[:]|为|是|\|)\s{0,2}|\s{1,2})")
_FOLLOW = re.compile(
    r"表示|认为|指出|介绍|强调|透露|告诉|宣布|出席|主持|签署|签字|签名|代表|先生|女士|小姐|同志|老师|接受|带领"
    r"|前往|作为|作了|发表|担任|任职|负责|确认|联系|办理|提交|提出"
    r"|申请|致辞|讲话|回复|反馈|来电|电话|手机|身份证|邮箱|地址|住址|年龄|性别|出生|工号|岁|现年|今年|昨天|今天"
    r"|日前|近日|目前|本人|本次|其中|以及|通过|进行|收到|要求|建议|希望"
    r"|应当|须|需|可|能|会|不|未|没|已|曾|将|正|还|也|都|就|又|再|则|便|均|共|各|其|该|此|这|那|的|地|得|了|着|过"
    r"|说|称|道|问|答|讲|在|于|从|到|向|对|给|为|被|把|让|请|由|跟"
    r"|同(?!志)|和|与|及|等|并|或|而|且|因|以|之(?=前|后|间)|是|有|持|购|买|卖|投|存|取|转|汇|借|还|开户|开立|打"
    r"|直接|间接|减持|增持|宣读|查房|当庭|当场|出庭|到庭|作证|陈述|上门|在场|到场|配合|合作|辞去|辞职|离职|入职|签订"
    r"|报警|驾驶|受伤|住院|入院|拟|承担|支付|承诺|同意|不服|辩称|诉称|领取|报道|拍摄"
    r"|发送|管理|主管|分管|牵头|起草|询问|咨询|投诉|预约|参加|参与|完成|签收|核对|审批|审核|处理|跟进|陪同|核实"
)
_ORGANISATION = re.compile(
    r"[\u4e00-\u9fff()]{2,24}?(?:公司|集团|银行|中心|有限|分局|学院|大学|合伙|基金|委员会|医院|协会|事务所|工作室"
    r"|商行|厂|店|部|处|局)"
)
_NOT_GIVEN = frozenset(
    "副的了是在与及我你他她它们这那不也就都要会能被把将从对向于而或且但则其所个每各某此说称等已曾何吗呢吧啊"
)
_LEAD = re.compile(
    r"(?:[的和与及由是请向对给让叫致找为在据经约见了兼]|感谢|多谢|邀请|欢迎|尊敬的|客户|用户|储户|会员|股东|顾客"
    r"|访客|嘉宾|业主|旅客|患者|邻居|经理|主任|董事|监事|会计|委员|员工|职员|讲师|主持人|负责人|创始人|合伙人)\Z"
)
_MAX_LISTED = 12


def find_chinese_names(text: str) -> Iterator[SecretFound]:
    """Yield the names of a folded text; the span is the name alone."""
    if text.isascii():
        return
    spans: set[tuple[int, int]] = set()
    for word, start, end in _WORDS.find(text):
        if word in LABELS or word in ROLES:
            spans.update(_after(text, word, end))
        if word not in LABELS and not _NO_HONORIFIC.match(text, end):
            spans.update(_before(text, word, start))
        if (
            text[start - 1 : start] == "("
            and (name := _name_before(text, start - 1, is_plain=False, is_sure=True)) is not None
        ):
            spans.add((name, start - 1))
    taken = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= taken:
            taken = end
            yield SecretFound("person", text[start:end].replace(" ", ""), start, end, confidence=0.8)


def _before(text: str, word: str, at: int) -> Iterator[tuple[int, int]]:
    if word not in PLAIN_HONORIFICS and word not in TITLES and word not in OFFICES:
        return
    end = at
    if word in OFFICES and text[end - 1 : end] == "副":
        end -= 1
    if text[end - 1 : end] == " ":
        end -= 1
    start = _name_before(text, end, is_plain=word in PLAIN_HONORIFICS)
    if start is not None:
        yield start, end


def _name_before(text: str, end: int, *, is_plain: bool, is_sure: bool = False) -> int | None:
    """Return where the name that ends at `end` begins; None where no name does.

    Args:
        text: The folded text.
        end: Where the name would end.
        is_plain: An honorific follows that stands behind names only.
        is_sure: Take a name only where nothing or a word such as 和 stands before it.
    """
    for length in (4, 3):
        if (
            text[end - length : end - length + 2] in DOUBLE
            and end >= length
            and _is_given(text[end - length + 2 : end])
        ):
            return end - length
    fallback: int | None = None
    for length in (3, 2):
        start = end - length
        if start < 0 or not _may_be_name(text[start:end]):
            continue
        if length == 3 and text[start] in FUNCTION and _may_be_name(text[start + 1 : end]):
            return start + 1
        before = text[max(0, start - 3) : start]
        if text[start] in FUNCTION and before and _is_han(before[-1]):
            continue
        if not before or not _is_han(before[-1]) or _LEAD.search(before):
            return start
        looks_given = length == 3 and all(c in GIVEN for c in text[start + 1 : end])
        if fallback is None and text[start] not in WEAK and (is_plain or looks_given):
            fallback = start
    return None if is_sure else fallback


def _after(text: str, word: str, at: int) -> Iterator[tuple[int, int]]:
    is_label = word in LABELS and word not in ROLES
    link = _LINK.match(text, at)
    if is_label and link is None and word[-1] != "人":
        return
    start = link.end() if link else at
    is_sure = link is not None and (word in LABELS or ":" in link.group())
    for _ in range(_MAX_LISTED):
        end = _name_end(text, start, is_sure=is_sure)
        if end is None:
            return
        yield start, end
        if text[end : end + 1] != "、":
            return
        start = end + 1


def _name_end(text: str, start: int, *, is_sure: bool) -> int | None:
    """Return where the name that begins at `start` ends; None where no name does.

    Args:
        text: The folded text.
        start: Where the name would begin.
        is_sure: A label and a colon stand before it.
    """
    surname = 2 if text[start : start + 2] in DOUBLE else 1
    if surname == 1 and text[start : start + 1] not in SINGLE:
        return None
    is_weak = not is_sure and text[start] in WEAK
    if is_weak and text[start] in FUNCTION and text[start] != "于":
        return None
    spaced = start + 1 if surname == 1 and text[start + 1 : start + 2] == " " and is_sure else None
    if spaced is not None:  # 张 伟: set wide in a form
        end = spaced + 2
        return end if _is_given(text[spaced + 1 : end]) and not _is_han(text[end : end + 1]) else None
    run = surname
    while run < surname + 3 and _is_han(text[start + run : start + run + 1]):
        run += 1
    if is_weak and not (run >= 3 and text[start + 1] in GIVEN and text[start + 2] in GIVEN):
        return None
    for given in (2,) if is_weak else (1, 2):
        end = start + surname + given
        if run == surname + given:  # the Chinese ends here
            if given == 2 and text[end - 1] not in GIVEN and _FOLLOW.match(text, end - 1):
                end -= 1
            looks_given = is_sure or any(c in GIVEN for c in text[start + surname : end])
            return end if looks_given and _is_name(text[start:end], surname) else None
        if run > surname + given and _FOLLOW.match(text, end) and (given == 2 or not _is_long(text, end)):
            return end if _is_name(text[start:end], surname) else None
    if run <= surname or is_weak:
        return None
    if _ORGANISATION.match(text, start):
        return None
    end = start + surname + 1 + (text[start + surname + 1] in GIVEN)
    name = text[start:end]
    if not is_sure and not all(c in GIVEN for c in name[surname:]):
        return None
    return end if _is_name(name, surname) else None


def _is_long(text: str, end: int) -> bool:
    """Tell whether the word that seems to go on at `end` is the last character of a name: 李建和表示."""
    return text[end] in GIVEN and _FOLLOW.match(text, end + 1) is not None


def _is_name(name: str, surname: int) -> bool:
    return _is_given(name[surname:]) and name not in NO_NAME and name[:2] not in NO_NAME and name not in DOUBLE


def _may_be_name(name: str) -> bool:
    return name[0] in SINGLE and _is_name(name, 1)


def _is_given(given: str) -> bool:
    if given in DOUBLE or given in ROLES or given in TITLES:  # 感谢欧阳老师, 杨校长
        return False
    return 1 <= len(given) <= 2 and all(_is_han(c) and c not in _NOT_GIVEN for c in given)


def _is_han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"
