"""Looks for values in bytes, whatever holds them: text in several encodings, archives, compressed and encoded streams.

For proving that nothing of a secret stands where it must not. It looks at every byte, so free pages of
databases and the ends of half-written files are looked at too.
"""

from __future__ import annotations

import base64
import binascii
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
_STEP = 4_000_000
_MAX_DEPTH = 4
_MAX_OUTPUT = 64 * 1024 * 1024
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "gbk", "big5")
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_GZIP = re.compile(rb"\x1f\x8b\x08")
_DEFLATED = re.compile(rb"stream\r?\n")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}")
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
        self._heads = np.array([int.from_bytes(head, "little") for head in by_head], dtype=np.uint64)

    def search(self, content: bytes, place: str) -> list[Leak]:
        """Return what is found in bytes and in what they contain, each value once for each way to it."""
        return list(dict.fromkeys(self._search(content, place, 0)))

    def _search(self, content: bytes, place: str, depth: int) -> Iterator[Leak]:
        yield from (Leak(value, place) for value in self._plain(content))
        if depth < _MAX_DEPTH:
            for how, inner in _opened(content):
                yield from self._search(inner, f"{place} > {how}", depth + 1)

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
        padded = np.frombuffer(piece + bytes(8), dtype=np.uint8)
        words: NDArray[np.uint64] = (
            np.lib.stride_tricks
            .as_strided(padded.view(np.uint8), shape=(size, 8), strides=(1, 1))
            .copy()
            .view(np.uint64)
            .reshape(size)
            & _MASK
        )
        yield from (int(index) for index in np.flatnonzero(np.isin(words, self._heads)))


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
    for match in _GZIP.finditer(content):
        yield from _inflated("gzip", content[match.start() :], 31)
    for match in _ZLIB.finditer(content):
        yield from _inflated("zlib", content[match.start() :], 15)
    for match in _DEFLATED.finditer(content):
        # Streams without a header of zlib's.
        yield from _inflated("stream", content[match.end() :], -15)
    for match in _BASE64.finditer(content):
        yield from _decoded(match.group())


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


def _inflated(how: str, content: bytes, bits: int) -> Iterator[tuple[str, bytes]]:
    opener = zlib.decompressobj(bits)
    out = bytearray()
    try:
        for at in range(0, len(content), 65536):
            out += opener.decompress(content[at : at + 65536], _MAX_OUTPUT)
            if opener.eof or len(out) > _MAX_OUTPUT:
                break
    except zlib.error:
        pass  # what came out before the damage counts
    if len(out) >= _WINDOW:
        yield how, bytes(out)


def _decoded(run: bytes) -> Iterator[tuple[str, bytes]]:
    joined = run.replace(b"\r", b"").replace(b"\n", b"").rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    # It may begin within a word of the text around it.
    for shift in range(4):
        part = joined[shift:]
        part = part[:-1] if len(part) % 4 == 1 else part
        try:
            yield "base64", base64.b64decode(part + b"=" * (-len(part) % 4))
        except binascii.Error:
            continue
