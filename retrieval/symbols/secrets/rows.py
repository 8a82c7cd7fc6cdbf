"""Digit groups set apart by single spaces: secrets that explain a whole row of groups."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum.cn import ric

from retrieval.symbols.secrets.bank_card import is_card
from retrieval.symbols.secrets.found import SecretFound
from retrieval.symbols.secrets.id_card import ID_CARD, is_date
from retrieval.symbols.secrets.labels import in_number, is_ordinary

# Digit groups set apart by single spaces. A row is read as secrets only if secrets explain all
# of it; otherwise it is the row of a table.
_ROW = re.compile(r"[0-9][0-9]{0,7}+(?: [0-9]{1,8}[Xx]?(?![0-9A-Za-z]))++(?![ .,/-][0-9])")


def find_rows(text: str) -> Iterator[SecretFound]:
    """Find the secrets that explain all groups of a row."""
    for row in _ROW.finditer(text):
        before = text[max(0, row.start() - 8) : row.start()]
        groups = row.group().split(" ")
        if len(groups) < 3 or in_number(before) or re.search(r"[0-9][,/-]\Z", before):
            continue
        starts = [row.start()]
        for group in groups:
            starts.append(starts[-1] + len(group) + 1)
        for kind, value, first, last in _explain(groups):
            if not is_ordinary(text, starts[first], starts[last] - 1):
                yield SecretFound(kind, value, starts[first], starts[last] - 1)


def _explain(groups: list[str]) -> Iterator[tuple[str, str, int, int]]:
    """Yield (kind, value, first, last) of a partition of all groups into secrets; nothing if there is none."""
    best: list[tuple[str, str, int] | None] = [None] * len(groups)
    for i in range(len(groups) - 1, -1, -1):
        for kind, value, n in _units(groups, i):
            if i + n == len(groups) or (i + n < len(groups) and best[i + n] is not None):
                best[i] = (kind, value, n)
                break
    at = 0
    while at < len(groups):
        unit = best[at]
        if unit is None:
            return
        yield unit[0], unit[1], at, at + unit[2]
        at += unit[2]


def _units(groups: list[str], at: int) -> Iterator[tuple[str, str, int]]:
    lengths = [len(g) for g in groups[at : at + 5]]
    if groups[at] in ("86", "0086") and lengths[1:4] == [3, 4, 4] and re.match("1[3-9]", groups[at + 1]):
        yield "mobile", "".join(groups[at + 1 : at + 4]), 4
    if lengths[:3] == [3, 4, 4] and re.match("1[3-9]", groups[at]) and not _years(groups[at + 1 : at + 3]):
        yield "mobile", "".join(groups[at : at + 3]), 3
    if lengths[:3] == [6, 8, 4]:
        match = ID_CARD.fullmatch("".join(groups[at : at + 3]))
        number = match.group().upper() if match else ""
        if match and is_date(match.group(3)) and ric.calc_check_digit(number) == number[-1]:
            yield "id_card", number, 3
    for n in (4, 5):
        digits = "".join(groups[at : at + n])
        if lengths[:4] == [4, 4, 4, 4] and len(lengths) >= n and len(digits) <= 19 and is_card(digits):
            yield "bank_card", digits, n
    if lengths[:3] == [4, 6, 5] and is_card("".join(groups[at : at + 3])):
        yield "bank_card", "".join(groups[at : at + 3]), 3


def _years(groups: list[str]) -> bool:
    return all(re.fullmatch("(?:19|20)[0-9]{2}", g) for g in groups)
