"""The readable text of WordprocessingML paragraphs, as Word shows it with all changes accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn

from ingest.parsers.office.math_text import MATH, math_text

Element = Any
"""An lxml element; python-docx gives its own subclasses."""

MC_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_TEXT_BOX = qn("w:txbxContent")
_SKIPPED = frozenset({
    qn("w:del"),
    qn("w:moveFrom"),
    qn("w:pPr"),
    qn("w:rPr"),
    qn("w:instrText"),
    qn("w:delText"),
    qn("w:rt"),
    _TEXT_BOX,
    MC_FALLBACK,
})
_BREAKS = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-", qn("w:softHyphen"): ""}


def descend(root: Element, skipped: frozenset[str] = _SKIPPED) -> Iterator[Element]:
    """Yield the descendants of `root` in document order without entering `skipped` elements. No recursion."""
    stack = list(reversed(list(root)))
    while stack:
        element = stack.pop()
        if not isinstance(element.tag, str) or element.tag in skipped:
            continue
        yield element
        stack.extend(reversed(list(element)))


def paragraph_text(paragraph: Element) -> str:
    """Return a paragraph's text: insertions kept, deletions, field codes and phonetic guides dropped.

    Formulas become linear text, checkboxes `[x]` and `[ ]`.
    """
    parts: list[str] = []
    stack = list(reversed(list(paragraph)))
    while stack:
        element = stack.pop()
        if not isinstance(element.tag, str) or element.tag in _SKIPPED:
            continue
        whole = _whole(element)
        if whole is not None:
            parts.append(whole)
        elif element.tag == qn("w:t"):
            parts.append(element.text or "")
        elif element.tag in _BREAKS:
            # A column or page break is no line break in the text.
            parts.append(" " if element.get(qn("w:type")) in ("page", "column") else _BREAKS[element.tag])
        elif element.tag == qn("w:sym"):
            parts.append(_symbol(element))
        else:
            stack.extend(reversed(list(element)))
    return "\n".join(" ".join(line.split()) for line in "".join(parts).split("\n")).strip()


def _whole(element: Element) -> str | None:
    """Return the text of an element that is read as a whole: a formula, a checkbox; None for others."""
    if element.tag in (f"{MATH}oMath", f"{MATH}oMathPara"):
        following = element.getnext()
        parted = following is not None and following.tag == element.tag
        return math_text(element) + (" " if parted else "")
    if element.tag == qn("w:sdt"):
        checked = element.find(f"{qn('w:sdtPr')}/{_W14}checkbox")
        return None if checked is None else _box(checked.find(f"{_W14}checked"), f"{_W14}val")
    if element.tag == qn("w:checkBox"):
        state = element.find(qn("w:checked"))
        return _box(element.find(qn("w:default")) if state is None else state, qn("w:val")) + " "
    return None


def _box(state: Element | None, attribute: str) -> str:
    return "[ ]" if state is None or state.get(attribute) in ("0", "false", "off") else "[x]"


def text_boxes(paragraph: Element) -> Iterator[Element]:
    """Yield the contents of text boxes anchored in a paragraph, each once (their VML twin is skipped)."""
    for element in descend(paragraph, frozenset({MC_FALLBACK, qn("w:del")})):
        if element.tag == _TEXT_BOX and not any(parent.tag == _TEXT_BOX for parent in element.iterancestors()):
            yield element


def _symbol(element: Element) -> str:
    """Symbol fonts keep their glyphs in the private area; what has a Unicode meaning is kept."""
    try:
        code = int(str(element.get(qn("w:char"))), 16)
    except ValueError:
        return ""
    return chr(code) if 0x20 <= code < 0xD800 else ""
