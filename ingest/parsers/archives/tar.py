"""Members of TAR archives, plain or packed with gzip, bzip2 or xz, read once from front to end."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from ingest.detect_archive import compression_of
from ingest.errors import CorruptDocumentError, DocumentTooLargeError
from ingest.parsers.archives.members import Member, decode_names
from ingest.settings import ParserSettings

_PIECE = 256 * 1024
_HEAD = 16
_DAMAGE = (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)
_SLACK_BYTES = 64 * 1024 * 1024
"""Headers and padding beside the members' own bytes."""


def tar_members(
    path: Path, display_name: str, limits: ParserSettings, _password: str | None = None
) -> Iterator[Member]:
    """Yield the members in order; each must be read before the next is asked for.

    Raises:
        CorruptDocumentError: it is damaged.
        DocumentTooLargeError: it unpacks to more than it may.
    """
    try:
        with _open(path) as unpacked:
            counted = _Counted(unpacked, limits.max_attachments_bytes + _SLACK_BYTES, display_name)
            stream = cast("IO[bytes]", counted)
            with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
                for member in archive:
                    yield from _member(archive, member, display_name)
    except _DAMAGE as exc:
        raise CorruptDocumentError(f"{display_name}: the TAR archive is damaged; pack it again") from exc


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo, display_name: str) -> Iterator[Member]:
    raw = member.name.encode("utf-8", "surrogateescape")
    (name,) = decode_names([raw.removeprefix(b"./")], display_name)

    def pieces() -> Iterator[bytes]:
        try:
            file = archive.extractfile(member)
            while file is not None and (piece := file.read(_PIECE)):
                yield piece
        except _DAMAGE as exc:
            # What follows in the stream cannot be found any more either.
            raise CorruptDocumentError(f"{display_name}: the TAR archive is damaged; pack it again") from exc

    if member.isfile() and not member.issparse():
        yield Member(name, member.size, "file", pieces)
    elif not member.isdir():
        yield Member(name, 0, "link", pieces)


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        compression = compression_of(file.read(_HEAD))
    match compression:
        case "gzip":
            return cast("BinaryIO", gzip.open(path, "rb"))
        case "bzip2":
            return cast("BinaryIO", bz2.open(path, "rb"))
        case "xz":
            return cast("BinaryIO", lzma.open(path, "rb"))
        case _:
            return path.open("rb")


class _Counted:
    """A stream that ends with an error where it gives more than a bomb-free archive would."""

    def __init__(self, stream: BinaryIO, limit: int, display_name: str) -> None:
        self._stream = stream
        self._left = limit
        self._display_name = display_name

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        self._left -= len(piece)
        if self._left < 0:
            raise DocumentTooLargeError(f"{self._display_name}: the TAR archive unpacks to more than the limit allows")
        return piece
