"""Blocks from plain lines: headings by number, lists, paragraphs. Shared by the text-like parsers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.parsers.text.joining import SENTENCE_END, is_cjk, join_lines
from ingest.parsers.text.numbering import heading_number, is_numbered_heading, number_levels
from ingest.types import Block

LIST_MARK = re.compile(
    r"\s*(?:[-*+•·●○▪■◆▶–—]\s+|[•·●○▪■◆▶]|\(?\d{1,3}[.)、．]\s*(?!\d)|[（(]\d{1,2}[）)]|[①-⑳]|[a-zA-Z][.)]\s+)\S"
)
_MIN_WRAP = 40


@dataclass(frozen=True, slots=True)
class _Heading:
    text: str
    rank: int


def blocks_of_text(text: str) -> tuple[Block, ...]:
    """Turn decoded plain text into blocks; nothing but white space is lost."""
    parts: list[Block | _Heading] = []
    for group in _groups(text):
        parts.extend(_parts_of_group(group))
    levels = number_levels(part.rank for part in parts if isinstance(part, _Heading))
    return tuple(
        Block(kind="heading", text=part.text, level=levels[part.rank]) if isinstance(part, _Heading) else part
        for part in parts
    )


def _groups(text: str) -> Iterator[list[str]]:
    """Yield runs of lines without a blank line between them."""
    group: list[str] = []
    for line in text.splitlines():
        if line.strip():
            group.append(line.rstrip())
        elif group:
            yield group
            group = []
    if group:
        yield group


def _parts_of_group(group: list[str]) -> Iterator[Block | _Heading]:
    pending: list[str] = []
    for index, line in enumerate(group):
        stripped = line.strip()
        number = heading_number(stripped)
        if number is not None and is_numbered_heading(stripped) and _stands_alone(group, index):
            yield from _body(pending)
            pending = []
            yield _Heading(stripped, number.rank)
        else:
            pending.append(line)
    yield from _body(pending)


def _stands_alone(group: Sequence[str], index: int) -> bool:
    """A heading opens its group or follows a finished sentence, and is not the first line of a list of its kind."""
    number = heading_number(group[index].strip())
    following = heading_number(group[index + 1].strip()) if index + 1 < len(group) else None
    if number is not None and following is not None and following.style == number.style and not number.is_sure:
        return False
    return (
        index == 0
        or group[index - 1].rstrip()[-1] in SENTENCE_END
        or heading_number(group[index - 1].strip()) is not None
    )


def _body(lines: Sequence[str]) -> Iterator[Block]:
    if not lines:
        return
    if sum(1 for line in lines if LIST_MARK.match(line)) * 2 > len(lines):
        yield Block(kind="list", text="\n".join(line.strip() for line in lines))
    elif len(lines) == 1 or is_wrapped(lines):
        yield Block(kind="paragraph", text=join_lines(lines))
    elif _is_one_paragraph_per_line(lines):
        yield from (Block(kind="paragraph", text=line.strip()) for line in lines)
    else:
        yield Block(kind="paragraph", text="\n".join(line.strip() for line in lines))


def is_wrapped(lines: Sequence[str]) -> bool:
    """Tell whether line ends are a wrap at a fixed width: all but the last line nearly fill it, mid-sentence."""
    widths = [_width(line) for line in lines]
    widest = max(widths)
    if widest < _MIN_WRAP or widest > 160:
        return False
    inner = widths[:-1]
    full = sum(1 for width in inner if width >= widest * 0.7)
    ended = sum(1 for line in lines[:-1] if line.rstrip()[-1] in "。！？.!?")
    return full * 5 >= len(inner) * 4 and (ended * 2 <= len(inner) or len(inner) == 1)


def _is_one_paragraph_per_line(lines: Sequence[str]) -> bool:
    ended = sum(1 for line in lines if line.rstrip()[-1] in SENTENCE_END)
    long = sum(1 for line in lines if _width(line) > 2 * _MIN_WRAP)
    return ended * 2 > len(lines) or long * 2 > len(lines)


def _width(line: str) -> int:
    """Columns the line takes: CJK characters count two."""
    text = line.rstrip()
    return len(text) + sum(1 for character in text if is_cjk(character))
