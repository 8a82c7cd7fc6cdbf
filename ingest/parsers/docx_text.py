"""The readable text of WordprocessingML paragraphs, as Word shows it with all changes accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn

Element = Any
"""An lxml element; python-docx gives its own subclasses."""

MC_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
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
_NOTE_REFERENCES = {qn("w:footnoteReference"): "footnote", qn("w:endnoteReference"): "endnote"}


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
    """Return a paragraph's text: insertions kept, deletions, field codes and phonetic guides dropped."""
    parts: list[str] = []
    for element in descend(paragraph):
        if element.tag == qn("w:t") or element.tag == _MATH_TEXT:
            parts.append(element.text or "")
        elif element.tag in _BREAKS:
            # A column or page break is no line break in the text.
            parts.append(" " if element.get(qn("w:type")) in ("page", "column") else _BREAKS[element.tag])
        elif element.tag == qn("w:sym"):
            parts.append(_symbol(element))
    return "\n".join(" ".join(line.split()) for line in "".join(parts).split("\n")).strip()


def text_boxes(paragraph: Element) -> Iterator[Element]:
    """Yield the contents of text boxes anchored in a paragraph, each once (their VML twin is skipped)."""
    for element in descend(paragraph, frozenset({MC_FALLBACK, qn("w:del")})):
        if element.tag == _TEXT_BOX and not any(parent.tag == _TEXT_BOX for parent in element.iterancestors()):
            yield element


def note_references(paragraph: Element) -> Iterator[tuple[str, str]]:
    """Yield kind (`footnote`, `endnote`) and id of the notes a paragraph refers to."""
    for element in descend(paragraph):
        kind = _NOTE_REFERENCES.get(element.tag)
        if kind is not None:
            yield kind, str(element.get(qn("w:id")))


def _symbol(element: Element) -> str:
    """Symbol fonts keep their glyphs in the private area; what has a Unicode meaning is kept."""
    try:
        code = int(str(element.get(qn("w:char"))), 16)
    except ValueError:
        return ""
    return chr(code) if 0x20 <= code < 0xD800 else ""
