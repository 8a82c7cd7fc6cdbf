"""Members of ZIP archives encrypted with AES, as WinZip and 7-Zip do: https://www.winzip.com/en/support/aes-encryption/."""

from __future__ import annotations

import hashlib
import hmac
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ingest.errors import EncryptedDocumentError
from ingest.parsers.archives.members import UnreadMemberError

AES_METHOD = 99
_EXTRA = 0x9901
_SALT_BYTES = {1: 8, 2: 12, 3: 16}
_KEY_BYTES = {1: 16, 2: 24, 3: 32}
_ROUNDS = 1000
_CHECK_BYTES, _MAC_BYTES, _BLOCK = 2, 10, 16
_PIECE = 64 * 1024
_Read = Callable[[int], bytes]


def open_aes(path: Path, info: zipfile.ZipInfo, password: str, display_name: str) -> Iterator[bytes]:
    """Decrypt and inflate a member, piece by piece.

    Raises:
        EncryptedDocumentError: the password is wrong.
        UnreadMemberError: it is damaged, or packed in a way that is not known.
    """
    strength, method = _parameters(info)
    try:
        yield from _decrypt(path, info, strength, method, password, display_name)
    except (struct.error, zlib.error, OSError) as exc:
        raise UnreadMemberError("damaged") from exc


def _decrypt(
    path: Path, info: zipfile.ZipInfo, strength: int, method: int, password: str, display_name: str
) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(info.header_offset)
        local = file.read(30)
        name_bytes, extra_bytes = struct.unpack_from("<HH", local, 26)
        file.seek(name_bytes + extra_bytes, 1)
        salt = file.read(_SALT_BYTES[strength])
        check = file.read(_CHECK_BYTES)
        key_bytes = _KEY_BYTES[strength]
        keys = hashlib.pbkdf2_hmac("sha1", password.encode(), salt, _ROUNDS, 2 * key_bytes + _CHECK_BYTES)
        if not hmac.compare_digest(keys[2 * key_bytes :], check):
            raise EncryptedDocumentError(f"{display_name}: the password of the archive is wrong")
        left = info.compress_size - len(salt) - _CHECK_BYTES - _MAC_BYTES
        mac = hmac.new(keys[key_bytes : 2 * key_bytes], digestmod="sha1")
        inflater = zlib.decompressobj(-15) if method == zipfile.ZIP_DEFLATED else None
        size = 0
        for at, sealed in _sealed(file.read, left):
            mac.update(sealed)
            plain = _crypt(keys[:key_bytes], sealed, at // _BLOCK)
            while plain:
                piece = inflater.decompress(plain, _PIECE) if inflater else plain
                plain = inflater.unconsumed_tail if inflater else b""
                size += len(piece)
                if size > info.file_size:
                    raise UnreadMemberError("larger than it declares")
                if piece:
                    yield piece
        if not hmac.compare_digest(mac.digest()[:_MAC_BYTES], file.read(_MAC_BYTES)) or size != info.file_size:
            raise UnreadMemberError("damaged")


def _parameters(info: zipfile.ZipInfo) -> tuple[int, int]:
    """Return key strength and packing method from the member's extra field."""
    extra = info.extra
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == _EXTRA and length >= 7 and len(extra) >= 11:
            strength, method = extra[8], struct.unpack_from("<H", extra, 9)[0]
            if strength in _KEY_BYTES and method in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                return strength, method
        extra = extra[4 + length :]
    raise UnreadMemberError("encrypted or packed in a way that is not known")


def _sealed(read: _Read, left: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    while left > 0 and (sealed := read(min(left, _PIECE))):
        yield at, sealed
        at += len(sealed)
        left -= len(sealed)


def _crypt(key: bytes, content: bytes, first_block: int) -> bytes:
    """XOR with the key stream of counter mode. WinZip counts little-endian from 1, which no library offers."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import ECB

    blocks = -(-len(content) // _BLOCK)
    counters = b"".join((first_block + 1 + each).to_bytes(_BLOCK, "little") for each in range(blocks))
    stream = Cipher(AES(key), ECB()).encryptor().update(counters)[: len(content)]
    mixed = int.from_bytes(content, "little") ^ int.from_bytes(stream, "little")
    return mixed.to_bytes(len(content), "little")
