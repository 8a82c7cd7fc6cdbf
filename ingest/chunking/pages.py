"""Finds the pages and boxes that a part of a block lies on."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.chunking.layout import PlacedBlock
from retrieval.types import Box

_SLACK = 0.04
"""Share of a block by which the estimate of a page break inside it may be off."""


@dataclass(frozen=True, slots=True)
class Place:
    """Pages (None where the format has none) and boxes of a part of a block."""

    page_start: int | None
    page_end: int | None
    boxes: tuple[Box, ...]


def place_of(placed: PlacedBlock, start: int, end: int) -> Place:
    """Return where the span of the document's text that lies in `placed` stands.

    A block that runs over a page break is divided in proportion to the area of its boxes;
    a part near the break keeps both pages. Pages never leave the block's own.
    """
    block = placed.block
    first = block.page_number
    if first is None:
        return Place(None, None, ())
    last = max(first, block.page_end or first)
    pages = list(range(first, last + 1))
    areas = {page: sum(_area(box) for box in block.boxes if box.page_number == page) for page in pages}
    if len(pages) > 1 and all(areas.values()) and placed.end > placed.start:
        pages = _share(
            areas,
            (start - placed.start) / (placed.end - placed.start),
            (end - placed.start) / (placed.end - placed.start),
        )
    boxes = tuple(box for box in block.boxes if pages[0] <= box.page_number <= pages[-1])
    return Place(pages[0], pages[-1], boxes)


def _share(areas: dict[int, float], start: float, end: float) -> list[int]:
    total = sum(areas.values())
    touched: list[int] = []
    at = 0.0
    for page, area in areas.items():
        upto = at + area / total
        if start < upto + _SLACK and end > at - _SLACK:
            touched.append(page)
        at = upto
    return touched


def _area(box: Box) -> float:
    return max(0.0, box.x1 - box.x0) * max(0.0, box.y1 - box.y0)
