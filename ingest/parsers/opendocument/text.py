"""The text of OpenDocument paragraphs, and what they carry beside it: notes, comments, frames."""

from __future__ import annotations

from collections.abc import Callable

from ingest.parsers.office.drawing_text import Element
from ingest.parsers.opendocument.package import odf, whole

_BESIDE = frozenset({odf("text:note"), odf("office:annotation")})
_SHAPES = frozenset(
    odf(f"draw:{name}")
    for name in ("frame", "custom-shape", "rect", "ellipse", "circle", "line", "path", "polygon", "polyline", "g")
) | {odf("draw:connector"), odf("draw:caption"), odf("draw:regular-polygon"), odf("draw:a")}
_DROPPED = frozenset({
    odf("text:ruby-text"),
    odf("text:tracked-changes"),
    odf("office:annotation-end"),
    odf("text:number"),
    odf("office:event-listeners"),
})
_BREAKS = {odf("text:tab"): "\t", odf("text:line-break"): "\n"}
_MAX_SPACES = 1_000


def is_shape(element: Element) -> bool:
    """Tell whether an element is drawn: a frame, a shape, a group."""
    return element.tag in _SHAPES


def paragraph_parts(
    paragraph: Element, inline: Callable[[Element], str | None] = lambda _: None
) -> tuple[str, list[Element]]:
    """Return a paragraph's text and the notes, comments and shapes in it, in order.

    Args:
        paragraph: a `text:p` or `text:h`.
        inline: the text of a shape that stands in the line (a formula); None for those read by themselves.
    """
    parts: list[str] = [paragraph.text or ""]
    beside: list[Element] = []
    # Each entry is an element to enter or the text that follows one that was left.
    stack: list[Element | str] = list(reversed(list(paragraph)))
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            parts.append(entry)
            continue
        stack.append(entry.tail or "")
        if not isinstance(entry.tag, str) or entry.tag in _DROPPED:
            continue
        if entry.tag in _BESIDE:
            beside.append(entry)
        elif entry.tag in _SHAPES:
            text = inline(entry)
            if text is None:
                beside.append(entry)
            else:
                parts.append(text)
        elif entry.tag == odf("text:s"):
            parts.append(" " * whole(entry.get(odf("text:c")), 1, _MAX_SPACES))
        elif entry.tag in _BREAKS:
            parts.append(_BREAKS[entry.tag])
        else:
            parts.append(entry.text or "")
            stack.extend(reversed(list(entry)))
    # White space in the file is no more than one space; line breaks are elements (part 3, 6.1.2).
    lines = "".join(part if part == "\n" else part.replace("\n", " ") for part in parts).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines).strip(), beside


def plain_text(element: Element | None) -> str:
    """Return the text of all paragraphs in an element, joined by spaces; notes and frames in them are left out."""
    if element is None:
        return ""
    return " ".join(filter(None, (paragraph_parts(one)[0] for one in element.iter(odf("text:p"), odf("text:h")))))
