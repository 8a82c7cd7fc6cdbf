"""The numbers Word computes: `1.2`, `第三条`, `（一）`, bullets.

They are not in the paragraphs' text, and a reader who asks for 第三条 means
exactly such a number. Counters follow ECMA-376 part 1, 17.9.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from docx.oxml.ns import qn

from ingest.parsers.docx_text import Element

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


@dataclass
class Numbering:
    """Counts list levels as the document is read; one instance per document, paragraphs in order."""

    _levels: dict[str, dict[int, _Level]] = field(default_factory=dict[str, dict[int, _Level]])
    _abstract_of: dict[str, str] = field(default_factory=dict[str, str])
    _counters: dict[str, dict[int, int]] = field(default_factory=dict[str, dict[int, int]])

    @classmethod
    def of(cls, root: Element | None) -> Numbering:
        """Read `numbering.xml`; without one every list is a bullet list."""
        numbering = cls()
        if root is None:
            return numbering
        for abstract in root.iterchildren(qn("w:abstractNum")):
            numbering._levels[str(abstract.get(qn("w:abstractNumId")))] = dict(
                map(_level, abstract.iterchildren(qn("w:lvl")))
            )
        for number in root.iterchildren(qn("w:num")):
            abstract = number.find(qn("w:abstractNumId"))
            if abstract is not None:
                numbering._abstract_of[str(number.get(qn("w:numId")))] = str(abstract.get(qn("w:val")))
        return numbering

    def next(self, number_id: str, level_index: int) -> str:
        """Count one paragraph and return its marker, e.g. `1.2`, `（一）`; `-` for bullets."""
        abstract = self._abstract_of.get(number_id, "")
        levels = self._levels.get(abstract, {})
        level = levels.get(level_index)
        if level is None or level.format in ("bullet", "none") or not level.pattern:
            return "" if level is not None and level.format == "none" else "-"
        counters = self._counters.setdefault(abstract, {})
        counters[level_index] = counters.get(level_index, level.start - 1) + 1
        for deeper in [index for index in counters if index > level_index]:
            del counters[deeper]

        def value(match: re.Match[str]) -> str:
            index = int(match.group(1)) - 1
            outer = levels.get(index, level)
            return format_number(counters.get(index, outer.start), outer.format)

        return re.sub(r"%(\d)", value, level.pattern).strip()


def _level(element: Element) -> tuple[int, _Level]:
    def value(name: str, default: str) -> str:
        child = element.find(qn(name))
        return default if child is None else str(child.get(qn("w:val")) or default)

    start = value("w:start", "1")
    index = str(element.get(qn("w:ilvl")) or "0")
    level = _Level(int(start) if start.isdigit() else 1, value("w:numFmt", "decimal"), value("w:lvlText", ""))
    return (int(index) if index.isdigit() else 0), level


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
