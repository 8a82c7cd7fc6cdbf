"""The text of DrawingML paragraphs: what stands in shapes, tables, charts and diagrams of Office files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.parsers.office.math_text import MATH, math_text

Element = Any
"""An lxml element; python-pptx gives its own subclasses."""

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
RELATIONSHIP_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PICTURE_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".svg", ".tif", ".tiff", ".webp")
_MOVING_FIELDS = ("slidenum",)
"""Fields that count the slide; their text is furniture."""


def paragraph_text(paragraph: Element) -> str:
    """Return the text of one `a:p`; line breaks stay, slide numbers go, formulas become linear text."""
    parts: list[str] = []
    stack = list(reversed(list(paragraph)))
    while stack:
        element = stack.pop()
        if element.tag in (f"{A}r", f"{A}fld"):
            if element.get("type") not in _MOVING_FIELDS:
                parts.append(element.findtext(f"{A}t") or "")
        elif element.tag == f"{A}br":
            parts.append("\n")
        elif element.tag in (f"{MATH}oMath", f"{MATH}oMathPara"):
            parts.append(math_text(element))
        elif element.tag != f"{A}pPr" and element.tag != f"{A}endParaRPr" and element.tag != f"{MC}Fallback":
            stack.extend(reversed(list(element)))
    # PowerPoint writes a line break inside a run as a vertical tab, in XML as _x000B_.
    text = "".join(parts).replace("_x000B_", "\n").replace("\v", "\n").replace("_x000D_", "")
    return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()


def paragraphs(body: Element | None) -> Iterator[Element]:
    """Yield the paragraphs of a text body (`p:txBody`, `a:txBody`, `c:rich`, `dgm:t`)."""
    if body is not None:
        yield from body.iterchildren(f"{A}p")


def body_text(body: Element | None, joint: str = "\n") -> str:
    """Return the text of a whole text body."""
    return joint.join(filter(None, map(paragraph_text, paragraphs(body))))


def description(text: object) -> str:
    """Return what an author says a picture shows; a file name says nothing and gives an empty text."""
    said = " ".join(str(text or "").split())
    return "" if " " not in said and said.lower().endswith(_PICTURE_NAMES) else said
