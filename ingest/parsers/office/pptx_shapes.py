"""The shapes of a slide in reading order: title first, then as they stand, groups opened."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.parsers.office.drawing_text import MC, Element, description
from ingest.parsers.office.pptx_inherit import TITLES, Inheritance, P, placeholder_type
from ingest.parsers.office.reading_order import reading_order

GROUP = f"{P}grpSp"
_SHAPES = frozenset({f"{P}sp", f"{P}pic", f"{P}graphicFrame", f"{P}cxnSp", f"{P}contentPart", GROUP})
FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
"""Date, footer, number and the picture of the slide on its notes page: the same on every slide."""


def shapes_in_order(tree: Element, inheritance: Inheritance) -> Iterator[Element]:
    """Yield the leaf shapes of a shape tree or group in reading order; placeholders of furniture are left out.

    A group is read as a whole, where it stands, because what is grouped belongs together.
    """
    shapes = [shape for shape in _children(tree) if placeholder_type(shape) not in FURNITURE]
    titles = [shape for shape in shapes if placeholder_type(shape) in TITLES]
    others = [shape for shape in shapes if placeholder_type(shape) not in TITLES]
    boxes = [inheritance.box(shape) for shape in others]
    # What stands nowhere is read where the file has it: after the shape before it.
    placed: list[tuple[int, int, int, int]] = []
    for box in boxes:
        placed.append(box or (placed[-1] if placed else (0, 0, 0, 0)))
    for shape in [*titles, *(others[index] for index in reading_order(placed))]:
        if shape.tag == GROUP:
            # Nested no deeper than lxml reads a file at all, which is 256 levels.
            yield from shapes_in_order(shape, inheritance)
        else:
            yield shape


def _children(tree: Element) -> Iterator[Element]:
    """Yield shapes; of alternatives the first that holds shapes, which is the one PowerPoint itself draws."""
    for child in tree:
        if child.tag in _SHAPES:
            yield child
        elif child.tag == f"{MC}AlternateContent":
            for alternative in child:
                found = [shape for shape in alternative if shape.tag in _SHAPES]
                if found:
                    yield from found
                    break


def alternative_text(shape: Element) -> str:
    """Return the description of a picture or frame; empty where it has none that says something."""
    properties = next(shape.iter(f"{P}cNvPr"), None)
    return "" if properties is None else description(properties.get("descr") or properties.get("title"))
