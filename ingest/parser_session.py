"""A parse as the parser process sees it: whatever the parser gives leaves at once, as frames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from pydantic import BaseModel

from ingest.errors import DocumentTooLargeError
from ingest.frames import FrameKind, pack
from ingest.parser_limits import DocumentLimits
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

_PIECE = 256 * 1024
_BATCH = 256 * 1024
"""Bytes of JSON after which a batch of blocks is sent."""


class FrameWriter:
    """Sends frames to the parent."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def send(self, kind: FrameKind, body: bytes = b"") -> None:
        """Send one frame, now."""
        self._stream.write(pack(kind, body))
        self._stream.flush()

    def send_document(self, document: ParsedDocument) -> None:
        """Send a whole result: its blocks and pages in batches, the rest last.

        Raises:
            BrokenFrameError: one block is larger than a frame.
        """
        for batch in _batches(document.blocks):
            self.send(FrameKind.BLOCKS, batch)
        for batch in _batches(document.pages):
            self.send(FrameKind.PAGES, batch)
        rest = document.model_copy(update={"blocks": (), "pages": (), "attachments": ()})
        self.send(FrameKind.DOCUMENT, rest.model_dump_json().encode())


def _batches(values: Sequence[BaseModel]) -> Iterator[bytes]:
    parts: list[bytes] = []
    size = 0
    for value in values:
        parts.append(value.model_dump_json().encode())
        size += len(parts[-1])
        if size >= _BATCH:
            yield b"[" + b",".join(parts) + b"]"
            parts, size = [], 0
    if parts:
        yield b"[" + b",".join(parts) + b"]"


class FrameSession:
    """The `ParseSession` of one document in the parser process."""

    def __init__(
        self,
        writer: FrameWriter,
        settings: ParserSettings,
        limits: DocumentLimits,
        *,
        display_name: str,
        password: str | None,
        skip_pages: frozenset[int],
        takes_attachments: bool,
        instructions: dict[str, Any],
    ) -> None:
        self._writer = writer
        self._settings = settings
        self._limits = limits
        self._display_name = display_name
        self._password = password
        self._skip_pages = skip_pages
        self._takes_attachments = takes_attachments
        self.instructions = instructions
        """For handlers that do more than parse; empty for those."""
        self._attached = 0
        self._attached_bytes = 0

    @property
    def password(self) -> str | None:
        """The uploader's password, if any."""
        return self._password

    def page_done(self, pages_done: int, pages_total: int | None) -> None:
        """Tell the parent, and count the limits from now."""
        self._limits.page(pages_done, pages_total)
        self._writer.send(FrameKind.PROGRESS, json.dumps([pages_done, pages_total]).encode())

    def skips(self, page_number: int) -> bool:
        """Tell whether this page brought a parser process down before."""
        return page_number in self._skip_pages

    def attach(self, name: str, pieces: Iterable[bytes]) -> bool:
        """Send a document found inside; one that breaks off is taken back.

        Raises:
            DocumentTooLargeError: more than `max_attachments`, or more than `max_attachments_bytes` in all.
        """
        if not self._takes_attachments:
            return False
        self._attached += 1
        if self._attached > self._settings.max_attachments:
            raise DocumentTooLargeError(
                f"{self._display_name}: more than {self._settings.max_attachments} documents inside"
            )
        self._writer.send(FrameKind.ATTACHMENT, json.dumps(name).encode())
        whole = False
        try:
            for piece in pieces:
                self._send_piece(piece)
            whole = True
        finally:
            self._writer.send(FrameKind.ATTACHMENT_END, json.dumps(whole).encode())
        return True

    def _send_piece(self, piece: bytes) -> None:
        self._attached_bytes += len(piece)
        if self._attached_bytes > self._settings.max_attachments_bytes:
            raise DocumentTooLargeError(
                f"{self._display_name}: the documents inside have more than "
                f"{self._settings.max_attachments_bytes} bytes"
            )
        for start in range(0, len(piece), _PIECE):
            self._writer.send(FrameKind.PIECE, piece[start : start + _PIECE])
