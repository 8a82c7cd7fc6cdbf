"""Delimited text: which character parts the cells, and records that a stray quote cannot swallow."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

DELIMITERS = ",\t;|"
_SAMPLE_LINES = 400
_MAX_CELL_LINES = 1000
"""Lines that one quoted cell may have."""
_MAX_FAILURES = 50
"""Quotes that never close, after which cells of several lines are no longer looked for."""
_HINT = re.compile(r"\s*\"?sep=(.)\"?[ \t]*", re.I)
_SENTENCE = re.compile(r"[.!?。！？；;:：][\"”’)]?$")
_END = "\x00end\x00"


class Records:
    """The records of a delimited text, read once.

    A quote that opens a cell and does not close within a reasonable number of lines is taken for
    an ordinary character, so that what follows it keeps its rows and columns.
    """

    def __init__(self, lines: Sequence[str], delimiter: str) -> None:
        self._lines, self._delimiter = lines, delimiter
        self.stray_quotes = 0

    def __iter__(self) -> Iterator[list[str]]:
        index = 0
        while index < len(self._lines):
            line = self._lines[index]
            if '"' not in line:
                yield line.split(self._delimiter)
                index += 1
                continue
            cells, used = self._quoted(index)
            yield cells
            index += used

    def _quoted(self, index: int) -> tuple[list[str], int]:
        """Read the record that begins in a line with quotes; return it with the number of its lines."""
        if self.stray_quotes < _MAX_FAILURES:
            stop = min(index + _MAX_CELL_LINES, len(self._lines))
            lines = (f"{self._lines[at]}\n" for at in range(index, stop))
            reader = csv.reader(lines, delimiter=self._delimiter, strict=True, skipinitialspace=True)
            try:
                return next(reader), reader.line_num
            except (csv.Error, StopIteration):
                pass
        line = self._lines[index]
        reader = csv.reader([line, _END], delimiter=self._delimiter, skipinitialspace=True)
        try:
            cells = next(reader)
            if reader.line_num == 1:
                return cells, 1
        except csv.Error:
            pass
        self.stray_quotes += 1
        return line.split(self._delimiter), 1


def choose_delimiter(lines: Sequence[str]) -> tuple[str | None, int]:
    """Choose the delimiter by how evenly it cuts the lines; None where the text is one column.

    Returns:
        The delimiter, and how many leading lines only name it (`sep=;`).
    """
    hint = _HINT.fullmatch(lines[0]) if lines else None
    if hint and hint.group(1) in DELIMITERS:
        return hint.group(1), 1
    scores = {delimiter: _evenness(lines, delimiter) for delimiter in DELIMITERS}
    best = max(scores, key=lambda delimiter: scores[delimiter])
    return (best if scores[best][0] >= 0.5 else None), 0


def looks_delimited(text: str, *, named: bool) -> bool:
    """Tell whether a text is a table of delimited cells rather than prose.

    Args:
        text: the text, or its beginning.
        named: its name says that it is; then one column will do.
    """
    lines = [line for line in text.split("\n", _SAMPLE_LINES + 1)[:_SAMPLE_LINES] if line.strip()]
    delimiter, hints = choose_delimiter(lines)
    if delimiter is None:
        return named and not _is_prose(lines)
    evenness, columns = _evenness(lines[hints:], delimiter)
    cells = [cell for record in islice(Records(lines, delimiter), _SAMPLE_LINES) for cell in record]
    spaced = sum(1 for cell in cells if cell.startswith(" ")) * 5 > len(cells)
    if named:
        return not _is_prose(lines) or (evenness > 0.9 and (columns > 4 or not spaced))
    if len(lines) < 3 or evenness < 0.95 or columns < (2 if delimiter == "\t" else 3):
        return False
    drawn = sum(1 for line in lines if line.lstrip().startswith("|") or set(line.strip()) <= set("-|:+= "))
    return not spaced and sum(map(len, cells)) < 40 * len(cells) and not drawn


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """Return the share of records that have the commonest number of cells, and that number; (0, 1) for one column."""
    counts = Counter(
        len(record)
        for record in islice(Records(lines[:_SAMPLE_LINES], delimiter), _SAMPLE_LINES)
        if any(cell.strip() for cell in record)
    )
    total = sum(counts.values())
    if not total:
        return 0.0, 1
    columns, _ = max(counts.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))
    if columns < 2:
        return 0.0, 1
    # One cell too many or too few is the mark of a ragged table, not of another delimiter.
    near = sum(count for number, count in counts.items() if number > 1 and abs(number - columns) <= 1)
    return (counts[columns] + 0.5 * (near - counts[columns])) / total, columns


def _is_prose(lines: Sequence[str]) -> bool:
    """Lines that are sentences: long, or ended like sentences."""
    if not lines:
        return False
    ended = sum(1 for line in lines if len(line) > 30 and _SENTENCE.search(line.rstrip()))
    return ended * 2 > len(lines) or sum(map(len, lines)) > 100 * len(lines)
