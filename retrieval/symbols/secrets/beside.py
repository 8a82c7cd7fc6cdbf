"""Numbers of papers that only a word beside them makes recognisable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.symbols.fold import MASK
from retrieval.symbols.secrets.labels import column_heading, is_ordinary_labelled, text_before

_BEFORE_REACH = 40
_AFTER_REACH = 64
_NOT_ALNUM = re.compile("[^0-9A-Za-z]+")
_STOP = re.compile(rf"[。;!?|{MASK}]|\n[^\n]*\n|(?<![Nn]o)(?<!e\.g)[.](?=\s+[A-Z])")
_NEXT_CELL = re.compile(r"[^|\n]{0,12}\|\s*")
_LISTED = re.compile(r"\s?(?:[、,/和及与]|and|or)\s?")
RENEWED = r"(?:[^0-9A-Za-z|\n]{0,24}?(?:换发|补发|新证号))?"
"""May follow the name of a paper in its pattern: the number of the new one stands in the next sentence."""
_RENEWED = re.compile(
    r"[^0-9A-Za-z|]{0,16}?(?:[换补]发|换证|新(?:证件?|护照|通行证|号))[^0-9A-Za-z|\n]{0,8}"
    r"|[,;.]?\s(?:(?:was|has been|and)\s)?(?i:replaced (?:by|with)|renewed as|(?:the\s)?new (?:passport|permit|number))"
    r"(?:\s(?i:no\.?|number))?(?:\sis|:)?\s"
)
_OF_A_DAY = re.compile(r"[期日]|(?i:date|valid|expir|issue)")
_COUNTED = re.compile(r"\s?[人张份个名次元万亿]")
_BACK_TO_LABEL = re.compile(r"\s?[(,]?\s?(?:的|号|(?:on )?(?:his|her|my|the) )?\s?")


def numbers_beside(text: str, label: re.Pattern[str], number: re.Pattern[str]) -> Iterator[tuple[str, int, int]]:
    """Yield (value, start, end) of the numbers in the clause after a label, or right before it in brackets.

    Args:
        text: A folded text.
        label: The words.
        number: The number with its separators; `number` also decides where it may not begin or end.
    """
    done = 0
    for match in label.finditer(text):
        after = text[match.end() : match.end() + _AFTER_REACH]
        stop = _STOP.search(after)
        limit = match.end() + (stop.start() if stop else len(after))
        # Reads on beyond the clause to see where the number ends, but not where it begins.
        found = number.search(text, match.end(), limit + _AFTER_REACH)
        if found is not None and found.end() > limit:
            found = None
        if found is None and (cell := _NEXT_CELL.match(text, match.end())) is not None:
            found = number.match(text, cell.end())
        if found is None or found.start() < done:
            found = _before(text, match.start(), number, done)
        elif found.group().isdecimal() and (
            _OF_A_DAY.search(text, match.end(), found.start()) or _COUNTED.match(text, found.end())
        ):
            continue
        if found is not None and not is_ordinary_labelled(text_before(text, found.start())):
            done = found.end()
            yield _NOT_ALNUM.sub("", found.group()).upper(), found.start(), found.end()
            while (gap := _LISTED.match(text, done) or _RENEWED.match(text, done)) and (
                more := number.match(text, gap.end())
            ):
                done = more.end()
                yield _NOT_ALNUM.sub("", more.group()).upper(), more.start(), more.end()
    if done == 0 and "|" in text and label.search(text) is not None:
        yield from _in_columns(text, label, number)


def _in_columns(text: str, label: re.Pattern[str], number: re.Pattern[str]) -> Iterator[tuple[str, int, int]]:
    for found in number.finditer(text):
        if label.search(column_heading(text, found.start())) is not None:
            yield _NOT_ALNUM.sub("", found.group()).upper(), found.start(), found.end()


def _before(text: str, start: int, number: re.Pattern[str], done: int) -> re.Match[str] | None:
    """Return a number right before the words, as in `E12345678 (passport)`."""
    begin = max(done, start - _BEFORE_REACH)
    last = next(reversed(list(number.finditer(text, begin, start))), None)
    if last is not None and _BACK_TO_LABEL.fullmatch(text[last.end() : start]):
        return last
    return None
