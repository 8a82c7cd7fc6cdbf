"""Looks for values in bytes, whatever holds them: text in several encodings, archives, compressed and encoded streams.

For proving that nothing of a secret stands where it must not. It looks at every byte, so free pages of
databases and the ends of half-written files are looked at too.
"""

from __future__ import annotations

import base64
import io
import json
import quopri
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

_WINDOW = 6
"""Bytes by which a value is first noticed."""
_MASK = np.uint64((1 << (8 * _WINDOW)) - 1)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_BITS = 22
_STEP = 2_000_000
_MAX_DEPTH = 4
_MAX_OUTPUT = 64 * 1024 * 1024
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "gbk", "big5")
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_GZIP = re.compile(rb"\x1f\x8b\x08")
_DEFLATED = re.compile(rb"stream\r?\n")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}")
_ENCODED_FILE = 2000
"""Characters of base64 in which there may be more than a text: these are opened further."""
_TASTE = 4096
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Leak:
    """A value that was found."""

    value: str
    place: str
    """The place that was searched, and what was opened on the way, for example `a.pdf > zlib`."""


class LeakSearch:
    """Searches for a set of values. Values of less than six bytes in an encoding are not looked for in that one."""

    def __init__(self, values: Iterable[str]) -> None:
        """Take the values in all the writings that are to be found."""
        self._patterns: dict[bytes, str] = {}
        for value in values:
            for pattern in _patterns(value):
                if len(pattern) >= _WINDOW:
                    self._patterns.setdefault(pattern, value)
        by_head: dict[bytes, list[bytes]] = {}
        for pattern in self._patterns:
            by_head.setdefault(pattern[:_WINDOW], []).append(pattern)
        self._by_head = by_head
        heads = np.array([int.from_bytes(head, "little") for head in by_head], dtype=np.uint64)
        self._seen = np.zeros(1 << _BITS, dtype=np.bool_)
        self._seen[_hashed(heads)] = True

    def search(self, content: bytes, place: str) -> list[Leak]:
        """Return what is found in bytes and in what they contain, each value once for each way to it."""
        return list(dict.fromkeys(self._search(content, place, 0)))

    def _search(self, content: bytes, place: str, depth: int) -> Iterator[Leak]:
        yield from (Leak(value, place) for value in self._plain(content))
        if depth < _MAX_DEPTH:
            for how, inner in _opened(content):
                yield from self._search(inner, f"{place} > {how}", depth + 1)
            for how, inner, further in _decoded(content):
                # Base64 within base64 is not looked for: each level has four readings.
                yield from self._search(inner, f"{place} > {how}", depth + 1 if further else _MAX_DEPTH)

    def _plain(self, content: bytes) -> Iterator[str]:
        for at in range(0, len(content), _STEP):
            # The pieces overlap, so that a head on the border is noticed.
            piece = content[at : at + _STEP + _WINDOW - 1]
            for index in self._noticed(piece):
                head = piece[index : index + _WINDOW]
                for pattern in self._by_head.get(head, ()):
                    if content.startswith(pattern, at + index):
                        yield self._patterns[pattern]

    def _noticed(self, piece: bytes) -> Iterator[int]:
        size = len(piece) - _WINDOW + 1
        if size <= 0:
            return
        octets = np.frombuffer(piece + bytes(8), dtype=np.uint8)
        windows = np.lib.stride_tricks.as_strided(octets, shape=(size, 8), strides=(1, 1))
        words: NDArray[np.uint64] = np.ascontiguousarray(windows).view(np.uint64).reshape(size) & _MASK
        yield from (int(index) for index in np.flatnonzero(self._seen[_hashed(words)]))


def _hashed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (words * _FACTOR) >> np.uint64(64 - _BITS)


def _patterns(value: str) -> Iterator[bytes]:
    for encoding in _ENCODINGS:
        try:
            yield value.encode(encoding)
        except UnicodeEncodeError:
            continue
    plain = value.encode()
    yield json.dumps(value)[1:-1].encode()  # 张 in ASCII
    yield repr(plain)[2:-1].encode()  # \xe5\xbc\xa0 of a log
    yield quote(value).encode()
    yield quopri.encodestring(plain).strip()


def _opened(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what is packed or encoded inside, wherever in the bytes it begins."""
    yield from _zipped(content)
    view = memoryview(content)
    for match in _GZIP.finditer(content):
        yield from _inflated("gzip", view[match.start() :], 31)
    for match in _ZLIB.finditer(content):
        yield from _inflated("zlib", view[match.start() :], 15)
    for match in _DEFLATED.finditer(content):
        # Streams without a header of zlib's.
        yield from _inflated("stream", view[match.end() :], -15)


def _zipped(content: bytes) -> Iterator[tuple[str, bytes]]:
    start = content.find(_ZIP)
    if start < 0:
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content[start:])) as archive:
            for name in archive.namelist():
                yield "zip", name.encode()
                with archive.open(name) as member:
                    yield f"zip/{name}", member.read(_MAX_OUTPUT)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, zlib.error, EOFError, ValueError):
        return


def _inflated(how: str, content: memoryview, bits: int) -> Iterator[tuple[str, bytes]]:
    opener = zlib.decompressobj(bits)
    out = bytearray()
    at, step = 0, _TASTE
    try:
        while at < len(content) and not opener.eof and len(out) < _MAX_OUTPUT:
            out += opener.decompress(content[at : at + step])
            # Two bytes look like a beginning in many places: most are found out by a small taste.
            at, step = at + step, 65536
    except zlib.error:
        pass  # what came out before the damage counts
    if len(out) >= _WINDOW:
        yield how, bytes(out)


def _decoded(content: bytes) -> Iterator[tuple[str, bytes, bool]]:
    """Yield what is written in base64, and whether to open it further; short runs are joined, for there are many."""
    short: tuple[list[bytes], ...] = ([], [], [], [])
    for match in _BASE64.finditer(content):
        joined = match.group().replace(b"\r", b"").replace(b"\n", b"").rstrip(b"=")
        joined = joined.replace(b"-", b"+").replace(b"_", b"/")
        # It may begin within a word of the text around it.
        for shift in range(4):
            part = joined[shift:]
            part = part[:-1] if len(part) % 4 == 1 else part
            decoded = base64.b64decode(part + b"=" * (-len(part) % 4))
            if len(joined) >= _ENCODED_FILE:
                yield "base64", decoded, True
            else:
                short[shift].append(decoded)
    for parts in short:
        if parts:
            yield "base64", b"\n".join(parts), False
