"""Paragraphs from lines in reading order, and paragraphs that go on in the next column or page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from ingest.parsers.pdf.lines import Line
from ingest.parsers.text.joining import SENTENCE_END, is_cjk, join_lines
from ingest.parsers.text.lines import LIST_MARK
from ingest.parsers.text.numbering import heading_number, is_numbered_heading
from ingest.types import Box

_ENDS = SENTENCE_END - {")", "）"}
_LABEL = re.compile(r"[^\s:：，。,.][^:：，。,.]{0,15}[:：](?=\s|[^\x00-\x7f]|[\d])")
"""`报告期：…` under `对比期：…`: lines of a form, each its own."""
_CAPTION = re.compile(r"(?:(?:Table|Figure|Fig\.|Chart|Exhibit)\s*\d|[图表]\s*[\d一二三四五六七八九十]+)")


@dataclass
class Paragraph:
    """Lines that belong together; `flows` counts the columns they came from."""

    lines: list[Line]
    column_x1: float
    """Right edge of the column the last line stands in."""
    breaks: list[int] = field(default_factory=list[int])
    """Indices of lines that begin a new column or page."""

    @property
    def first(self) -> Line:
        """The first line."""
        return self.lines[0]

    @property
    def last(self) -> Line:
        """The last line."""
        return self.lines[-1]

    @property
    def is_list_item(self) -> bool:
        """True where the first line opens with a bullet or a list number."""
        return LIST_MARK.match(self.first.text) is not None

    @property
    def is_caption(self) -> bool:
        """True for `Table 3 …` and `图 2 …`, when short."""
        return _CAPTION.match(self.first.text) is not None and len(self.lines) <= 3

    def text(self, words: AbstractSet[str]) -> str:
        """Return the joined text; `words` is the document's vocabulary."""
        return join_lines((line.text for line in self.lines), words)

    def boxes(self) -> tuple[Box, ...]:
        """Return one box for each column the paragraph stands in."""
        edges = [0, *self.breaks, len(self.lines)]
        return tuple(_box(self.lines[start:end]) for start, end in pairwise(edges))


def _box(lines: Sequence[Line]) -> Box:
    return Box(
        page_number=lines[0].page_number,
        x0=min(line.x0 for line in lines),
        y0=min(line.y0 for line in lines),
        x1=max(line.x1 for line in lines),
        y1=max(line.y1 for line in lines),
    )


def paragraphs_of(flows: Iterable[Sequence[Line]]) -> list[Paragraph]:
    """Split columns into paragraphs and join those that a column or page break cut. A table stands alone."""
    result: list[Paragraph] = []
    for flow in flows:
        parts = _split_flow(flow)
        if parts and result and _goes_on(_last_text(result, parts[0]), parts[0]):
            before = _last_text(result, parts[0])
            assert before is not None
            before.breaks.append(len(before.lines))
            before.lines.extend(parts[0].lines)
            before.column_x1 = parts[0].column_x1
            parts = parts[1:]
        result.extend(parts)
    return result


def _last_text(result: Sequence[Paragraph], following: Paragraph) -> Paragraph | None:
    last = result[-1]
    return last if last.first.table is None and following.first.table is None else None


def _split_flow(flow: Sequence[Line]) -> list[Paragraph]:
    text_lines = [line for line in flow if line.table is None]
    if not text_lines:
        return [Paragraph([line], line.x1) for line in flow]
    right = max(line.x1 for line in text_lines)
    pitch = _usual_gap(text_lines)
    paragraphs: list[Paragraph] = []
    for line in flow:
        current = paragraphs[-1] if paragraphs else None
        if current is None or _begins(current, line, right, pitch):
            paragraphs.append(Paragraph([line], right))
        else:
            current.lines.append(line)
    return paragraphs


def _usual_gap(lines: Sequence[Line]) -> float:
    """Return the white space between lines of a paragraph, in points: the lower median of the gaps."""
    gaps = sorted(below.y0 - above.y1 for above, below in pairwise(lines) if abs(below.size - above.size) < 1)
    gaps = [gap for gap in gaps if gap < 2 * lines[0].size]
    return gaps[len(gaps) * 2 // 5] if gaps else 0.0


def _begins(current: Paragraph, line: Line, right: float, pitch: float) -> bool:
    """Tell whether `line` begins a new paragraph after `current`."""
    above = current.last
    if line.table is not None or above.table is not None or line.upright != above.upright:
        return True
    size = max(above.size, 1.0)
    if abs(line.size - above.size) > 0.08 * size + 0.3 or (line.bold != above.bold and _is_whole_style(current, line)):
        return True
    if above.text[-1] in "-\u00ad" and line.text[0].islower() and line.y0 > above.y0:
        return False
    gap = line.y0 - above.y1
    if gap > max(pitch, -0.2 * size) + 0.45 * size or gap < -1.5 * size:
        return True
    if _LABEL.match(line.text) and _LABEL.match(above.text):
        return True
    if LIST_MARK.match(line.text) or _is_heading_like(line, right) or _is_heading_like(above, right):
        return True
    return _is_indented(current, line) or _ended_early(above, line, right)


def _is_whole_style(current: Paragraph, line: Line) -> bool:
    """A change of weight begins a paragraph at a heading, not where a bold phrase wraps or opens a list item."""
    if current.is_list_item and line.x0 > current.first.x0:
        return False
    return len({member.bold for member in current.lines}) == 1 and (len(current.lines) <= 3 or line.bold)


def _is_heading_like(line: Line, right: float) -> bool:
    number = heading_number(line.text)
    if number is None or not is_numbered_heading(line.text):
        return False
    return line.x1 < right - 2 * line.size or number.is_sure


def _is_indented(current: Paragraph, line: Line) -> bool:
    """A first-line indent, measured against the second line of the paragraph where there is one."""
    margin = median(member.x0 for member in current.lines[1:]) if len(current.lines) > 1 else current.first.x0
    if current.is_list_item and len(current.lines) == 1:
        return line.x0 < current.first.x0 - 0.5 * line.size
    return line.x0 - margin > 0.9 * line.size and line.x0 - margin < 6 * line.size and len(current.lines) > 1


def _ended_early(above: Line, line: Line, right: float) -> bool:
    """The next line's first word would have fitted: whoever set the type ended a paragraph here."""
    if above.text[-1] not in _ENDS:
        return right - above.x1 > 0.45 * right and above.x0 < line.x0 + 2 * line.size and line.text[0].isupper()
    first = line.size if is_cjk(line.text[0]) else len(line.text.split(" ", 1)[0]) * line.size * 0.55
    return right - above.x1 > first + 1.5 * line.size


def _goes_on(before: Paragraph | None, after: Paragraph) -> bool:
    """Tell whether a paragraph cut by a column or page break goes on in `after`."""
    if before is None or before.is_caption or after.is_caption or after.is_list_item:
        return False
    last, first = before.last, after.first
    if last.bold != first.bold or abs(last.size - first.size) > 0.6 or last.upright != first.upright:
        return False
    if last.text[-1] in _ENDS or _is_heading_like(last, before.column_x1) or heading_number(first.text) is not None:
        return False
    opening = first.text[0]
    if is_cjk(opening) or is_cjk(last.text[-1]):
        return last.x1 > before.column_x1 - 2.5 * last.size
    return opening.islower() or opening.isdigit() or last.text[-1] in ",-\u00ad" or opening in '(（"“'
