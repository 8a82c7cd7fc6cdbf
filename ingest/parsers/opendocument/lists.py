"""The numbers of OpenDocument lists and headings, counted as the document is read."""

from __future__ import annotations

from ingest.parsers.office.docx_numbering import format_number
from ingest.parsers.office.drawing_text import Element
from ingest.parsers.opendocument.package import OdfStyles, odf, whole

_FORMATS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_CJK_FORMATS = (("一", "chineseCounting"), ("壹", "chineseLegalSimplified"), ("①", "decimalEnclosedCircle"))
_NUMBERS = (odf("text:list-level-style-number"), odf("text:outline-level-style"))
MAX_LEVEL = 9

Counters = dict[int, int]


class OdfNumbers:
    """Counts one document's lists; a list counts on where it says that it continues another."""

    def __init__(self, styles: OdfStyles) -> None:
        """Take the styles, which say how each level is written."""
        self._styles = styles
        self._by_id: dict[str, Counters] = {}
        self._by_style: dict[str, Counters] = {}
        self._headings: Counters = {}

    def open(self, element: Element) -> Counters:
        """Return the counters of an outermost list."""
        style = str(element.get(odf("text:style-name")) or "")
        continued = self._by_id.get(str(element.get(odf("text:continue-list")) or ""))
        if continued is None and element.get(odf("text:continue-numbering")) == "true":
            continued = self._by_style.get(style)
        counters = {} if continued is None else continued
        self._by_style[style] = counters
        list_id = str(element.get(odf("xml:id")) or "")
        if list_id:
            self._by_id[list_id] = counters
        return counters

    def item(self, counters: Counters, style: str | None, level: int, start: object = None) -> str:
        """Count one item and return its marker; `-` for bullets and lists without a style."""
        root = self._styles.list_style(style)
        return "-" if root is None else _count(root, counters, level, start)

    def heading(self, heading: Element, level: int) -> str:
        """Count one heading outside lists and return its number; empty where headings have none."""
        if self._styles.outline is None or heading.get(odf("text:is-list-header")) == "true":
            return ""
        if heading.get(odf("text:restart-numbering")) == "true":
            self._headings.pop(level, None)
        marker = _count(self._styles.outline, self._headings, level, heading.get(odf("text:start-value")))
        return "" if marker == "-" else marker


def _count(root: Element, counters: Counters, level: int, start: object) -> str:
    levels = {whole(one.get(odf("text:level")), 0, MAX_LEVEL + 1): one for one in root if isinstance(one.tag, str)}
    style = levels.get(level)
    if style is None or style.tag not in _NUMBERS:
        return "-"
    first = whole(style.get(odf("text:start-value")), 1, 99_999)
    counters[level] = whole(start, counters.get(level, first - 1) + 1, 99_999)
    for deeper in [one for one in counters if one > level]:
        del counters[deeper]
    if not style.get(odf("style:num-format")):
        return ""
    shown = whole(style.get(odf("text:display-levels")), 1, MAX_LEVEL + 1)
    numbers = [
        _number(levels[one], counters.get(one, whole(levels[one].get(odf("text:start-value")), 1, 99_999)))
        for one in range(max(1, level - shown + 1), level + 1)
        if one in levels
    ]
    prefix, suffix = style.get(odf("style:num-prefix")) or "", style.get(odf("style:num-suffix")) or ""
    return f"{prefix}{'.'.join(filter(None, numbers))}{suffix}".strip()


def _number(style: Element, count: int) -> str:
    code = str(style.get(odf("style:num-format")) or "")
    if not code:
        return ""
    cjk = next((name for start, name in _CJK_FORMATS if code.startswith(start)), "decimal")
    return format_number(count, _FORMATS.get(code, cjk))
