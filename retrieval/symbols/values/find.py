"""All values of a text: runs the reader of every kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from retrieval.symbols.found import Found
from retrieval.symbols.values.amounts import find_amounts
from retrieval.symbols.values.clock import find_times
from retrieval.symbols.values.durations import find_durations
from retrieval.symbols.values.fiscal import FiscalYear
from retrieval.symbols.values.ip_addresses import find_ip_addresses
from retrieval.symbols.values.numbers import find_numbers
from retrieval.symbols.values.numerals import Numeral, scan_numerals
from retrieval.symbols.values.percents import find_percents
from retrieval.symbols.values.periods import find_periods
from retrieval.symbols.values.qualifiers import qualified
from retrieval.symbols.values.ratios import find_ratios
from retrieval.symbols.values.urls import find_urls


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reading of values depends on beside the text."""

    base_date: date | None = None
    """Resolves relative periods and dates without a year; without it they are no symbols."""
    fiscal_year_start: int = 1
    """First month of the fiscal year."""
    fiscal_year_named_by: Literal["start", "end"] = "start"
    is_whole: bool = True
    """Whether no finding is masked: only then is seen which years stand beside a date that has none."""


def find_values(text: str, reading: Reading) -> Iterable[Found]:
    """Yield the values of a folded text, overlapping where two readers claim the same (`found.settle` decides)."""
    for found in _find(text, reading):
        yield qualified(text, found)


def _find(text: str, reading: Reading) -> Iterable[Found]:
    yield from find_urls(text)
    yield from find_ip_addresses(text)
    fiscal = FiscalYear(reading.fiscal_year_start, reading.fiscal_year_named_by)
    yield from find_periods(text, reading.base_date, fiscal, is_whole=reading.is_whole)
    yield from find_times(text)
    yield from find_durations(text)
    numerals: Sequence[Numeral] = scan_numerals(text)
    yield from find_amounts(text, numerals)
    yield from find_percents(text, numerals)
    yield from find_ratios(text, numerals)
    yield from find_numbers(text, numerals)
