"""Fakes of ingestion's Protocols, and values for tests. They obey the same errors as the real parts."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from ingest.errors import CorruptDocumentError, EncryptedDocumentError, NoTextError, UnsupportedDocumentError
from ingest.hiding import Hidden
from ingest.tables import metadata
from ingest.types import Attachment, Block, Document, ParsedDocument
from ingest.work import Cut, ignore_page
from retrieval.types import Chunk

_PARCEL = "%PARCEL "
_SECRET = re.compile(r"secret:(\w+)")


class ManualClock:
    """A clock that moves when told to, and by a microsecond at each reading, so that no two times are equal."""

    def __init__(self, start: datetime = datetime(2024, 10, 1, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """Return the time."""
        self._now += timedelta(microseconds=1)
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self._now += timedelta(seconds=seconds)


def parcel(text: str, **inside: str | bytes) -> str:
    """Return a document for `InProcessParsers` with documents inside it, by name; nested where these are parcels."""
    return parcel_of(text, list(inside.items()))


def parcel_of(text: str, inside: Sequence[tuple[str, str | bytes]], password: str | None = None) -> str:
    """Return a document for `InProcessParsers` as `parcel` does, with any names, and a password that opens it."""
    held = [(name, content if isinstance(content, str) else content.decode("latin-1")) for name, content in inside]
    binary = [name for name, content in inside if isinstance(content, bytes)]
    return _PARCEL + json.dumps({"text": text, "inside": held, "binary": binary, "password": password})


class InProcessParsers:
    """Parses UTF-8 text into paragraphs at blank lines, in this process. Remembers what it parsed.

    A `parcel` has documents inside it. What begins with `%UNSUPPORTED` is a format that nobody reads.
    """

    def __init__(self) -> None:
        self.parsed: list[str] = []
        self.folders: list[Path] = []
        """The folders for attachments that it was given."""

    async def parse(
        self,
        path: Path,
        display_name: str,
        *,
        password: str | None = None,
        attachments: Path | None = None,
        on_page: Callable[[int, int | None], None] = ignore_page,
    ) -> ParsedDocument:
        """Parse a file.

        Raises:
            CorruptDocumentError: it is not UTF-8.
            EncryptedDocumentError: a parcel with another password.
            NoTextError: it is blank.
            UnsupportedDocumentError: it says so itself.
        """
        self.parsed.append(display_name)
        content = await asyncio.to_thread(path.read_bytes)
        if content.startswith(b"%UNSUPPORTED"):
            raise UnsupportedDocumentError(f"{display_name}: this is of no use; supported is text")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise CorruptDocumentError(f"{display_name!r}: not UTF-8") from None
        found: tuple[Attachment, ...] = ()
        if text.startswith(_PARCEL):
            held = json.loads(text.removeprefix(_PARCEL))
            if held["password"] not in {None, password}:
                raise EncryptedDocumentError(f"{display_name}: the password is missing or wrong")
            text = held["text"]
            if attachments is not None:
                self.folders.append(attachments)
                found = await asyncio.to_thread(_unpack, held, attachments)
        paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
        if not paragraphs:
            raise NoTextError(f"{display_name!r}: no text")
        blocks = tuple(Block(kind="paragraph", text=part) for part in paragraphs)
        return ParsedDocument(format="text", blocks=blocks, encoding="utf-8", attachments=found)


def _unpack(held: dict[str, Any], folder: Path) -> tuple[Attachment, ...]:
    found: list[Attachment] = []
    for number, (name, content) in enumerate(held["inside"]):
        body = content.encode("latin-1" if name in held["binary"] else "utf-8")
        (folder / f"{number}.bin").write_bytes(body)
        found.append(Attachment(name=name, file=f"{number}.bin", size_bytes=len(body)))
    return tuple(found)


class ParagraphCutter:
    """Makes one chunk of each paragraph; `secret:WORD` is a secret, its pseudonym `[SECRET_word reversed]`.

    So are the words of `hidden`, wherever they stand; a test changes these, and with them the revision.
    """

    def __init__(self, count_tokens: Callable[[str], int] = len) -> None:
        self._count_tokens = count_tokens
        self.hidden: tuple[str, ...] = ()

    def revision(self, tenant: str) -> str:
        """Return a name of the words that are hidden."""
        return f"{tenant}: {len(self.hidden)}"

    def cut(self, parsed: ParsedDocument, document: Document) -> Cut:
        """Return the chunks; equal paragraphs of one document get ids of their own."""
        secrets: dict[str, str] = {}
        chunks: list[Chunk] = []
        seen: dict[str, int] = {}
        start = 0
        for ordinal, block in enumerate(parsed.blocks):
            hidden = self.hide(block.text, document.tenant)
            text = hidden.text
            secrets.update(hidden.secrets)
            seen[text] = seen.get(text, 0) + 1
            chunks.append(
                Chunk(
                    chunk_id=str(uuid5(NAMESPACE_URL, f"{document.document_id}/{seen[text]}/{text}")),
                    tenant=document.tenant,
                    document_id=document.document_id,
                    ordinal=ordinal,
                    text=text,
                    index_text=text,
                    start_char=start,
                    end_char=start + len(text),
                    token_count=self._count_tokens(text),
                    title=document.title,
                    labels=document.meta.labels,
                    access=document.meta.access,
                    effective_from=document.meta.effective_from,
                    effective_to=document.meta.effective_to,
                )
            )
            start += len(text) + 2
        return Cut(chunks, secrets, document.title)

    def hide(self, text: str, tenant: str) -> Hidden:
        """Return the text without its secrets."""
        words = _SECRET.findall(text)
        text = _SECRET.sub(lambda match: _pseudonym(match.group(1)), text)
        for word in self.hidden:
            if word in text:
                text = text.replace(word, _pseudonym(word))
                words.append(word)
        return Hidden(text, {_pseudonym(each): each for each in words})


def _pseudonym(word: str) -> str:
    return f"[SECRET_{word[::-1]}]"


def sqlite_engine(folder: Path) -> Engine:
    """Return an engine on a SQLite file in `folder` with ingestion's tables; made where it is missing."""
    engine = create_engine(f"sqlite:///{folder / 'ingest.db'}", connect_args={"timeout": 60})
    event.listen(engine, "connect", _fast)
    metadata.create_all(engine)
    return engine


def _fast(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    # Survives a killed process, not a power cut; the fsyncs would be most of a test's time.
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=OFF")
    cursor.close()
