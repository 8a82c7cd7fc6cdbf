"""Folds the frames of one parse into a document. All is checked: what sent them has read a hostile file."""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from pydantic import TypeAdapter, ValidationError

from ingest.errors import (
    CorruptDocumentError,
    DocumentTooLargeError,
    EncryptedDocumentError,
    IngestError,
    NoTextError,
    ParserLimitError,
    SourceUnavailableError,
    UnsupportedDocumentError,
)
from ingest.frames import Frame, FrameKind
from ingest.naming import source_name
from ingest.settings import ParserSettings
from ingest.types import Attachment, Block, PageYield, ParsedDocument

_log = logging.getLogger(__name__)

_MEGABYTE = 1024 * 1024
_OBJECT_RE = re.compile(rb'\{\s*"')
"""Where an object begins: a quotation mark inside a string has a backslash before it."""
_OBJECT_BYTES = 1024
_STRING_BYTES = 64
"""What a block and a cell take in memory beside their characters; of JSON a small one is thirty bytes, or five."""
_ERRORS: dict[str, type[IngestError]] = {
    error.code: error
    for error in (
        UnsupportedDocumentError,
        CorruptDocumentError,
        EncryptedDocumentError,
        NoTextError,
        DocumentTooLargeError,
        ParserLimitError,
        SourceUnavailableError,
    )
}
_BLOCKS = TypeAdapter(tuple[Block, ...])
_PAGES = TypeAdapter(tuple[PageYield, ...])
_FAILURE = TypeAdapter(dict[str, str])
_PROGRESS = TypeAdapter(tuple[int, int | None])


class NonsenseError(Exception):
    """The parser process sent what no parser sends."""


class Result:
    """What has come of one parse."""

    def __init__(
        self,
        path: Path,
        display_name: str,
        settings: ParserSettings,
        attachments: Path | None,
        on_page: Callable[[int, int | None], None],
    ) -> None:
        # For the log: the plain copy of an original is named after the document's id. The display name may be
        # content of another document.
        self._log_name = path.name
        self._display_name = display_name
        self._settings = settings
        self._folder = _Folder(attachments, display_name, settings)
        self._on_page = on_page
        self._blocks: list[Block] = []
        self._pages: list[PageYield] = []
        self._size = 0
        self.document: ParsedDocument | None = None
        """The whole document, once its last frame has come."""
        self.failure: IngestError | None = None
        """What the parser found wrong with the file, if it did."""
        self.pages_done: int | None = None
        """None while the parser has not told of pages."""
        self.pages_total: int | None = None

    @property
    def page_at_work(self) -> int | None:
        """The page (1-based) the parser is at; None where there are none or all are done."""
        if self.pages_done is None or (self.pages_total is not None and self.pages_done >= self.pages_total):
            return None
        return self.pages_done + 1

    @property
    def is_answered(self) -> bool:
        """Whether the last frame has come."""
        return self.document is not None or self.failure is not None

    def take(self, frame: Frame) -> None:
        """Take the next frame.

        Raises:
            NonsenseError: the frame does not belong here, or its content is malformed.
            DocumentTooLargeError: too much text, too many attachments, or too many bytes of them.
        """
        if self.is_answered:
            raise NonsenseError("the parser process went on after its answer")
        try:
            self._take(frame)
        except (ValidationError, ValueError, KeyError, RecursionError) as exc:
            raise NonsenseError("the parser process answered with nonsense") from exc
        if frame.kind is FrameKind.PROGRESS and self.pages_done is not None:
            self._on_page(self.pages_done, self.pages_total)

    def discard(self) -> None:
        """Remove the attachments written so far: the parse failed or begins again."""
        self._folder.discard()

    def _take(self, frame: Frame) -> None:
        match frame.kind:
            case FrameKind.PROGRESS:
                self._progress(*_PROGRESS.validate_json(frame.body))
            case FrameKind.BLOCKS:
                self._count(frame)
                self._blocks.extend(_BLOCKS.validate_json(frame.body))
            case FrameKind.PAGES:
                self._count(frame)
                self._pages.extend(_PAGES.validate_json(frame.body))
            case FrameKind.ATTACHMENT:
                self._folder.begin(str(json.loads(frame.body)))
            case FrameKind.PIECE:
                self._folder.write(frame.body)
            case FrameKind.ATTACHMENT_END:
                self._folder.end(whole=json.loads(frame.body) is True)
            case FrameKind.DOCUMENT:
                self._count(frame)
                self.document = ParsedDocument.model_validate_json(frame.body).model_copy(
                    update={
                        "blocks": tuple(self._blocks),
                        "pages": tuple(self._pages),
                        "attachments": tuple(self._folder.attachments),
                    }
                )
            case FrameKind.ERROR:
                self.failure = self._failure(_FAILURE.validate_json(frame.body))
            case _:
                raise NonsenseError("the parser process answered out of turn")

    def _progress(self, done: int, total: int | None) -> None:
        if done < 0 or (total is not None and not done <= total):
            raise NonsenseError("the parser process counts its pages wrongly")
        self.pages_done, self.pages_total = done, total

    def _count(self, frame: Frame) -> None:
        """Count what a frame will take in memory, before it does."""
        body = frame.body
        objects = sum(1 for _ in _OBJECT_RE.finditer(body))
        self._size += len(body) + _OBJECT_BYTES * objects + _STRING_BYTES * body.count(b'",')
        if self._size > self._settings.memory_mb * _MEGABYTE:
            raise DocumentTooLargeError(f"{self._display_name}: its text is larger than {self._settings.memory_mb} MB")

    def _failure(self, failure: dict[str, str]) -> IngestError:
        if "traceback" in failure:
            _log.error("parser failed on %s\n%s", self._log_name, failure["traceback"])
        return _ERRORS[failure["error"]](failure["message"])


class _Folder:
    """Plain files `0001`, `0002` … for the documents found inside; names from the document stay text."""

    def __init__(self, folder: Path | None, display_name: str, settings: ParserSettings) -> None:
        self._folder = folder
        self._display_name = display_name
        self._settings = settings
        self._written: list[Path] = []
        self._file: BinaryIO | None = None
        self._name = ""
        self._size = 0
        self._left = settings.max_attachments_bytes
        self.attachments: list[Attachment] = []

    def begin(self, name: str) -> None:
        if self._folder is None or self._file is not None:
            raise NonsenseError("the parser process sent an attachment out of turn")
        number = len(self._written) + 1
        if number > self._settings.max_attachments:
            raise DocumentTooLargeError(
                f"{self._display_name}: more than {self._settings.max_attachments} documents inside"
            )
        self._name, self._size = source_name(name, f"attachment {number}"), 0
        path = self._folder / f"{number:04d}"
        self._file = path.open("xb")
        self._written.append(path)

    def write(self, piece: bytes) -> None:
        if self._file is None:
            raise NonsenseError("the parser process sent an attachment without a name")
        self._size += len(piece)
        self._left -= len(piece)
        if self._left < 0:
            raise DocumentTooLargeError(
                f"{self._display_name}: the documents inside have more than "
                f"{self._settings.max_attachments_bytes} bytes"
            )
        self._file.write(piece)

    def end(self, *, whole: bool) -> None:
        if self._file is None:
            raise NonsenseError("the parser process ended an attachment that had not begun")
        self._file.close()
        self._file = None
        path = self._written[-1]
        if whole:
            self.attachments.append(Attachment(name=self._name, file=path.name, size_bytes=self._size))
        else:
            path.unlink()

    def discard(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        for path in self._written:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        self._written.clear()
        self.attachments.clear()
