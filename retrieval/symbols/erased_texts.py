"""Texts that an owner called secret and that were erased: found again without being known.

Of such a text only keyed marks are kept: one of its first word, so that little is computed, and one of it all.
Linear in the text's length.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from retrieval.symbols.fold import fold
from retrieval.symbols.rules import ErasedText

_UNIT = re.compile(r"[0-9a-z\u00c0-\u024f]+|[^\s\u200b]")
"""A Latin word or number, or any other character: a text never begins or ends inside of one."""
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_HEAD_BYTES = 2  # many words share it, so it tells nothing; few enough that others are hardly ever tried


class _Unit(NamedTuple):
    text: str
    start: int
    end: int


def text_key(erasure_key: bytes) -> bytes:
    """Derive the key of a tenant's erased texts from `pseudonyms.tenant_erasure_key`; it knows no other values."""
    return hmac.digest(erasure_key, b"attest erased texts", hashlib.sha256)


def erased_text(key: bytes, kind: str, text: str, near: str = "") -> ErasedText | None:
    """Return what finds a text without telling it; None for a blank one.

    Args:
        key: of the tenant's erased texts (`text_key`).
        kind: of the secret.
        text: in any writing.
        near: only in lines where this stands.
    """
    units = _units(fold(text).lower())
    if not units:
        return None
    head, mark = _mark(key, units[0].text)[: 2 * _HEAD_BYTES], _mark(key, _joined(units))
    return ErasedText(kind=kind, units=len(units), head=head, mark=mark, near=fold(near).strip().lower())


class ErasedTexts:
    """Finds the erased texts of one tenant. Immutable and safe to share between threads."""

    def __init__(self, erased: Collection[ErasedText], key: bytes) -> None:
        self.key = key
        self.texts = tuple(erased)
        self._by_head: dict[str, list[ErasedText]] = {}
        for each in sorted(erased, key=lambda e: (-e.units, e.mark, e.near, e.kind)):
            self._by_head.setdefault(each.head, []).append(each)

    def find(self, folded: str) -> Iterator[tuple[str, int, int]]:
        """Yield kind, start and end of what was erased, ordered, not overlapping."""
        lowered = folded.lower()
        if len(lowered) != len(folded):
            lowered = folded
        units = _units(lowered)
        beginning: dict[str, list[ErasedText]] = {}
        at = 0
        for index, unit in enumerate(units):
            if unit.text not in beginning:
                beginning[unit.text] = self._by_head.get(_mark(self.key, unit.text)[: 2 * _HEAD_BYTES], [])
            if index < at or not beginning[unit.text]:
                continue
            marks: dict[int, str] = {}
            for each in beginning[unit.text]:
                some = units[index : index + each.units]
                if each.units not in marks:
                    marks[each.units] = _mark(self.key, _joined(some))
                if each.mark == marks[each.units] and each.near in _line(lowered, unit.start, some[-1].end):
                    at = index + each.units
                    yield each.kind, unit.start, some[-1].end
                    break


def _units(lowered: str) -> list[_Unit]:
    if "\u200b" not in lowered:
        return [_Unit(m.group(), m.start(), m.end()) for m in _UNIT.finditer(lowered)]
    places = [place for place, char in enumerate(lowered) if char != "\u200b"]
    packed = lowered.replace("\u200b", "")
    return [_Unit(m.group(), places[m.start()], places[m.end() - 1] + 1) for m in _UNIT.finditer(packed)]


def _joined(units: Collection[_Unit]) -> str:
    """Return one writing of all that fold to it: a gap is one blank, and none between Chinese characters."""
    parts: list[str] = []
    former: _Unit | None = None
    for unit in units:
        if former is not None and former.end < unit.start:
            both = _CHINESE.match(former.text) and _CHINESE.match(unit.text)
            parts.append("" if both else " ")
        parts.append(unit.text)
        former = unit
    return "".join(parts)


def _mark(key: bytes, text: str) -> str:
    return hmac.digest(key, b"attest erased text\x00" + text.encode(), hashlib.sha256).hex()


def _line(text: str, start: int, end: int) -> str:
    begins = text.rfind("\n", 0, start) + 1
    ends = text.find("\n", end)
    return text[begins : ends if ends >= 0 else len(text)]
