"""What owners said of symbols that the rules got wrong or missed, applied to a folded text.

A corrected text is found in every writing that folds to it, in capitals or not, over a line's end
where it is Chinese, and as a word of its own where it is Latin or a number. Linear in the text's
length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from retrieval.symbols.fold import fold
from retrieval.symbols.rules import Correction
from retrieval.symbols.secrets.found import SecretFound

_SPACE = re.compile(r"\s")
_WRITING = re.compile(r"[\W_]+")
_WORD = re.compile(r"[0-9A-Za-z\u00c0-\u024f]")
_CHINESE = re.compile(r"[\u3400-\u9fff]")


def plain(text: str) -> str:
    """Return a text without all in which writings of one value differ: width, case, spaces, punctuation."""
    return _WRITING.sub("", fold(text).lower())


class CorrectionReader:
    """Applies the corrections of one tenant. Immutable and safe to share between threads."""

    def __init__(self, corrections: Collection[Correction]) -> None:
        self._secrets = _Texts([each for each in corrections if each.verdict == "secret"])
        self._unread = _Texts([each for each in corrections if each.verdict == "not_symbol"])
        self._allowed: dict[str, list[str]] = {}
        for each in corrections:
            if each.verdict == "not_secret":
                self._allowed.setdefault(plain(each.text), []).append(_line_of(each.near))

    def secrets(self, folded: str) -> list[SecretFound]:
        """Return what is to be hidden in a folded text, ordered by start, not overlapping."""
        return [
            SecretFound(correction.kind, _value(correction.text), start, end)
            for correction, start, end in self._secrets.find(folded)
        ]

    def is_no_secret(self, folded: str, found: SecretFound) -> bool:
        """Tell whether a finding was said to be no secret, here or everywhere."""
        if not self._allowed:
            return False
        for key in (plain(found.value), plain(folded[found.start : found.end])):
            for near in self._allowed.get(key, ()):
                if not near or near in _line(folded.lower(), found.start, found.end):
                    return True
        return False

    def unread(self, folded: str) -> list[tuple[int, int]]:
        """Return the stretches of a folded text where no code or value stands, ordered, not overlapping."""
        return [(start, end) for _, start, end in self._unread.find(folded)]


class _Texts:
    """Finds the texts of corrections, the longer before the shorter."""

    def __init__(self, corrections: Collection[Correction]) -> None:
        by_pattern: dict[str, list[Correction]] = {}
        first: dict[str, str] = {}
        for each in sorted(corrections, key=lambda c: (-len(c.text), c.text, c.near, c.kind)):
            if pattern := _pattern(each.text):
                by_pattern.setdefault(pattern, []).append(each)
                first[pattern] = fold(each.text).strip("\u200b \t\r\n").lower()[0]
        self._by_first: dict[str, list[tuple[re.Pattern[str], list[Correction]]]] = {}
        for pattern, same in by_pattern.items():
            self._by_first.setdefault(first[pattern], []).append((re.compile(pattern), same))
        # Only where one of them may begin is anything tried: no text costs more for many corrections.
        self._begins = re.compile("[" + re.escape("".join(self._by_first)) + "]") if self._by_first else None

    def find(self, folded: str) -> Iterator[tuple[Correction, int, int]]:
        """Yield correction, start and end."""
        if self._begins is None:
            return
        lowered = folded.lower()
        if len(lowered) != len(folded):
            lowered = folded
        at = 0
        for begin in self._begins.finditer(lowered):
            start = begin.start()
            if start < at or (start and _WORD.match(lowered[start]) and _WORD.match(lowered[start - 1])):
                continue
            found = self._at(lowered, start)
            if found is not None:
                yield found
                at = found[2]

    def _at(self, lowered: str, start: int) -> tuple[Correction, int, int] | None:
        for pattern, same in self._by_first[lowered[start]]:
            match = pattern.match(lowered, start)
            if match is None:
                continue
            end = match.end()
            if end < len(lowered) and _WORD.match(lowered[end - 1]) and _WORD.match(lowered[end]):
                continue
            for each in same:
                near = _line_of(each.near)
                if not near or near in _line(lowered, start, end):
                    return each, start, end
        return None


def _pattern(text: str) -> str:
    """Return the pattern of a text in folded, lower-case texts; empty for a blank one."""
    folded = fold(text).strip().lower()
    parts: list[str] = []
    former = ""
    for char in folded:
        if _SPACE.match(char):
            if not _SPACE.match(former):
                parts.append(r"[\s\u200b]{1,8}")
        elif char != "\u200b":
            if former and not _SPACE.match(former):
                both = _CHINESE.match(former) and _CHINESE.match(char)
                parts.append(r"[\s\u200b]?" if both else r"\u200b?")
            parts.append(re.escape(char))
        else:
            continue
        former = char
    return "".join(parts)


def _line(text: str, start: int, end: int) -> str:
    begins = text.rfind("\n", 0, start) + 1
    ends = text.find("\n", end)
    return text[begins : ends if ends >= 0 else len(text)]


def _line_of(near: str) -> str:
    return fold(near).strip().lower()


def _value(text: str) -> str:
    """Return the value that is kept: the text as it was given, on one line and half-width."""
    return " ".join(fold(text).replace("\u200b", "").split())
