"""Bytes to a tree of MIME parts, bounded: depth, parts, header fields and their length."""

from __future__ import annotations

from email.message import Message
from email.parser import BytesFeedParser
from email.policy import Compat32
from typing import cast

from ingest.errors import CorruptDocumentError

MAX_DEPTH = 50
"""Multiparts and messages inside one another; the standard parser looks at each line once per level."""
_MAX_PARTS = 10_000
_MAX_FIELDS = 1_000
"""Header fields kept of one part."""
_MAX_VALUE = 20_000
"""Characters kept of one field's value; parameters are read in time that grows with the square of it."""
_PIECE = 256 * 1024


class TooDeepError(Exception):
    """The message nests deeper, or has more parts, than any message does."""


class Part(Message):
    """A MIME part that counts how deep it lies."""

    depth = 0
    count = 0

    def attach(self, payload: Message) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Add a part below this one.

        Raises:
            TooDeepError: too deep, or too many.
        """
        assert isinstance(payload, Part)
        payload.depth = self.depth + 1
        self.count += 1
        if payload.depth > MAX_DEPTH or self.count > _MAX_PARTS:
            raise TooDeepError
        super().attach(payload)  # pyright: ignore[reportUnknownMemberType]

    def set_raw(self, name: str, value: str) -> None:
        """Keep a header field as it came, up to the limit of fields."""
        if len(self) < _MAX_FIELDS:
            super().set_raw(name, value)

    def field(self, name: str) -> str:
        """Return a header field's raw value; the first one where there are several."""
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def parts(self) -> list[Part]:
        """Return the parts directly below; none for a leaf."""
        payload: object = self.get_payload()
        if not isinstance(payload, list):
            return []
        return [part for part in cast("list[object]", payload) if isinstance(part, Part)]

    def content(self) -> bytes:
        """Return a leaf's bytes, transfer encoding undone."""
        payload = self.get_payload(decode=True)
        return payload if isinstance(payload, bytes) else b""


class _RawFields(Compat32):
    """Keeps values as they came, 8-bit bytes as surrogates, cut at the limit."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = sourcelines[0].split(":", 1)
        value = value.lstrip(" \t") + "".join(sourcelines[1:])
        return name, value[:_MAX_VALUE].rstrip("\r\n")

    def header_fetch_parse(self, name: str, value: str) -> str:
        return value


def read_tree(raw: bytes, display_name: str) -> Part:
    """Parse a message.

    Raises:
        CorruptDocumentError: it nests deeper or has more parts than any message does.
    """
    parser = BytesFeedParser(Part, policy=_RawFields())
    try:
        for start in range(0, len(raw), _PIECE):
            parser.feed(raw[start : start + _PIECE])
        root = parser.close()
    except (TooDeepError, RecursionError) as exc:
        raise CorruptDocumentError(f"{display_name}: the message's parts are nested too deeply or too many") from exc
    assert isinstance(root, Part)
    return root
