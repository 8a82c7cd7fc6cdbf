"""What the serving process and the engine's process say to each other: one value after the other over a pipe.

The values are plain (tuples, lists, dictionaries, text, bytes, numbers), so `marshal` carries them:
faster than pickle, and reading them runs no code. Both ends are the same interpreter.
"""

from __future__ import annotations

import marshal
import struct
from typing import Any, BinaryIO, Final

_LENGTH: Final = struct.Struct("<Q")


def send(stream: BinaryIO, value: Any) -> None:
    """Write one value.

    Raises:
        OSError: the other end is gone.
    """
    body = marshal.dumps(value)
    stream.write(_LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one value.

    Raises:
        EOFError: the other end is gone.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return marshal.loads(_exactly(stream, length))


def _exactly(stream: BinaryIO, size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise EOFError("the other end is gone")
    return found
