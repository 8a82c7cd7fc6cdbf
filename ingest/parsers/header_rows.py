"""How many of a table's first rows are its header, where the format does not say."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PERIOD = re.compile(
    r"(?:19|20)\d\d[/–—-](?:19|20)\d\d"
    r"|(?:19|20)\d\d(?:[年/.-]\d{1,2}(?:[月/.-]\d{1,2}日?|月)?|年)?(?:Q[1-4]|H[12])?|FY\d\d|[QH][1-4]"
)
_MAX_HEADERS = 4
_MAX_UNIT = 16
SAMPLE_ROWS = 24
"""Rows that are looked at."""

Row = Sequence[str | None]
"""Texts of a row; None: covered by a cell to the left, a merged one."""


def count_headers(rows: Sequence[Row]) -> int:
    """Count the header rows of a table by its first rows.

    A header has no figures (years and dates aside) and stands over something else. It takes
    several rows as long as the columns are not all named yet: units, years under a caption.
    """
    sample = _without_empty_columns(rows[:SAMPLE_ROWS])
    if len(sample) < 2 or max(sum(1 for text in row if text) for row in sample) < 2:
        return 0
    if _is_figure_header(sample):
        return 1
    count = 0
    for row in sample[:_MAX_HEADERS]:
        if any(text and is_figure(text) for text in row):
            break
        if count and _ends_before(row, sample[count - 1]):
            break
        count += 1
    count = min(count, len(sample) - 1)
    if not any(text and is_figure(text) for row in sample[count:] for text in row):
        count = min(count, _words_only_headers(sample))
    if count == 0 or all(_is_label(row) for row in sample[:count]) or _continues_in_kind(sample, count):
        return 0
    return count


def is_figure(text: str) -> bool:
    """Tell whether digits make up most of a text. Years, dates and quarters do not count: headers are made of them."""
    rest = _PERIOD.sub("", text.replace(" ", ""))
    return sum(1 for character in rest if character.isdigit()) * 2 > len(rest)


def is_period(text: str) -> bool:
    """Tell whether a text is a year, a date or a quarter and nothing else."""
    return _PERIOD.fullmatch(text.replace(" ", "")) is not None


def _without_empty_columns(rows: Sequence[Row]) -> list[Row]:
    width = max((len(row) for row in rows), default=0)
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    kept = [column for column in range(width) if any(row[column] for row in full)]
    return [[row[column] for column in kept] for row in full]


def _ends_before(row: Row, last: Row) -> bool:
    """Tell whether the header ends above a row: all columns are named, or a group of rows begins."""
    if _names_all(last):
        return not _are_units(row)
    return _is_label(row) and not _is_label(last)


def _are_units(row: Row) -> bool:
    """Short words under named columns, none in front: `€m`, `US$'000`."""
    return bool(row) and row[0] == "" and all(text and len(text) <= _MAX_UNIT for text in row[1:])


def _names_all(row: Row) -> bool:
    """Every column but the first, which often needs no name, has one of its own."""
    return all(row[1:])


def _is_label(row: Row) -> bool:
    """Only the first cell has text: the table's title, or the name of a group of rows."""
    return bool(row) and bool(row[0]) and not any(row[1:])


def _words_only_headers(sample: Sequence[Row]) -> int:
    """A table without figures: titles, merged headings and the row under them; else the first row."""
    count = 0
    while count < len(sample) - 1 and (_is_label(sample[count]) or None in sample[count]):
        count += 1
    return count + 1


def _is_figure_header(sample: Sequence[Row]) -> bool:
    """Numbered columns over cells that are no numbers."""
    first, body = sample[0], sample[1:]
    filled = [text for text in first if text]
    if len(filled) * 2 < len(first) or not all(is_figure(text) for text in filled):
        return False
    below = [text for row in body for text in row if text]
    return sum(1 for text in below if is_figure(text)) * 10 <= len(below)


def _continues_in_kind(sample: Sequence[Row], count: int) -> bool:
    """A column of dates or years all through: the first row is data like the others."""
    if count != 1:
        return False
    for column, text in enumerate(sample[0]):
        below = [row[column] for row in sample[1:]]
        if text and is_period(text) and len(below) > 1 and all(cell and is_period(cell) for cell in below):
            return True
    return False
