"""TAR archives, plain or compressed: told by the header of their first member."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable

_BLOCK = 512
_MAGIC = b"ustar"
_MAGIC_AT = 257
_MAX_MEMORY = 64 * 1024 * 1024


def is_tar(head: bytes) -> bool:
    """Tell whether a file that begins with `head` (some kilobytes) is a TAR archive."""
    return _first_block(head)[_MAGIC_AT:].startswith(_MAGIC)


def compression_of(head: bytes) -> str | None:
    """Return `gzip`, `bzip2` or `xz` by the first bytes of a file; None for others."""
    return next((name for name, (magic, _) in _COMPRESSIONS.items() if head.startswith(magic)), None)


def _first_block(head: bytes) -> bytes:
    name = compression_of(head)
    if name is None:
        return head[:_BLOCK]
    try:
        return _COMPRESSIONS[name][1](head)
    except (zlib.error, OSError, EOFError, lzma.LZMAError, MemoryError):
        return b""


def _gunzip(head: bytes) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(head, _BLOCK)


def _bunzip2(head: bytes) -> bytes:
    return bz2.BZ2Decompressor().decompress(head, _BLOCK)


def _unxz(head: bytes) -> bytes:
    return lzma.LZMADecompressor(memlimit=_MAX_MEMORY).decompress(head, _BLOCK)


_COMPRESSIONS: dict[str, tuple[bytes, Callable[[bytes], bytes]]] = {
    "gzip": (b"\x1f\x8b\x08", _gunzip),
    "bzip2": (b"BZh", _bunzip2),
    "xz": (b"\xfd7zXZ\x00", _unxz),
}
