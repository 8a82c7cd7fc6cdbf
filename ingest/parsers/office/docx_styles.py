"""What a paragraph's style and properties say: heading level, caption, list."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from docx.oxml.ns import qn

from ingest.parsers.office.docx_text import Element

_HEADING_NAME = re.compile(
    r"(?:heading|标题|標題|überschrift|titre|título|titolo|заголовок|見出し|제목)\s*([1-9])$", re.I
)
_TITLE_NAMES = frozenset({"title", "标题", "標題", "文档标题"})
_CAPTION_NAMES = frozenset({"caption", "题注", "題注", "图表标题"})
_MAX_CHAIN = 20


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    based_on: str
    outline: int | None
    number: tuple[str, int] | None
    bold: bool


@dataclass
class Styles:
    """Looks up inherited properties; style chains that loop end after twenty steps."""

    _styles: dict[str, _Style] = field(default_factory=dict[str, _Style])
    _default: str = ""

    @classmethod
    def of(cls, root: Element | None) -> Styles:
        """Read `styles.xml`; without one nothing is known of any style."""
        styles = cls()
        for element in () if root is None else root.iterchildren(qn("w:style")):
            style_id = str(element.get(qn("w:styleId")) or "")
            styles._styles[style_id] = _style(element)
            if element.get(qn("w:default")) in ("1", "true") and element.get(qn("w:type")) == "paragraph":
                styles._default = style_id
        return styles

    def heading_level(self, paragraph: Element) -> int:
        """Return 1 to 6 for headings by outline level or style name (`Heading 2`, `标题 2`), else 0."""
        own = _outline(paragraph.find(qn("w:pPr")))
        if own is not None:
            return min(own + 1, 6) if own < 9 else 0
        for style in self._chain(paragraph):
            match = _HEADING_NAME.match(style.name)
            if match is not None:
                return min(int(match.group(1)), 6)
            if style.outline is not None:
                return min(style.outline + 1, 6) if style.outline < 9 else 0
        return 0

    def is_title(self, paragraph: Element) -> bool:
        """Tell whether the paragraph is the document's title by style."""
        return any(style.name.lower() in _TITLE_NAMES for style in self._chain(paragraph))

    def is_caption(self, paragraph: Element) -> bool:
        """Tell whether the paragraph is a caption by style."""
        return any(style.name.lower() in _CAPTION_NAMES for style in self._chain(paragraph))

    def is_bold(self, paragraph: Element) -> bool:
        """Tell whether every run with text is bold."""
        runs = [
            run for run in paragraph.iter(qn("w:r")) if any((text.text or "").strip() for text in run.iter(qn("w:t")))
        ]
        inherited = any(style.bold for style in self._chain(paragraph))
        return bool(runs) and all(_bold(run.find(qn("w:rPr")), inherited) for run in runs)

    def number(self, paragraph: Element) -> tuple[str, int] | None:
        """Return list id and level, None outside lists; `numId` 0 takes a paragraph out of its style's list."""
        own = _number(paragraph.find(qn("w:pPr")))
        found = own or next((style.number for style in self._chain(paragraph) if style.number is not None), None)
        return None if found is None or found[0] in ("0", "") else found

    def _chain(self, paragraph: Element) -> list[_Style]:
        properties = paragraph.find(qn("w:pPr"))
        reference = None if properties is None else properties.find(qn("w:pStyle"))
        style_id = self._default if reference is None else str(reference.get(qn("w:val")))
        chain: list[_Style] = []
        while style_id in self._styles and len(chain) < _MAX_CHAIN:
            chain.append(self._styles[style_id])
            style_id = chain[-1].based_on
        return chain


def _style(element: Element) -> _Style:
    name, base = element.find(qn("w:name")), element.find(qn("w:basedOn"))
    properties = element.find(qn("w:pPr"))
    return _Style(
        name="" if name is None else str(name.get(qn("w:val")) or "").strip(),
        based_on="" if base is None else str(base.get(qn("w:val")) or ""),
        outline=_outline(properties),
        number=_number(properties),
        bold=_bold(element.find(qn("w:rPr")), False),
    )


def _outline(properties: Element | None) -> int | None:
    element = None if properties is None else properties.find(qn("w:outlineLvl"))
    value = "" if element is None else str(element.get(qn("w:val")) or "")
    return int(value) if value.isdigit() else None


def _number(properties: Element | None) -> tuple[str, int] | None:
    element = None if properties is None else properties.find(qn("w:numPr"))
    if element is None:
        return None
    number, level = element.find(qn("w:numId")), element.find(qn("w:ilvl"))
    if number is None:
        return None
    index = "0" if level is None else str(level.get(qn("w:val")) or "0")
    return str(number.get(qn("w:val")) or ""), int(index) if index.isdigit() else 0


def _bold(properties: Element | None, inherited: bool) -> bool:
    element = None if properties is None else properties.find(qn("w:b"))
    return inherited if element is None else element.get(qn("w:val")) not in ("0", "false", "off")
