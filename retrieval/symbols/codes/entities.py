"""Names of the approved glossary: one organisation or term, whichever language or writing its name is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from retrieval.symbols.fold import fold
from retrieval.symbols.found import Found
from retrieval.symbols.rules import Entity

_LATIN = "A-Za-z0-9_\u00c0-\u024f"
_IS_LATIN = re.compile(f"[{_LATIN}]")
_IS_HAN = re.compile("[\u3400-\u9fff\U00020000-\U000323af]")
_ALIKE = ("'\u2018\u2019\u02bc", "-\u2010\u2011\u2013", ",\uff0c")
"""Characters that stand for each other in names; folding leaves them apart."""
_INITIALS = re.compile(r"[A-Z]{1,2}")
"""So short that in small letters they are words: IT, US."""


class _Tree(dict[str, "_Tree"]):
    """Names by the patterns of their characters; an empty pattern ends one."""


class EntityReader:
    """Reads the names of one glossary. Safe to share between threads.

    Latin names match whole words in any case, except names of two capitals, which match as
    written. Between words any space or line end will do.
    """

    def __init__(self, glossary: Sequence[Entity]) -> None:
        names: dict[str, str | None] = {}
        for entity in glossary:
            for word in entity.not_in:
                names.setdefault(fold(word), None)
        for entity in glossary:
            for name in entity.names:
                names[fold(name)] = entity.entity_id
        self._ids = {_key(name): entity_id for name, entity_id in names.items()}
        self._by_start: dict[str, list[str]] = {}
        for name in names:
            self._by_start.setdefault(_start(name), []).append(name)
        self._starts = re.compile(_starts(self._by_start))
        self._patterns: dict[str, re.Pattern[str]] = {}
        """By start, made when first met: a pattern costs 0.4 ms a name, and most texts meet few."""

    def find(self, text: str) -> list[Found]:
        """Return the names in a folded text; linear in its length.

        Names may overlap (`found.settle` keeps the longest); a name inside a `not_in` word is none.
        """
        found: list[Found] = []
        closed = 0  # end of the last word that is no name, whatever it contains
        for match in self._starts.finditer(text):
            start = match.start()
            end = self._end(text, start)
            if end == start:
                continue
            entity_id = self._ids[_key(text[start:end])]
            if entity_id is None:
                closed = max(closed, end)
            elif end > closed:
                found.append(Found("code", "entity", entity_id, f"[ENTITY_{entity_id}]", start, end))
        return found

    def _end(self, text: str, start: int) -> int:
        """Return where the longest name that starts here ends; `start` if there is none."""
        two = text[start : start + 2].lower()
        end = start
        for key in (two, two[:1]):
            names = self._by_start.get(key)
            if names is None:
                continue
            pattern = self._patterns.get(key)
            if pattern is None:
                pattern = self._patterns[key] = re.compile(_any_of(names), re.IGNORECASE)
            if match := pattern.match(text, start):
                end = max(end, match.end())
        return end


def _start(name: str) -> str:
    """Return the two characters a name surely begins with, one where the second may be written otherwise."""
    return (
        name[:2].lower() if len(name) > 1 and _plain(name[1]) and not _is_border(name[0], name[1]) else name[0].lower()
    )


def _starts(names: Iterable[str]) -> str:
    """Write a pattern of all beginnings, grouped by first character so that the engine skips to those."""
    seconds: dict[str, set[str]] = {}
    for start in names:
        for head in {start[0].lower(), start[0].upper()}:
            if len(head) == 1:
                seconds.setdefault(head, set()).add(start[1:])
    branches: list[str] = []
    for head, some in sorted(seconds.items()):
        bound = f"(?<![{_LATIN}].)" if _IS_LATIN.match(head) else ""
        written = {case for second in some if second for case in (second.lower(), second.upper()) if len(case) == 1}
        follows = "" if "" in some else f"(?=[{re.escape(''.join(sorted(written)))}])"
        branches.append(re.escape(head) + follows + bound)  # the cheaper test that refuses more goes first
    return "|".join(branches) or r"(?!)"


def _any_of(names: Iterable[str]) -> str:
    """Write a pattern of all names, the longest first, that looks at each character of a text once."""
    root = _Tree()
    for name in names:
        node = root
        for part in _written(name):
            node = node.setdefault(part, _Tree())
        node[""] = _Tree()
    return _pattern(root)


def _pattern(tree: _Tree) -> str:
    parts: list[str] = []
    while len(tree) == 1:  # no group where there is no choice
        ((part, tree),) = tree.items()
        parts.append(part)
    if tree:  # the end of a name comes last, so that a longer name goes before it
        branches = (part + _pattern(rest) for part, rest in sorted(tree.items(), reverse=True))
        parts.append(f"(?:{'|'.join(branches)})")
    return "".join(parts)


def _written(name: str) -> list[str]:
    """Write a name as the patterns of its characters in all their writings, one after the other."""
    parts: list[str] = []
    for at, char in enumerate(name):
        if char.isspace():
            if not name[at - 1].isspace():
                parts.append(r"\s{1,3}")
            continue
        space = r"\s?" if at and _is_border(name[at - 1], char) else ""
        parts.append(space + (f"(?-i:{char})" if _INITIALS.fullmatch(name) else _character(char)))
    if _IS_LATIN.match(name[-1]):
        parts.append(f"(?![{_LATIN}])")
    return parts


def _character(char: str) -> str:
    return next((f"[{re.escape(some)}]" for some in _ALIKE if char in some), re.escape(char))


def _plain(char: str) -> bool:
    return not char.isspace() and _character(char) == re.escape(char)


def _is_border(left: str, right: str) -> bool:
    """Tell whether a space is often set here, and often not: between Chinese and other writing."""
    return not left.isspace() and not right.isspace() and bool(_IS_HAN.match(left)) != bool(_IS_HAN.match(right))


_SAME: Mapping[int, str] = {ord(char): some[0] for some in _ALIKE for char in some}


def _key(name: str) -> str:
    """Return what all writings of a name share."""
    return "".join(name.translate(_SAME).lower().split())
