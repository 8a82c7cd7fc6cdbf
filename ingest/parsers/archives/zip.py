"""Members of ZIP archives: names in any encoding, passwords of both kinds."""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ingest.errors import CorruptDocumentError, EncryptedDocumentError
from ingest.parsers.archives.aes import AES_METHOD, open_aes
from ingest.parsers.archives.members import Member, UnreadMemberError, decode_names
from ingest.settings import ParserSettings

_PIECE = 256 * 1024
_ENCRYPTED, _UTF8, _STRONG = 0x1, 0x800, 0x40
_UNICODE_PATH = 0x7075
_UNIX = 3
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}


def zip_members(path: Path, display_name: str, _limits: ParserSettings, password: str | None) -> Iterator[Member]:
    """Yield the members in the order of the directory.

    Raises:
        CorruptDocumentError: it is damaged.
        EncryptedDocumentError: a member that is read needs a password, or another one.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.orig_filename.endswith("/")]
            names = _names(infos, display_name)
            for info, name in zip(infos, names, strict=True):
                read = partial(_pieces, archive, path, info, password, display_name)
                yield Member(name, info.file_size, "link" if _is_link(info) else "file", read)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error) as exc:
        raise CorruptDocumentError(f"{display_name}: the ZIP archive is damaged; pack it again") from exc


def _names(infos: list[zipfile.ZipInfo], display_name: str) -> list[str]:
    """Return the names; those without the UTF-8 flag are bytes in the encoding of whoever packed the archive."""
    unflagged = [info for info in infos if not info.flag_bits & _UTF8]
    decoded = decode_names([info.orig_filename.encode("cp437") for info in unflagged], display_name)
    by_info = {id(info): name for info, name in zip(unflagged, decoded, strict=True)}
    names = [_unicode_path(info) or by_info.get(id(info), info.orig_filename) for info in infos]
    # Windows programs of old wrote backslashes.
    return [name.replace("\\", "/") for name in names]


def _unicode_path(info: zipfile.ZipInfo) -> str:
    """Return the name of Info-ZIP's Unicode path field (APPNOTE 4.6.9), empty where there is none that fits."""
    extra = info.extra
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        field, extra = extra[4 : 4 + length], extra[4 + length :]
        if kind == _UNICODE_PATH and len(field) > 5 and field[0] == 1:
            raw = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
            if struct.unpack_from("<I", field, 1)[0] == zlib.crc32(raw):
                return field[5:].decode("utf-8", "replace")
    return ""


def _is_link(info: zipfile.ZipInfo) -> bool:
    return info.create_system == _UNIX and stat.S_ISLNK(info.external_attr >> 16)


def _pieces(
    archive: zipfile.ZipFile, path: Path, info: zipfile.ZipInfo, password: str | None, display_name: str
) -> Iterator[bytes]:
    """Read a member; its declared size bounds it."""
    encrypted = bool(info.flag_bits & _ENCRYPTED)
    if encrypted and not password:
        raise EncryptedDocumentError(f"{display_name}: the archive is encrypted; upload it with its password")
    if info.flag_bits & _STRONG or info.compress_type not in {*_METHODS, AES_METHOD}:
        raise UnreadMemberError(f"method {info.compress_type}")
    if info.compress_type == AES_METHOD:
        yield from open_aes(path, info, password or "", display_name)
        return
    try:
        # In UTF-8, as every program but old Windows ones encodes it.
        with archive.open(info, pwd=(password or "").encode() if encrypted else None) as member:
            while piece := member.read(_PIECE):
                yield piece
    except (
        RuntimeError,
        NotImplementedError,
        OSError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
    ) as exc:
        if encrypted:
            # The check of a password lets one in 256 wrong ones through: then the content does not fit.
            raise EncryptedDocumentError(f"{display_name}: the password of the archive is wrong") from exc
        raise UnreadMemberError("damaged") from exc
