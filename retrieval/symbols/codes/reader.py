"""Codes of closed vocabularies, recognised only where the context says that they are meant."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retrieval.symbols.codes.domain import Vocabulary
from retrieval.symbols.fold import fold
from retrieval.symbols.found import Found

# What may stand between a code and the word right beside it: 风险等级为“C1”, rated 'A'.
_LINK = (
    r"[\s\"'“”‘’「」()\[\]:|]{0,3}(?:为|是|由|从|of|is|was|were|至|到|to|at|by|as|from)?[\s\"'“”‘’「」()\[\]:|]{0,3}"
)
# What joins codes that one word beside them holds for: 保守型、谨慎型客户, from cautious to balanced investors.
_JOIN = (
    r"[\s\"'“”‘’「」]{0,3}(?:[、,，/→]|->|和|与|及|或者?|以及|[终直]?至|到|(?:变更|调整|变|改|调|升|降|上调|下调)[为至到]|and|or|to)"
    r"[\s\"'“”‘’「」]{0,3}"
)
_REMARK = r"(?:\s?\([^()]{0,16}\))?"
_WINDOW = 48
_CELL_RANGE_AFTER = re.compile(r":\$?[A-Z]{1,3}\$?[0-9]|[$!=]")
_CELL_BEFORE = re.compile(r"(?:[A-Z]{1,3}\$?[0-9]{1,5}[:+*]|[$!=])\Z")
_CLAUSE_END = re.compile(r"[，,；;。！？!?\n|]|\.(?=\s)")
_SENTENCE_END = re.compile(r"[。！？!?；;\n]+|\.(?=\s)")


@dataclass(frozen=True, slots=True)
class _Writing:
    code: str
    strict: bool


class CodeReader:
    """Reads the codes of one vocabulary; compiled once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        context = vocabulary.context
        self._vocabulary = vocabulary
        self._writings: dict[str, _Writing] = {}
        for code in vocabulary.codes:
            for word in {code.code, *code.aliases}:
                self._writings[self._key(fold(word))] = _Writing(code.code, code.strict and word == code.code)
            for word in code.names:
                self._writings[self._key(fold(word))] = _Writing(code.code, strict=True)
        self._alias = re.compile(_anchored(self._writings, vocabulary.case_sensitive))
        self._near = _words({*context.near, *context.adjacent, *context.no_context})
        self._no_context = frozenset(_collapsed(fold(word)).lower() for word in context.no_context)
        self._not_near = _words(context.not_near) if context.not_near else None
        self._not_in_clause = _words(context.not_in_clause) if context.not_in_clause else None
        adjacent = _alternation(map(fold, context.adjacent)) if context.adjacent else r"(?!)"
        code = self._alias.pattern
        self._adjacent_before = re.compile(rf"(?i:{adjacent}){_LINK}(?:{code}{_JOIN}){{0,4}}\Z")
        self._adjacent_after = re.compile(rf"(?:{_JOIN}{code}){{0,4}}{_LINK}(?i:{adjacent})")
        plain = _anchored((w for w, written in self._writings.items() if not written.strict), vocabulary.case_sensitive)
        self._plain_before = re.compile(rf"{plain}{_REMARK}{_JOIN}\Z")
        self._plain_after = re.compile(rf"{_REMARK}{_JOIN}{plain}|[\s\"”’」]{{0,3}}\({plain}\)")
        self._not_before = _edge(context.not_before, before=True)
        self._not_after = _edge(context.not_after, before=False)

    @property
    def token_prefix(self) -> str:
        """The word that begins this vocabulary's tokens."""
        return self._vocabulary.token_prefix

    def find(self, text: str) -> list[Found]:
        """Return the codes of a folded text; linear in its length."""
        candidates = [m for m in self._alias.finditer(text) if self._is_meant(text, m)]
        if not candidates:
            return []
        near = [m.span() for m in self._near.finditer(text) if not self._tells_nothing(m.group())]
        if not near:
            return []
        scene = _Scene(text, near, [m.span() for m in self._not_near.finditer(text)] if self._not_near else [])
        admitted = [m for m in candidates if scene.admits(*m.span())]
        if admitted and self._not_in_clause is not None:
            admitted = _outside_clauses(text, admitted, [m.start() for m in self._not_in_clause.finditer(text)])
        return [self._found(m) for m in admitted]

    def _is_meant(self, text: str, match: re.Match[str]) -> bool:
        """Judge a candidate by what stands right beside it."""
        start, end = match.span()
        before, after = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
        if _CELL_BEFORE.search(before) or _CELL_RANGE_AFTER.match(after):
            return False
        if (self._not_before and self._not_before.search(before)) or (self._not_after and self._not_after.match(after)):
            return False
        if not self._writings[self._key(match.group())].strict:
            return True
        if (beside := self._adjacent_before.search(before)) and not self._is_inside_longer(before, beside):
            return True
        if self._adjacent_after.match(after):
            return True
        # Beside a code that is no ordinary word it is one itself: AA, A+ and A; high-risk (R5).
        return bool(self._plain_after.match(after) or self._plain_before.search(before))

    def _found(self, match: re.Match[str]) -> Found:
        code = self._writings[self._key(match.group())].code
        token = f"[{self._vocabulary.token_prefix}_{code}]"
        return Found("code", self._vocabulary.namespace, code, token, match.start(), match.end())

    def _is_inside_longer(self, before: str, word: re.Match[str]) -> bool:
        """Tell whether the word right before a code ends one that tells nothing: 绩效评级 for 评级."""
        if not self._no_context:
            return False
        nothing = (m for m in self._near.finditer(before) if self._tells_nothing(m.group()))
        return any(m.start() <= word.start() < m.end() for m in nothing)

    def _tells_nothing(self, word: str) -> bool:
        return bool(self._no_context) and _collapsed(word).lower() in self._no_context

    def _key(self, word: str) -> str:
        return _collapsed(word) if self._vocabulary.case_sensitive else _collapsed(word).lower()


class _Scene:
    """Where the context words of one text stand, and where its sentences end."""

    def __init__(self, text: str, near: Sequence[tuple[int, int]], not_near: Sequence[tuple[int, int]]) -> None:
        self._near, self._not_near = near, not_near
        self._near_starts = [s for s, _ in near]
        self._not_near_starts = [s for s, _ in not_near]
        self._ends = _sentence_ends(text)

    def admits(self, start: int, end: int) -> bool:
        """Tell whether a near word stands in reach, and no refusing word stands nearer."""
        index = bisect_right(self._ends, start)
        first = self._ends[index - 1] if index else 0
        earlier = self._ends[index - 2] if index > 1 else 0
        last = self._ends[index] if index < len(self._ends) else 1 << 62
        distance = _distance(self._near, self._near_starts, (start, end), (earlier, last))
        if distance is None:
            return False
        refusal = _distance(self._not_near, self._not_near_starts, (start, end), (first, last))
        return refusal is None or distance < refusal


def _outside_clauses(text: str, codes: Sequence[re.Match[str]], refusals: Sequence[int]) -> list[re.Match[str]]:
    """Return the codes in whose clause no refusing word begins."""
    if not refusals:
        return list(codes)
    ends = [m.end() for m in _CLAUSE_END.finditer(text)]
    refused = {bisect_right(ends, start) for start in refusals}
    return [code for code in codes if bisect_right(ends, code.start()) not in refused]


def _distance(
    words: Sequence[tuple[int, int]], starts: Sequence[int], span: tuple[int, int], reach: tuple[int, int]
) -> int | None:
    """Return the characters between `span` and the nearest word in reach; None if there is none."""
    at = bisect_left(starts, span[0])
    gaps: list[int] = []
    if at < len(words) and words[at][0] < reach[1]:
        gaps.append(max(0, words[at][0] - span[1]))
    if at > 0 and words[at - 1][0] >= reach[0]:
        gaps.append(max(0, span[0] - words[at - 1][1]))
    return min(gaps, default=None)


def _sentence_ends(text: str) -> list[int]:
    """Return where sentences end; the rows of a table are one sentence."""
    ends: list[int] = []
    for match in _SENTENCE_END.finditer(text):
        if match.group() == "\n" and _is_row(text, match.end()):
            continue
        ends.append(match.end())
    return ends


def _is_row(text: str, start: int) -> bool:
    line = text[start : start + 400].split("\n", 1)[0]
    return "|" in line or "\t" in line


def _anchored(words: Iterable[str], case_sensitive: bool, *, after_hyphen: bool = False) -> str:
    """Build an alternation grouped by first character.

    Every branch begins with one plain character, so the engine skips to those characters and tries
    a single branch there: 10 times faster than trying every word at every position.
    """
    by_head: dict[str, list[str]] = {}
    for word in words:
        for head in {word[0]} if case_sensitive else {*word[0].lower(), *word[0].upper()}:
            by_head.setdefault(head, []).append(word)
    branches: list[str] = []
    for head, group in sorted(by_head.items()):
        bound = ""
        if head.isascii() and head.isalnum():
            bound = r"(?<![A-Za-z0-9_].)" + ("" if after_hyphen else r"(?<![A-Za-z0-9]-.)")
        tails = "|".join(_tail(w) for w in sorted(group, key=len, reverse=True))
        branches.append(f"{re.escape(head)}{bound}(?{'' if case_sensitive else 'i'}:{tails})")
    return f"(?:{'|'.join(branches) or '(?!)'})"


def _alternation(words: Iterable[str]) -> str:
    return "(?:" + "|".join(_bounded(w) for w in sorted(set(words), key=len, reverse=True)) + ")"


def _bounded(word: str) -> str:
    """Escape a word so that it does not match inside a longer Latin word, number or rating."""
    head = r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9]-)" if word[0].isascii() and word[0].isalnum() else ""
    return head + re.escape(word[0]) + _tail(word)


def _tail(word: str) -> str:
    body = r"\s{1,2}".join(re.escape(part) for part in word[1:].split(" "))
    if not word[-1].isascii():
        return body
    return body + (r"(?![A-Za-z0-9_])" if word[-1].isalnum() else r"(?![A-Za-z0-9_+-])")


def _words(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(_anchored(map(fold, words), case_sensitive=False, after_hyphen=True))


def _edge(words: Sequence[str], *, before: bool) -> re.Pattern[str] | None:
    if not words:
        return None
    body = "|".join(re.escape(fold(w)) for w in sorted(words, key=len, reverse=True))
    pattern = rf"(?:{body})(?:[\s:为是-]\s?)?\Z" if before else rf"[\s-]?(?:{body})"
    return re.compile(pattern, re.IGNORECASE)


def _collapsed(word: str) -> str:
    return " ".join(word.split())
