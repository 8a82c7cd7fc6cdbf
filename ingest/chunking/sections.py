"""Groups blocks into sections: what stands under one heading, up to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.chunking.layout import PlacedBlock


@dataclass(slots=True)
class Section:
    """A heading's own blocks, the heading included; text before the first heading has an empty path."""

    path: tuple[str, ...]
    number: int
    """1-based ordinal in the document."""
    blocks: list[PlacedBlock] = field(default_factory=list["PlacedBlock"])


def sections_of(blocks: Sequence[PlacedBlock]) -> list[Section]:
    """Return the document's sections in order; none is empty."""
    sections: list[Section] = []
    open_headings: list[tuple[int, str]] = []
    for placed in blocks:
        block = placed.block
        if block.kind == "heading":
            level = max(1, block.level)
            while open_headings and open_headings[-1][0] >= level:
                open_headings.pop()
            open_headings.append((level, " ".join(block.text.split())))
            sections.append(Section(tuple(text for _, text in open_headings), len(sections) + 1))
        elif not sections:
            sections.append(Section((), 1))
        sections[-1].blocks.append(placed)
    return sections
