"""IP addresses of both versions; kept as written in the index text. Version and section numbers are none."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from retrieval.symbols.found import Found

# Begins at a dot: `re` searches that by memory search, and tables have more digits than dots.
_THREE_DOTS = re.compile(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?![0-9A-Za-z_])(?!\.[0-9])")
_FIRST = re.compile(r"(?:(?<![0-9A-Za-z_.])|(?<=[iI][pP])(?<![0-9A-Za-z]..))[0-9]{1,3}\Z")
_COLONS = re.compile(r":[0-9A-Fa-f]{0,4}:")
_V6_CHARS = frozenset("0123456789abcdefABCDEF:.")
_LONGEST_V6 = 45

_VERSION_BEFORE = re.compile(
    r"(?:版本号?|固件|(?<![A-Za-z])(?:v|ver|version|versions|release|firmware|build|section|sections|sec|§|clause|chapter|article|paragraph|para|item|step|table|figure|fig|annex|appendix|oid)|第|节|条|款)"
    r"\.?\s?[:为是]?\s?\Z",
    re.I,
)
_SECTION_AFTER = re.compile(r"\s?[节条款章版]")
# `1.2.3.4 Scope` at the head of a line, with small numbers only.
_HEADING_AFTER = re.compile(r"\.?[ \t]+[A-Z\u4e00-\u9fff]")
_HEAD_OF_LINE = re.compile(r"(?:\A|\n)[\s#*•>-]*\Z")
_LARGEST_SECTION = 30
_LAST_CHAPTER = 9  # 10.1.2.3 is the address of a private network before it is a section


def find_ip_addresses(text: str) -> Iterator[Found]:
    """Yield the addresses of a folded text; the normal form is the dotted quad or the one of RFC 5952."""
    for match in _THREE_DOTS.finditer(text):
        first = _FIRST.search(text, max(0, match.start() - 4), match.start())
        if first:
            found = _address(text, first.start(), match.end())
            if found and not _is_numbering(text, found):
                yield found
    if "::" in text or text.count(":") >= 7:
        yield from _find_v6(text)


def _find_v6(text: str) -> Iterator[Found]:
    done = 0
    for match in _COLONS.finditer(text):
        if match.start() < done:
            continue
        start, end = match.span()
        while start > max(done, match.start() - _LONGEST_V6) and text[start - 1] in _V6_CHARS:
            start -= 1
        while end < min(len(text), match.end() + _LONGEST_V6) and text[end] in _V6_CHARS:
            end += 1
        done = end
        end -= len(text[start:end]) - len(text[start:end].rstrip("."))
        if text[end - 1] == ":" and text[end - 2] != ":":
            end -= 1
        if text[start] == ":" and text[start + 1 : start + 2] != ":":
            start += 1
        if _in_word(text, start, end) or not any(c.isdigit() for c in text[start:end]):
            continue  # std::vector
        found = _address(text, start, end)
        if found:
            yield found


def _in_word(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return any(c == "_" or (c.isascii() and c.isalnum()) for c in around)


def _address(text: str, start: int, end: int) -> Found | None:
    try:
        address = ipaddress.ip_address(text[start:end])
    except ValueError:
        return None
    normal = address.compressed
    return Found("value", "ip_address", normal, normal, start, end)


def _is_numbering(text: str, found: Found) -> bool:
    if _VERSION_BEFORE.search(text, max(0, found.start - 16), found.start) or _SECTION_AFTER.match(text, found.end):
        return True
    numbers = [int(part) for part in found.normal.split(".")]
    return (
        numbers[0] <= _LAST_CHAPTER
        and all(0 < number <= _LARGEST_SECTION for number in numbers)
        and _HEAD_OF_LINE.search(text[max(0, found.start - 24) : found.start]) is not None
        and _HEADING_AFTER.match(text, found.end) is not None
    )
