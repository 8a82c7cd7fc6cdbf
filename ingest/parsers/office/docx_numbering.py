"""The numbers Word computes: `1.2`, `第三条`, `（一）`, bullets.

They are not in the paragraphs' text, and a reader who asks for 第三条 means
exactly such a number. Counters follow ECMA-376 part 1, 17.9.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from docx.oxml.ns import qn

from ingest.parsers.office.docx_text import Element

_DIGITS = "零一二三四五六七八九"
_LEGAL = "零壹贰叁肆伍陆柒捌玖"
_CJK_FORMATS = frozenset({
    "chineseCounting",
    "chineseCountingThousand",
    "taiwaneseCounting",
    "taiwaneseCountingThousand",
    "japaneseCounting",
    "ideographDigital",
    "ideographTraditional",
})


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    format: str
    pattern: str
    legal: bool = False
    """All numbers of the pattern are Arabic, whatever the outer levels are written in (`w:isLgl`)."""
    restarts: bool = True


@dataclass
class Numbering:
    """Counts list levels as the document is read; one instance per document, paragraphs in order."""

    _levels: dict[str, dict[int, _Level]] = field(default_factory=dict[str, dict[int, _Level]])
    """Levels by abstract list."""
    _lists: dict[str, _List] = field(default_factory=dict[str, "_List"])
    _counters: dict[str, dict[int, int]] = field(default_factory=dict[str, dict[int, int]])
    """Counters by abstract list: lists that share one go on counting."""

    @classmethod
    def of(cls, root: Element | None) -> Numbering:
        """Read `numbering.xml`; without one every list is a bullet list."""
        numbering = cls()
        if root is None:
            return numbering
        styled: dict[str, str] = {}
        linked: dict[str, str] = {}
        for abstract in root.iterchildren(qn("w:abstractNum")):
            abstract_id = str(abstract.get(qn("w:abstractNumId")))
            numbering._levels[abstract_id] = dict(map(_level, abstract.iterchildren(qn("w:lvl"))))
            styled[_value(abstract, "w:styleLink", "")] = abstract_id
            linked[abstract_id] = _value(abstract, "w:numStyleLink", "")
        for number in root.iterchildren(qn("w:num")):
            abstract_id = _value(number, "w:abstractNumId", "")
            # A list that only names a list style counts as the one that defines it.
            found = _List(styled.get(linked.get(abstract_id) or "?", abstract_id))
            for override in number.iterchildren(qn("w:lvlOverride")):
                index = _integer(override.get(qn("w:ilvl")), 0)
                start = override.find(qn("w:startOverride"))
                if start is not None:
                    found.restarts[index] = _integer(start.get(qn("w:val")), 1)
                for level in override.iterchildren(qn("w:lvl")):
                    found.levels[index] = _level(level)[1]
            numbering._lists[str(number.get(qn("w:numId")))] = found
        return numbering

    def next(self, number_id: str, level_index: int) -> str:
        """Count one paragraph and return its marker, e.g. `1.2`, `（一）`; `-` for bullets."""
        found = self._lists.get(number_id, _List(""))
        levels = {**self._levels.get(found.abstract_id, {}), **found.levels}
        level = levels.get(level_index)
        if level is None or level.format in ("bullet", "none") or not level.pattern:
            return "" if level is not None and level.format == "none" else "-"
        counters = self._counters.setdefault(found.abstract_id, {})
        restart = found.restarts.pop(level_index, None)
        before = level.start - 1 if restart is None else restart - 1
        counters[level_index] = (counters.get(level_index, before) if restart is None else before) + 1
        for deeper in [index for index in counters if index > level_index]:
            if deeper not in levels or levels[deeper].restarts:
                del counters[deeper]

        def value(match: re.Match[str]) -> str:
            index = int(match.group(1)) - 1
            outer = levels.get(index, level)
            format = "decimal" if level.legal and outer.format != "decimalZero" else outer.format
            return format_number(counters.get(index, outer.start), format)

        return re.sub(r"%(\d)", value, level.pattern).strip()


@dataclass
class _List:
    """One `w:num`: the abstract list it counts in, and what it says otherwise."""

    abstract_id: str
    levels: dict[int, _Level] = field(default_factory=dict[int, _Level])
    restarts: dict[int, int] = field(default_factory=dict[int, int])
    """Level → number it begins anew with; taken out when that happened, because it happens once."""


def _value(element: Element, name: str, default: str) -> str:
    child = element.find(qn(name))
    return default if child is None else str(child.get(qn("w:val")) or default)


def _integer(text: object, default: int) -> int:
    return int(str(text)) if str(text).isdigit() and len(str(text)) < 8 else default


def _level(element: Element) -> tuple[int, _Level]:
    legal = element.find(qn("w:isLgl"))
    level = _Level(
        start=_integer(_value(element, "w:start", "1"), 1),
        format=_value(element, "w:numFmt", "decimal"),
        pattern=_value(element, "w:lvlText", ""),
        legal=legal is not None and legal.get(qn("w:val")) not in ("0", "false", "off"),
        restarts=_value(element, "w:lvlRestart", "") != "0",
    )
    return _integer(element.get(qn("w:ilvl")), 0), level


def format_number(number: int, format: str) -> str:
    """Return a number in one of the formats of ECMA-376 part 1, 17.18.59; unknown ones are Arabic."""
    if format in _CJK_FORMATS:
        return chinese_numeral(number, _DIGITS)
    match format:
        case "chineseLegalSimplified":
            return chinese_numeral(number, _LEGAL)
        case "upperLetter" | "lowerLetter":
            letter = chr(ord("A") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            return letter if format == "upperLetter" else letter.lower()
        case "upperRoman" | "lowerRoman":
            roman = _roman(number)
            return roman if format == "upperRoman" else roman.lower()
        case "decimalZero":
            return f"{number:02d}"
        case "decimalEnclosedCircle" | "decimalEnclosedCircleChinese":
            return chr(0x245F + number) if 1 <= number <= 20 else str(number)
        case _:
            return str(number)


def chinese_numeral(number: int, digits: str = _DIGITS) -> str:
    """Return a numeral up to 999 in Chinese (`二十一`); larger ones stay Arabic."""
    if not 0 < number < 1000:
        return str(number)
    ten, hundred = ("十", "百") if digits == _DIGITS else ("拾", "佰")
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    text = digits[hundreds] + hundred if hundreds else ""
    if tens:
        text += (digits[tens] if tens > 1 or hundreds else "") + ten
    elif hundreds and ones:
        text += digits[0]
    return text + (digits[ones] if ones else "")


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    text = ""
    for value, letters in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        count, number = divmod(number, value)
        text += letters * count
    return text
