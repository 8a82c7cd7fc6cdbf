"""The property store of an Outlook message: streams of an OLE compound file ([MS-OXMSG])."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property

from olefile import STGTY_STORAGE, STGTY_STREAM, OleFileIO

from ingest.parsers.mail.mail_headers import decoded_bytes

_STREAM = "__substg1.0_"
_PROPERTIES = "__properties_version1.0"
_UNICODE, _STRING, _BINARY, _OBJECT = "001F", "001E", "0102", "000D"
_CODE_PAGES = {
    932: "cp932", 936: "gb18030", 949: "cp949", 950: "big5hkscs", 20127: "ascii", 20866: "koi8-r", 28591: "cp1252",
    50220: "iso2022_jp", 51932: "euc_jp", 52936: "gb18030", 54936: "gb18030", 65001: "utf-8",
}  # fmt: skip
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MAX_PROPERTIES = 4096


class Store:
    """One object of the file: the message, a recipient, an attachment, a message inside."""

    def __init__(
        self, file: OleFileIO[str], path: tuple[str, ...] = (), header_bytes: int = 32, code_page: str = ""
    ) -> None:
        self._file, self._path, self._header_bytes, self._inherited = file, path, header_bytes, code_page

    def text(self, *property_ids: int) -> str:
        """Return the first of these string properties that has text; empty where none has."""
        for property_id in property_ids:
            raw = self._stream(property_id, _UNICODE)
            text = (
                raw.decode("utf-16-le", "replace")
                if raw is not None
                else decoded_bytes(self._stream(property_id, _STRING) or b"", self.code_page)
            )
            text = text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
            if text.strip():
                return text
        return ""

    def binary(self, property_id: int) -> bytes:
        """Return a binary property; empty where there is none."""
        return self._stream(property_id, _BINARY) or b""

    def number(self, property_id: int) -> int | None:
        """Return an integer or boolean property."""
        value = self._fixed.get(property_id)
        return struct.unpack("<i", value[:4])[0] if value is not None else None

    def time(self, property_id: int) -> datetime | None:
        """Return a time property, in UTC."""
        value = self._fixed.get(property_id)
        if value is None:
            return None
        try:
            return _EPOCH + timedelta(microseconds=struct.unpack("<Q", value)[0] // 10)
        except OverflowError:
            return None

    def children(self, prefix: str, header_bytes: int = 8) -> Iterator[Store]:
        """Yield the storages directly below whose names begin so, in their order."""
        depth = len(self._path)
        names = {
            entry[depth]
            for entry in self._file.listdir(streams=True, storages=True)
            if len(entry) > depth and tuple(entry[:depth]) == self._path and entry[depth].startswith(prefix)
        }
        for name in sorted(names):
            yield Store(self._file, (*self._path, name), header_bytes, self.code_page)

    def inner_message(self) -> Store | None:
        """Return the message inside an attachment; None where the attachment is another thing."""
        path = (*self._path, f"{_STREAM}3701{_OBJECT}")
        is_storage = self._file.get_type(path) == STGTY_STORAGE
        return Store(self._file, path, 24, self.code_page) if is_storage else None

    @cached_property
    def code_page(self) -> str:
        """The codec of 8-bit strings (PidTagMessageCodepage); a part has that of its message."""
        number = self.number(0x3FFD)
        return _codec(number) if number else self._inherited

    @property
    def html_code_page(self) -> str:
        """The codec of an HTML body (PidTagInternetCodepage)."""
        number = self.number(0x3FDE)
        return _codec(number) if number else self.code_page

    @cached_property
    def _fixed(self) -> dict[int, bytes]:
        raw = self._read(_PROPERTIES) or b""
        values: dict[int, bytes] = {}
        for start in range(self._header_bytes, min(len(raw), 16 * _MAX_PROPERTIES), 16):
            entry = raw[start : start + 16]
            if len(entry) == 16:
                values[struct.unpack_from("<H", entry, 2)[0]] = entry[8:]
        return values

    def _stream(self, property_id: int, kind: str) -> bytes | None:
        return self._read(f"{_STREAM}{property_id:04X}{kind}")

    def _read(self, name: str) -> bytes | None:
        path = [*self._path, name]
        if self._file.get_type(path) != STGTY_STREAM:
            return None
        return self._file.openstream(path).read()


def _codec(number: int) -> str:
    return _CODE_PAGES.get(number, f"cp{number}")
