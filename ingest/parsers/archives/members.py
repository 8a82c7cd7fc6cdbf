"""A member of an archive, and names that were written in another encoding than they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.errors import UnsupportedDocumentError
from ingest.parsers.text.decoding import decode


class UnreadMemberError(Exception):
    """A member is damaged or packed in a way that is not known; the others may be read all the same."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file or a link in an archive; directories are not members."""

    name: str
    """The path inside the archive, parted by `/`; text only."""
    size_bytes: int
    kind: Literal["file", "link"]
    pieces: Callable[[], Iterator[bytes]]
    """Reads it, once; raises UnreadMemberError."""


def decode_names(names: Sequence[bytes], display_name: str) -> list[str]:
    """Decode the names of one archive, all in the same encoding.

    UTF-8 where they are; else what they look like, where that is Chinese, Japanese or Korean; else code page 437.

    All together, because one short name tells little about its encoding.
    """
    try:
        return [name.decode() for name in names]
    except UnicodeDecodeError:
        pass
    # A line end in a name would shift all that follow.
    joined = b"\n".join(name.replace(b"\n", b"_").replace(b"\r", b"_") for name in names)
    try:
        decoded = decode(joined, display_name)
        lines = [] if _western(decoded.encoding) else decoded.text.split("\n")
    except UnsupportedDocumentError:
        lines = []
    return lines if len(lines) == len(names) else [name.decode("cp437") for name in names]


def _western(encoding: str) -> bool:
    """Tell an encoding without Chinese characters: the ZIP format's own one is as good a guess then."""
    try:
        return not "一".encode(encoding)
    except UnicodeEncodeError:
        return True
