"""Runs of digit groups: digits with at most a short separator between two of them, whatever they mean.

A number is written in one go, in groups, digit by digit or torn by a line end. All of these are one run here;
the kinds look at windows of its groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from retrieval.symbols.fold import JOINER
from retrieval.symbols.secrets.labels import (
    cell_before,
    column_heading,
    in_number,
    is_ordinary_heading,
    is_ordinary_labelled,
    text_before,
)

_DASH = "\\-\u2010\u2011\u2012\u2013\u2014"
# A torn number goes on in the next line, or in the one after an empty line.
_TORN = r"\n(?: ?\n)?"
_GAP = (
    rf" ?[{_DASH}] ?(?:{_TORN})?| ?\((?=[0-9]{{1,5}}\))|\)\((?=[0-9]{{1,5}}\))|\)[ {_DASH}]?"
    rf"|[.\u00b7\u2022]|{_TORN}| (?:{_TORN})?|(?=\u200b)"
)
# The first digit is no later one of a number: the look-behind stands after it so that `re` can skip to digits. Most
# numbers end before the seventh digit, at a character that no separator begins with.
_RUN = re.compile(
    rf"[0-9](?<![0-9]{{2}})(?:[0-9]|(?=[ .()\u200b\u00b7\u2022\n{_DASH}])"
    rf"\u200b{{0,8}}(?:{_GAP})\u200b{{0,8}}[0-9]){{6,}}+"
)
_GROUP = re.compile("[0-9]++")
_TIME = re.compile(r"[ \n](?:[0-9]{1,2}(?:[:/][0-9]|[月日时点])|(?:19|20)[0-9]{2}(?:年|/[0-9]{1,2}/))")
_HOUR = re.compile(r"[0-9]:")
_LONG = 9  # digits; no year, no item number, no part of a telephone number
_LONGEST_NUMBER = 19
_EMPTY_LINE = re.compile(r"\n ?\n")
_MOST_GROUPS = 24  # a number of 19 digits with a country code before it, digit by digit
_MOST_GROUPS_INSIDE = 8  # digit by digit a number begins its run


@dataclass(frozen=True)
class Run:
    """A run in a folded text."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    groups: tuple[str, ...]
    """The digits alone, without joiners between them."""
    label: str = ""
    """A word that holds for the run though it stands farther off: that of the list it goes on."""

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """What stands before each group; nothing before the first."""
        between = (self.text[end:start] for end, start in zip(self.ends, self.starts[1:], strict=False))
        return ("", *map(_plain_gap, between))

    @cached_property
    def before(self) -> str:
        """The text right before the run, up to what was masked."""
        return text_before(self.text, self.starts[0])

    @cached_property
    def is_continued(self) -> bool:
        """Whether the run goes on from a number or an identifier."""
        thousands = len(self.groups[0]) == 3 and _THOUSANDS.search(self.before) is not None
        return thousands or in_number(self.before)

    @cached_property
    def fills_link_part(self) -> bool:
        """Whether the run, with an X behind it or not, is one whole segment or value of a web address."""
        return (
            len(self.groups) == 1
            and _LINK_PART_BEFORE.search(self.before) is not None
            and _LINK_PART_AFTER.match(self.text, self.ends[0]) is not None
        )

    @cached_property
    def is_one_by_one(self) -> bool:
        """Whether every digit stands by itself."""
        return max(map(len, self.groups)) == 1

    @cached_property
    def heading(self) -> str:
        """The heading of the run's column in a table."""
        return column_heading(self.text, self.starts[0])

    @cached_property
    def cell_before(self) -> str:
        """The cell before the run's in its row of a table."""
        return cell_before(self.text, self.starts[0])

    def is_labelled(self, test: Callable[[str], bool], first: int = 0) -> bool:
        """Tell whether a label stands before the window that begins the run, or names it in a table."""
        return first == 0 and (
            test(self.before) or test(self.heading) or test(self.cell_before) or (bool(self.label) and test(self.label))
        )

    @cached_property
    def has_ordinary_name(self) -> bool:
        """Whether the run stands in a column or a row of figures or of ordinary numbers."""
        return is_ordinary_heading(self.heading) or is_ordinary_labelled(self.cell_before)

    @cached_property
    def is_tied_before(self) -> bool:
        """Whether a dash ties the run to a word or a number before it."""
        return _TIED_BEFORE.search(self.before) is not None

    @property
    def start(self) -> int:
        """Where the first group begins."""
        return self.starts[0]

    def end(self, last: int) -> int:
        """Return where the groups before `last` end."""
        return self.ends[last - 1]

    def windows(self, first: int, longest: int) -> Iterator[tuple[str, int]]:
        """Yield (digits, last) of the groups from `first` to before `last`, up to a number of digits."""
        digits = ""
        most = _MOST_GROUPS if first == 0 else _MOST_GROUPS_INSIDE
        for last in range(first, min(len(self.groups), first + most)):
            digits += self.groups[last]
            if len(digits) > longest:
                return
            yield digits, last + 1

    def inner_gaps(self, first: int, last: int) -> tuple[str, ...]:
        """Return the separators inside a window."""
        return self.gaps[first + 1 : last]

    def lengths(self, first: int, last: int) -> tuple[int, ...]:
        """Return the lengths of a window's groups."""
        return tuple(map(len, self.groups[first:last]))

    def gap_after(self, last: int) -> str:
        """Return the separator that follows a window; nothing at the end of the run."""
        return self.gaps[last] if last < len(self.groups) else ""

    def is_joined(self, first: int, last: int) -> bool:
        """Tell whether a dash or a dot ties the window to further digits or letters, so that it is a part of them."""
        if (_TIE.search(self.gaps[first]) if first else _TIED_BEFORE.search(self.before)) is not None:
            return True
        if last < len(self.groups):
            return _TIE.search(self.gaps[last]) is not None
        return _TIED_AFTER.match(self.text, self.end(last)) is not None

    def is_date(self, first: int) -> bool:
        """Tell whether three groups are a day, as 2024-07-01."""
        year, *rest = self.groups[first : first + 3]
        return (
            len(rest) == 2
            and len(year) == 4
            and year[:2] in ("19", "20")
            and max(map(len, rest)) <= 2
            and all(gap in ("-", ".") for gap in self.inner_gaps(first, first + 3))
        )

    def is_beside_long_number(self, first: int, last: int) -> bool:
        """Tell whether a long number stands a blank away, as in the row of a table of figures."""
        beside = [first - 1] if first and self.gaps[first] == " " else []
        if last < len(self.groups) and self.gaps[last] == " ":
            beside.append(last)
        return any(len(self.groups[i]) >= _LONG for i in beside)

    def goes_on(self, first: int, last: int) -> bool:
        """Tell whether a short group follows the window's groups as they follow one another: it is cut out of more."""
        inner = self.inner_gaps(first, last)
        return bool(inner) and self.gap_after(last) == inner[-1] and len(self.groups[last]) < len(self.groups[first])

    def is_alone(self, first: int, last: int) -> bool:
        """Tell whether the window is the whole run and no further number is listed beside it."""
        if first or last < len(self.groups):
            return False
        return _LISTED_BEFORE.search(self.before) is None and _LISTED_AFTER.match(self.text, self.end(last)) is None


_LINK_PART_BEFORE = re.compile(r"(?:://|[wW]{3}\.)[^\s，。]*[/=]\Z")
_LINK_PART_AFTER = re.compile(r"[Xx]?(?![A-Za-z0-9._~%+@=-])|\.(?:\s|\Z)")
_THOUSANDS = re.compile(r"[0-9],\Z")
_TIE = re.compile(rf"[{_DASH}.]")
_TIED_BEFORE = re.compile(r"[0-9A-Za-z][-\u2010-\u2014_]\Z")
_TIED_AFTER = re.compile(r"[0-9A-Za-z]|[-\u2010-\u2014_][0-9A-Za-z]|\.[0-9]")
_LISTED_BEFORE = re.compile(r"[0-9A-Za-z][-_]?\Z|[0-9][\s.,/]\Z")
_LISTED_AFTER = re.compile(r"[0-9A-Za-z]|[\s.,/-][0-9]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a window of a run may be."""

    kind: str
    value: str
    first: int
    last: int
    start: int
    end: int
    is_sure: bool = True
    """Else it counts only where candidates explain every group of its row."""
    confidence: float = 1.0


_DAY = Candidate("", "", 0, 0, 0, 0)
"""Explains the three groups of a day beside a number."""


def digit_runs(text: str) -> Iterator[Run]:
    """Yield the runs of seven digits and more."""
    for match in _RUN.finditer(text):
        groups = list(_GROUP.finditer(text, match.start(), match.end()))
        # The hour or the month of a date that stands beside a number is no group of it: 138 1234 5678 10:30.
        if len(groups) > 1 and _TIME.match(text, groups[-1].start() - 1):
            groups.pop()
        if len(groups) > 1 and len(groups[0].group()) == 2 and _HOUR.match(text, match.start() - 2):
            groups.pop(0)
        starts, ends, written = [g.start() for g in groups], [g.end() for g in groups], [g.group() for g in groups]
        if JOINER in match.group():
            starts, ends, written = _joined(text, starts, ends, written)
        yield Run(text, tuple(starts), tuple(ends), tuple(written))


def _joined(
    text: str, starts: list[int], ends: list[int], written: list[str]
) -> tuple[list[int], list[int], list[str]]:
    """Make one group of those that only joiners set apart, unless that is longer than any number."""
    parts: list[list[int]] = []
    for i, start in enumerate(starts):
        if parts and not text[ends[i - 1] : start].strip(JOINER):
            parts[-1].append(i)
        else:
            parts.append([i])
    new: list[tuple[int, int, str]] = []
    for part in parts:
        digits = "".join(written[i] for i in part)
        if len(digits) <= _LONGEST_NUMBER:
            new.append((starts[part[0]], ends[part[-1]], digits))
        else:
            new += [(starts[i], ends[i], written[i]) for i in part]
    return [n[0] for n in new], [n[1] for n in new], [n[2] for n in new]


def _plain_gap(gap: str) -> str:
    """Return a separator without the joiners in it, and an empty line as a line end."""
    if len(gap) < 2:
        return gap
    plain = gap.replace(JOINER, "") or JOINER
    return _EMPTY_LINE.sub("\n", plain)


def choose(run: Run, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates that count and do not overlap; earlier ones go before later ones."""
    offered = list(candidates)
    taken: set[int] = set()
    if any(not c.is_sure for c in offered):
        by_first: dict[int, list[Candidate]] = {}
        for candidate in offered:
            by_first.setdefault(candidate.first, []).append(candidate)
        for row in _rows(run):
            for chosen in _explanation(run, row, by_first):
                taken.update(range(chosen.first, chosen.last))
                yield chosen
    for candidate in offered:
        if candidate.is_sure and taken.isdisjoint(range(candidate.first, candidate.last)):
            taken.update(range(candidate.first, candidate.last))
            yield candidate


def _rows(run: Run) -> Iterator[range]:
    first = 0
    for i, gap in enumerate((*run.gaps[1:], "\n"), 1):
        if "\n" in gap:
            yield range(first, i)
            first = i


def _explanation(run: Run, row: range, by_first: dict[int, list[Candidate]]) -> list[Candidate]:
    """Return candidates that make up the whole row, one after the other; none if there are no such."""
    best: dict[int, Candidate | None] = {row.stop: None}
    for at in reversed(row):
        if at + 3 in best and run.is_date(at):
            best[at] = _DAY
            continue
        unit = next((c for c in by_first.get(at, ()) if c.last in best), None)
        if unit is not None:
            best[at] = unit
    chosen: list[Candidate] = []
    at = row.start
    while at < row.stop:
        unit = best.get(at)
        if unit is None:
            return []
        if unit is _DAY:
            at += 3
            continue
        chosen.append(unit)
        at = unit.last
    return chosen
