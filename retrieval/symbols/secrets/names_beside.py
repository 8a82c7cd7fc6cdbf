"""Names that their place makes sure: in a column of names, after 尊敬的, before 的手机 or a hidden number in brackets.

Names with · (买买提·艾力) are read here too, behind a label or before an honorific.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.fold import MASK
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.names_en import FULL, english_name_end
from retrieval.symbols.secrets.names_form_zh import is_form_name, names_a_person
from retrieval.symbols.secrets.roles_zh import PLAIN_HONORIFICS, ROLES, TITLES
from retrieval.symbols.secrets.surnames_zh import GIVEN

_HAN = "\u4e00-\u9fff"
_CHINESE_HEADING = re.compile(
    r"(?:客户|员工|联系人|持卡人|申请人|借款人|投保人|被保险人|学生|患者|会员|股东|负责人|经办人)?姓名|联系人|收件人|持卡人"
)
_ENGLISH_HEADING = re.compile(r"(?:(?:Full|Customer|Client|Employee|Contact) )?[Nn]ame|NAME")
# A column of names beside one of these is one of persons; without, it may be one of funds or firms.
_PERSONAL = re.compile(
    r"phone|mobile|tel|e-?mail|age|gender|sex|position|job|department|birth|address|passport|ssn|id card|手机|电话",
    re.I,
)
_LONGEST_ROW = 2_000
_LONGEST_CELL = 40
_RULE = re.compile(r"[|:\s-]+")

_GREETED = re.compile(rf"尊敬的([{_HAN}]{{2,4}})(?=[:,!]|\n|\Z)")
_NO_GIVEN_END = tuple("总工董局处科行所")
_OWNED = re.compile(r"的(?:手机|电话|身份证|邮箱|住址|家庭住址|银行卡|护照|账[户号]|卡号)")
_OWNER = re.compile(rf"(?:客户|用户|储户|会员|股东|顾客|患者|业主|员工|投诉人|申请人|借款人|持卡人)([{_HAN}]{{2,4}})\Z")
_BEFORE_BRACKET = re.compile(rf"\({MASK}++\)")
_FREE = re.compile(rf"(?<![{_HAN}\w])([{_HAN}]{{2,4}})\Z")
_DOTS = "·•・‧"
_DOT = re.compile(rf"[{_DOTS}](?=[{_HAN}])")
_DOTTED = re.compile(rf"[{_HAN}]{{1,10}}(?:[{_DOTS}][{_HAN}]{{1,10}}){{1,4}}")
_BACK_FROM_DOT = re.compile(rf"[{_HAN}]{{1,10}}(?![{_HAN}])")
_REACH = 12


def find_names_beside(text: str) -> Iterator[SecretFound]:
    """Yield the names of a folded text in which numbers are masked; the span is the name alone."""
    spans: set[tuple[int, int]] = set()
    if "姓名" in text or "人" in text or "ame" in text or "NAME" in text:
        spans.update(_in_columns(text))
    if not text.isascii():
        if "尊敬的" in text:
            spans.update(m.span(1) for m in _GREETED.finditer(text) if _is_greeted(m.group(1)))
        spans.update(_owners(text))
        spans.update(_before_brackets(text))
        spans.update(_dotted(text))
    taken = 0
    for start, end in sorted(spans):
        if start >= taken:
            taken = end
            yield SecretFound("person", " ".join(text[start:end].split()), start, end, confidence=0.8)


def _in_columns(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_CHINESE_HEADING, _ENGLISH_HEADING):
        done = 0
        for word in pattern.finditer(text):
            separator = _separator(text, word) if word.start() >= done else None
            if separator is None:
                continue
            line = text.rfind("\n", max(0, word.start() - _LONGEST_ROW), word.start()) + 1
            end = _line_end(text, word.end())
            if end - line > _LONGEST_ROW:
                continue
            if pattern is _ENGLISH_HEADING and _PERSONAL.search(text, line, end) is None:
                continue
            column = text.count(separator, line, word.start())
            done = end
            for start, stop, row_end in _cells(text, end, separator, column):
                done = row_end
                name_end = _cell_name_end(text, start, stop)
                if name_end is not None:
                    yield start, name_end


def _separator(text: str, word: re.Match[str]) -> str | None:
    """Return what sets the cells of the row apart; None where the word does not fill its cell."""
    before = text[max(0, word.start() - 3) : word.start()].rstrip(' "')[-1:]
    after = text[word.end() : word.end() + 3].lstrip(' "')[:1]
    for separator in "|,\t;":
        if separator in (before, after) and {before, after} <= {separator, "\n", "", "\r"}:
            return separator
    return None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at, at + _LONGEST_ROW)
    return end if end >= 0 else min(len(text), at + _LONGEST_ROW)


def _cells(text: str, at: int, separator: str, column: int) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, end of the row) of the cells of a column in the rows that follow."""
    while at < len(text) and text[at] == "\n":
        line, at = at + 1, _line_end(text, at + 1)
        row = text[line:at]
        if separator not in row:
            return
        if _RULE.fullmatch(row):
            continue
        cells = row.split(separator)
        if len(cells) > column:
            start = line + sum(map(len, cells[:column])) + column
            cell = cells[column]
            start += len(cell) - len(cell.lstrip(' "'))
            yield start, start + len(cell.strip(' "')), at


def _cell_name_end(text: str, start: int, end: int) -> int | None:
    cell = text[start:end]
    if not 2 <= len(cell) <= _LONGEST_CELL:
        return None
    if is_form_name(cell) or _DOTTED.fullmatch(cell):
        return end
    if cell.isascii() or cell[0].isupper():
        whole = re.fullmatch(FULL, cell)
        return end if whole and english_name_end(text, start, end, 2) == end else None
    return None


def _is_greeted(name: str) -> bool:
    return is_form_name(name) and not name.endswith(_NO_GIVEN_END) and name[1:] not in {*ROLES, *TITLES}


def _owners(text: str) -> Iterator[tuple[int, int]]:
    for owned in _OWNED.finditer(text):
        owner = _OWNER.search(text, max(0, owned.start() - _REACH), owned.start())
        if owner is not None and _is_greeted(owner.group(1)):
            yield owner.span(1)


def _before_brackets(text: str) -> Iterator[tuple[int, int]]:
    for bracket in _BEFORE_BRACKET.finditer(text):
        name = _FREE.search(text[max(0, bracket.start() - _REACH) : bracket.start()])
        if name and _is_greeted(name.group(1)) and all(c in GIVEN for c in name.group(1)[1:]):
            yield bracket.start() - len(name.group(1)), bracket.start()


def _dotted(text: str) -> Iterator[tuple[int, int]]:
    done = 0
    for dot in _DOT.finditer(text) if any(dot in text for dot in _DOTS) else ():
        at = dot.start()
        back = _BACK_FROM_DOT.match(text[max(0, at - 11) : at][::-1]) if at >= done else None
        name = _DOTTED.match(text, at - back.end()) if back else None
        if name is None:
            continue
        start, end = name.span()
        done = end
        colon = start - 1 if text[start - 1 : start] != " " else start - 2
        if colon > 0 and text[colon] == ":" and names_a_person(text, colon):
            yield start, end
            continue
        for honorific in PLAIN_HONORIFICS:
            if text.startswith(honorific, end) or text[start:end].endswith(honorific):
                yield start, end - (0 if text.startswith(honorific, end) else len(honorific))
                break
