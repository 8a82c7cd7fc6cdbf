"""Running headers, footers and page numbers: what repeats at the edges of pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from ingest.parsers.pdf.lines import Line, rows_of
from ingest.parsers.text.joining import squeeze

_ZONE = 0.12
"""Share of the page height at top and bottom in which furniture stands."""
_EDGE_ROWS = 3
_MIN_PAGES = 3
_PAGE_WORDS = re.compile(
    r"(?:[-–—·]*第?#页?[-–—·]*|第#页[/,，、]?(?:共|总)#页|共#页[,，、]?第#页|(?:page|p\.?)#(?:(?:of|/)#)?|[-–—]#[-–—]|#/#|#of#)$"
)
_BARE = re.compile(r"[-–—·]*#[-–—·]*$")
_ROMAN = re.compile(r"[ivxlc]{1,7}$")


def find_furniture(pages: Mapping[int, Sequence[Line]], heights: Mapping[int, float]) -> frozenset[Line]:
    """Return the lines to leave out.

    A text counts as running when it stands at the same edge of three pages (digits
    aside). On two pages it must differ from a page that is simply repeated; a
    page number is recognised by its words, or by counting with the pages.
    """
    edges: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for page_number, lines in pages.items():
        for edge, line in _edge_lines(lines, heights[page_number]):
            edges[edge, _form(line.text)].append(line)
    minimum = _MIN_PAGES if len(pages) != 2 or _are_alike(pages) else 2
    running: dict[str, set[Line]] = {"top": set(), "bottom": set()}
    for (edge, form), lines in edges.items():
        if _is_page_number(form, lines) or (_is_one_text(lines, minimum) and _same_height(lines)):
            running[edge].update(lines)
    found = {line for lines in pages.values() for line in _outermost(lines, running)}
    kept = any(line not in found for lines in pages.values() for line in lines)
    return frozenset(found) if kept else frozenset()


def _edge_lines(lines: Sequence[Line], height: float) -> list[tuple[str, Line]]:
    rows = rows_of([line for line in lines if line.upright and line.table is None])
    top = [("top", line) for row in rows[:_EDGE_ROWS] for line in row if line.y1 < height * _ZONE]
    bottom = [("bottom", line) for row in rows[-_EDGE_ROWS:] for line in row if line.y0 > height * (1 - _ZONE)]
    return top + bottom


def _outermost(lines: Sequence[Line], running: Mapping[str, AbstractSet[Line]]) -> list[Line]:
    """Keep of the running lines those with nothing but running lines between them and their edge of the page."""
    rows = rows_of([line for line in lines if line.upright and line.table is None])
    found: list[Line] = []
    for edge, side in (("top", rows), ("bottom", rows[::-1])):
        for row in side:
            outer = [line for line in row if line in running[edge]]
            found.extend(outer)
            if len(outer) < len(row):
                break
    return found


def _is_one_text(lines: Sequence[Line], minimum: int) -> bool:
    """The same words on enough pages; numbers in them may differ only where they count with the pages."""
    if len({line.page_number for line in lines}) < minimum:
        return False
    return len({squeeze(line.text) for line in lines}) == 1 or _counts_with_pages(lines)


def _form(text: str) -> str:
    return re.sub(r"\d+", "#", squeeze(text))


def _is_page_number(form: str, lines: Sequence[Line]) -> bool:
    if _BARE.match(form):
        return _counts_with_pages(lines)
    if _ROMAN.match(form):
        return len({line.page_number for line in lines}) >= _MIN_PAGES
    return _PAGE_WORDS.match(form) is not None


def _counts_with_pages(lines: Sequence[Line]) -> bool:
    """Bare numbers are page numbers where they rise with the pages, or where a lone one is its page's number."""
    numbers = [[int(number[:9]) for number in re.findall(r"\d+", line.text)] for line in lines]
    if len(lines) == 1:
        return numbers[0] == [lines[0].page_number]
    return any(
        _is_steady([row[at] - line.page_number for row, line in zip(numbers, lines, strict=True)])
        for at in range(len(numbers[0]))
    )


def _is_steady(offsets: Sequence[int]) -> bool:
    return max(offsets.count(offset) for offset in set(offsets)) * 2 > len(offsets)


def _same_height(lines: Sequence[Line]) -> bool:
    """Furniture stands at one height: most of its lines lie within half a line of the middle one."""
    heights = sorted(line.middle_y for line in lines)
    middle = heights[len(heights) // 2]
    near = sum(1 for height in heights if abs(height - middle) <= 6.0)
    return near * 3 >= len(heights) * 2


def _are_alike(pages: Mapping[int, Sequence[Line]]) -> bool:
    """Tell whether the pages say mostly the same: a page inserted twice is no furniture."""
    texts = [{squeeze(line.text) for line in lines} for lines in pages.values()]
    common = texts[0].intersection(*texts[1:])
    return len(common) * 2 > min(len(text) for text in texts)
