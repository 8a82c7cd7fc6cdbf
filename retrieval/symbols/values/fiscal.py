"""The tenant's fiscal year: which months FY2024, fiscal Q3 2024 or 2024财年上半年 are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from retrieval.symbols.values.calendar import Span, month_run


@dataclass(frozen=True, slots=True)
class FiscalYear:
    """A year of twelve whole months. Parts of it are counted from its first month."""

    start: int = 1
    """Its first month, 1 to 12."""
    named_by: Literal["start", "end"] = "start"
    """Whether FY2024 begins or ends in 2024; of no meaning where it is the calendar year."""

    def months(self, year: int, first: int, last: int) -> Span | None:
        """Return months `first` to `last` of the fiscal year named `year`; None if there are no such months."""
        if not 1 <= first <= last <= 12:
            return None
        begin = self._begin(year)
        return month_run(begin + first - 1, begin + last - 1)

    def quarter(self, year: int, number: int) -> Span | None:
        """Return a quarter of the fiscal year."""
        return self.months(year, 3 * number - 2, 3 * number)

    def half(self, year: int, number: int) -> Span | None:
        """Return a half of the fiscal year."""
        return self.months(year, 6 * number - 5, 6 * number)

    def whole(self, year: int) -> Span | None:
        """Return the fiscal year named `year`."""
        return self.months(year, 1, 12)

    def of(self, day: date) -> int:
        """Return the name of the fiscal year that `day` lies in."""
        return day.year - (day.month < self.start) + self._named_after

    def quarter_of(self, day: date) -> int:
        """Return the quarter, 1 to 4, of the fiscal year that `day` lies in."""
        return (day.month - self.start) % 12 // 3 + 1

    @property
    def _named_after(self) -> int:
        return 1 if self.named_by == "end" and self.start > 1 else 0

    def _begin(self, year: int) -> int:
        return (year - self._named_after) * 12 + self.start - 1


CALENDAR_YEAR = FiscalYear()
