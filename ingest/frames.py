"""Frames between the parser process and its parent: one byte of kind, four of length, then the body.

Bodies are JSON, or raw bytes of an attachment. The reader takes the stream in any pieces
and holds no more than one frame, so that neither side ever holds a whole result.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

MAX_BODY = 64 * 1024 * 1024
"""Bytes of one frame. A block is the smallest thing sent whole; none that serves a search comes near."""
_HEAD = struct.Struct(">BI")


class FrameKind(IntEnum):
    """What a frame's body is."""

    READY = 1
    """The process has imported what it needs. Empty."""
    REQUEST = 2
    """JSON: a file to parse, its limits."""
    PROGRESS = 3
    """JSON: pages done, pages in all."""
    BLOCKS = 4
    """JSON: some blocks of the document, in order."""
    PAGES = 5
    """JSON: what some pages gave, in order."""
    ATTACHMENT = 6
    """JSON: the name of a document found inside; its pieces follow."""
    PIECE = 7
    """Raw bytes of the attachment that was named last."""
    ATTACHMENT_END = 8
    """JSON: whether the attachment that was named last came whole; if not, it is thrown away."""
    DOCUMENT = 9
    """JSON: the document without blocks, pages and attachments. The last frame of a result."""
    ERROR = 10
    """JSON: why there is no document. The last frame of a result."""


_KINDS = frozenset(map(int, FrameKind))


class Frame(NamedTuple):
    """One frame as it came."""

    kind: FrameKind
    body: bytes


class BrokenFrameError(Exception):
    """The stream is not made of frames, or one is larger than `MAX_BODY`."""


def pack(kind: FrameKind, body: bytes = b"") -> bytes:
    """Return a frame's bytes.

    Raises:
        BrokenFrameError: the body is larger than `MAX_BODY`.
    """
    if len(body) > MAX_BODY:
        raise BrokenFrameError(f"a frame of {len(body)} bytes")
    return _HEAD.pack(kind, len(body)) + body


class FrameReader:
    """Cuts a stream of bytes into frames, whatever pieces it comes in."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Take the next bytes of the stream and give the frames they complete.

        Raises:
            BrokenFrameError: the stream is not made of frames; it cannot be read on.
        """
        self._held += piece
        while len(self._held) >= _HEAD.size:
            code, length = _HEAD.unpack_from(self._held)
            if length > MAX_BODY or code not in _KINDS:
                raise BrokenFrameError(f"a frame of kind {code} with {length} bytes")
            end = _HEAD.size + length
            if len(self._held) < end:
                return
            body = bytes(memoryview(self._held)[_HEAD.size : end])
            del self._held[:end]
            yield Frame(FrameKind(code), body)
