"""The cited texts of one run, read once: their clauses, terms, symbols and periods."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Protocol

from agent.audit.content import blank_out, clause_spans, content_terms, union
from agent.audit.counting import read_counts
from agent.audit.folding import Folded, fold
from agent.audit.grid import Cell, read_cells
from retrieval.language_id import language_of
from retrieval.sentences import sentence_spans
from retrieval.types import Language, Passage, PeriodMatch, Symbol

_UNIT = re.compile(
    r"单位\s*[:：为是]\s*(?:人民币)?\s*([^\s）)|，。,;；]{1,8})"
    r"|[(（]\s*((?:人民币|RMB|USD|US\$|CNY|EUR|HK\$|\$|€|¥)?\s*(?:亿元|万元|百万元|千元|亿|万|百万|millions?|billions?|thousands?|bn|mn|m))\s*[)）]"
    r"|\b(?:in|all\s+figures\s+in)\s+((?:RMB|USD|US\$|CNY|EUR|\$|€|¥)?\s*(?:millions?|billions?|thousands?))\b",
    re.IGNORECASE,
)
"""The unit that a table's caption or header names for its numbers."""
_PREFIX = re.compile(r"(RMB|USD|US\$|CNY|EUR|HK\$|\$|€|¥)\s*(.*)", re.IGNORECASE)


_ROW = re.compile(r"^[^\n|]*\|[^\n|]*\|[^\n]*$", re.MULTILINE)
"""A line with two bars or more."""
_SHORTEST_TITLE = 6
"""A shorter title (`2024`) may as well be a figure of the sentence's own."""


def is_unscaled(symbol: Symbol) -> bool:
    """Tell whether a figure is digits and at most a currency sign: in a table its scale may stand elsewhere."""
    if symbol.kind not in ("number", "amount"):
        return False
    return not re.search(r"[万亿千百]|[A-Za-z]{2,}\s*\Z|\d\s?[kmb]\b|[元圆]", symbol.surface, re.IGNORECASE)


def _shifted(spans: Sequence[tuple[int, int]], offset: int) -> list[tuple[int, int]]:
    return [(start + offset, end + offset) for start, end in spans]


def _apply_unit(figure: str, unit: str) -> str:
    unit = re.sub(r"(million|billion|thousand)s\b", r"\1", unit, flags=re.IGNORECASE)
    prefix = _PREFIX.fullmatch(unit)
    if prefix and figure[:1] not in "-0123456789":  # the figure brings its own currency sign
        return f"{figure} {prefix.group(2)}"
    return f"{prefix.group(1)} {figure} {prefix.group(2)}" if prefix else f"{figure} {unit}"


class SymbolReader(Protocol):
    """The symbol language, as far as the auditor needs it."""

    def read(self, text: str, *, tenant: str, base_date: date | None = None) -> tuple[Symbol, ...]:
        """Return the symbols of `text` in order."""
        ...


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a source and the sentence (for a table: the row) around it."""

    start: int
    end: int
    sentence: int
    own_terms: frozenset[str]
    terms: frozenset[str]
    """`own_terms`; for a table cell with its row's and its column's."""
    sentence_terms: frozenset[str]
    """For a table cell: its row and its column's header."""


class Source:
    """One citable text: a passage or a tool's result."""

    def __init__(self, label: str, text: str, heading: str, reader: SymbolReader, tenant: str) -> None:
        self.label = label
        self.text = text
        self.heading = heading
        self.title = ""
        """The document's title; an answer that names it does not claim the figures in it."""
        self.period_match: PeriodMatch = "unknown"
        self.pages = range(0)
        """The pages the text stands on; empty where the format has none."""
        self._reader = reader
        self._tenant = tenant

    @cached_property
    def language(self) -> Language:
        """The language that carries the text."""
        return language_of(self.text)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols of the text; spans are in `text`."""
        return self._reader.read(self.text, tenant=self._tenant)

    @cached_property
    def figures(self) -> tuple[Symbol, ...]:
        """Symbols and small counts of the text, ordered; table numbers also with the unit their table names."""
        counted = [self._signed(symbol) for symbol in (*self.symbols, *read_counts(self.text, self.symbols))]
        return (*sorted(counted, key=lambda symbol: symbol.start), *self._with_units(counted))

    @cached_property
    def figure_set(self) -> frozenset[Symbol]:
        """`figures`, to tell them from those of the headings."""
        return frozenset(self.figures)

    @cached_property
    def unit(self) -> str | None:
        """The unit that text or headings name for the numbers of a table (`in millions`, `单位：亿元`)."""
        unit = _UNIT.search(self.text) or _UNIT.search(self.heading)
        return next((group for group in unit.groups() if group), None) if unit else None

    def _with_units(self, symbols: Sequence[Symbol]) -> Iterator[Symbol]:
        """Yield the numbers and unscaled amounts of the text's tables once more, in the unit named for them."""
        if self.unit is None:
            return
        has_rows = any(self._is_row(index) for index in range(len(self.sentences)))
        for symbol in symbols:
            if not is_unscaled(symbol) or (has_rows and not self.in_table(symbol.start)):
                continue
            written = [symbol.surface]
            if self._is_bracketed(symbol):
                written.insert(0, f"-{symbol.surface}")  # a loss of 42.7 is stated as either
            for figure in written:
                for read in self._reader.read(_apply_unit(figure, self.unit), tenant=self._tenant):
                    if read.cls == "value" and read.kind in ("amount", "quantity"):
                        surface = f"{figure} {self.unit}"
                        yield read.model_copy(update={"start": symbol.start, "end": symbol.end, "surface": surface})

    def _signed(self, symbol: Symbol) -> Symbol:
        """A percentage in a table's brackets has fallen."""
        if symbol.kind not in ("percent", "percent_points") or symbol.normal.startswith("-"):
            return symbol
        if not (self._is_bracketed(symbol) and self.in_table(symbol.start)):
            return symbol
        return symbol.model_copy(update={"normal": f"-{symbol.normal}"})

    def _is_bracketed(self, symbol: Symbol) -> bool:
        before, after = self.text[max(0, symbol.start - 3) : symbol.start], self.text[symbol.end : symbol.end + 3]
        return before.rstrip().endswith("(") and after.lstrip().startswith(")")

    def in_table(self, position: int) -> bool:
        """Tell whether a character stands in a table's row."""
        return self._is_row(bisect_right([start for start, _ in self.sentences], position) - 1)

    @cached_property
    def heading_symbols(self) -> tuple[Symbol, ...]:
        """The symbols of title and headings; spans are not in `text`."""
        return self._reader.read(self.heading, tenant=self._tenant) if self.heading else ()

    @cached_property
    def folded(self) -> Folded:
        """The text folded for verbatim search."""
        return fold(self.text)

    @cached_property
    def heading_terms(self) -> frozenset[str]:
        """Content terms of title and headings."""
        return content_terms(self.heading)

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Sentence spans in `text`; a table's row is one, whatever stops (`Comp.`) stand in it."""
        found: list[tuple[int, int]] = []
        prose = 0
        for row in _ROW.finditer(self.text):
            found += _shifted(sentence_spans(self.text[prose : row.start()]), prose)
            found.append(row.span())
            prose = row.end()
        return found + _shifted(sentence_spans(self.text[prose:]), prose)

    @cached_property
    def sentence_terms(self) -> list[frozenset[str]]:
        """Content terms of each sentence."""
        found: list[frozenset[str]] = [frozenset()] * len(self.sentences)
        for clause in self.clauses:
            found[clause.sentence] |= clause.own_terms
        return found

    @cached_property
    def terms(self) -> frozenset[str]:
        """Content terms of text and headings."""
        return union([self.heading_terms, *(clause.own_terms for clause in self.clauses)])

    @cached_property
    def clauses(self) -> list[Clause]:
        """Clauses in order."""
        found: list[Clause] = []
        header: list[str] = []
        bare = blank_out(self.text, self.symbols)
        for index, (start, end) in enumerate(self.sentences):
            line = bare[start:end]
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.count("|") >= 2 else []
            if cells and not header:
                header = cells
            elif not cells:
                header = []
            first_clause = len(found)
            row = content_terms(cells[0]) if cells else frozenset[str]()
            for first, last in clause_spans(line):
                column = line.count("|", 0, first) - line.startswith("|")
                extra = content_terms(header[column]) if cells and 0 <= column < len(header) else frozenset[str]()
                own = content_terms(line[first:last])
                found.append(Clause(start + first, start + last, index, own, own | extra | row, row | extra))
            if not cells:
                whole = union(clause.own_terms for clause in found[first_clause:])
                found[first_clause:] = [replace(clause, sentence_terms=whole) for clause in found[first_clause:]]
        return found

    @cached_property
    def _clause_starts(self) -> list[int]:
        return [clause.start for clause in self.clauses]

    def clause_at(self, position: int) -> Clause | None:
        """Return the clause around a character of the text."""
        index = bisect_right(self._clause_starts, position) - 1
        return self.clauses[index] if index >= 0 else None

    @cached_property
    def _term_counts(self) -> Counter[str]:
        return Counter(term for terms in self.sentence_terms for term in terms)

    def named_share(self, clause: Clause, terms: frozenset[str]) -> float:
        """Return which share of what a clause's sentence is about `terms` name; those of many sentences count less."""
        about = clause.sentence_terms
        weights = {term: 1 / (self._term_counts[term] or 1) for term in about}
        total = sum(weights.values())
        return sum(weight for term, weight in weights.items() if term in terms) / total if total else 0.0

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells of the text's tables that stand below a header, in order."""
        rows = [span for index, span in enumerate(self.sentences) if self._is_row(index)]
        return read_cells(self.text, rows)

    @cached_property
    def head_terms(self) -> frozenset[str]:
        """The terms of all heads of the tables."""
        return union(cell.terms | cell.group_terms for cell in self.cells)

    @cached_property
    def _cell_starts(self) -> list[int]:
        return [cell.start for cell in self.cells]

    def cell_at(self, position: int) -> Cell | None:
        """Return the table cell around a character; None outside a table and in its header."""
        index = bisect_right(self._cell_starts, position) - 1
        return self.cells[index] if index >= 0 and position < self.cells[index].end else None

    def _is_row(self, index: int) -> bool:
        start, end = self.sentences[index]
        return self.text.count("|", start, end) >= 2

    def sentence_at(self, position: int) -> tuple[int, int]:
        """Return the span of the sentence around a character of the text."""
        index = bisect_right([start for start, _ in self.sentences], position) - 1
        return self.sentences[index] if index >= 0 else (0, len(self.text))


class SourceBook:
    """Finds the text behind a label; reads each text at most once."""

    def __init__(
        self, passages: Sequence[Passage], tool_results: Mapping[str, str], reader: SymbolReader, tenant: str
    ) -> None:
        self._passages = {passage.label: passage for passage in passages}
        self._tool_results = tool_results
        self._reader = reader
        self._tenant = tenant
        self._read: dict[str, Source] = {}

    def get(self, label: str) -> Source | None:
        """Return the source of a label; None when no text is at hand for it."""
        if label not in self._read:
            passage, result = self._passages.get(label), self._tool_results.get(label)
            if passage is not None:
                chunk = passage.chunk
                heading = "\n".join(part for part in (chunk.title, *chunk.heading_path) if part)
                source = Source(label, passage.evidence_text, heading, self._reader, self._tenant)
                source.title = chunk.title
                source.period_match = passage.period_match
                if chunk.page_start is not None:
                    source.pages = range(chunk.page_start, (chunk.page_end or chunk.page_start) + 1)
            elif result is not None:
                source = Source(label, result, "", self._reader, self._tenant)
            else:
                return None
            self._read[label] = source
        return self._read[label]


def outside_titles(symbols: Sequence[Symbol], text: str, sources: Sequence[Source]) -> tuple[Symbol, ...]:
    """Return the symbols that do not lie in the title of a cited document (`《2024 年度报告》第 3 页：…`)."""
    named = [
        (match.start(), match.end())
        for source in sources
        if len(source.title) >= _SHORTEST_TITLE
        for match in re.finditer(re.escape(source.title), text, re.IGNORECASE)
    ]
    return tuple(s for s in symbols if not any(start <= s.start and s.end <= end for start, end in named))
