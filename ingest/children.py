"""Documents found inside documents: attachments of messages, members of archives.

Each becomes a document of its own, with its own job. Its original is stored, encrypted,
while the parent is prepared; its row and its job come into being in the transaction that
makes the parent ready (`Lifecycle.switch`). Ids follow from the parent's id and the place
in it, so that a parse that is done again after a crash writes over the same originals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path, PurePosixPath
from uuid import UUID, uuid5

from sqlalchemy import Connection

from ingest.errors import DocumentTooLargeError
from ingest.leases import Claim
from ingest.lifecycle import Lifecycle
from ingest.naming import source_name
from ingest.nesting import MAX_DEPTH, depth, follow_parent, size_below_root
from ingest.originals import Originals
from ingest.records import Records
from ingest.settings import ParserSettings
from ingest.types import Attachment, Document, ParsedDocument
from retrieval.types import Principal

_NAMESPACE = UUID("5f0d5c0c-6a0e-4d0b-9d5e-2a7a4d9b8c11")
_READ_BYTES = 1024 * 1024
_HEAD_BYTES = 4096
_MANY = 400
_PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM")
_NOT_DOCUMENTS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\s*BEGIN:VCALENDAR\b"), "a calendar entry"),
    (re.compile(rb"\s*BEGIN:VCARD\b"), "a visiting card"),
    (re.compile(rb"\s*-----BEGIN PGP (?:SIGNATURE|PUBLIC KEY BLOCK)-----"), "a signature or a key"),
    # ContentInfo of signedData in DER, https://www.rfc-editor.org/rfc/rfc5652#section-3
    (re.compile(rb"\x30[\x80-\x84].{0,4}\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02", re.S), "a signature"),
)


@dataclass(frozen=True, slots=True)
class StoredChild:
    """A document found inside another, whose original is stored and whose row is still to come."""

    document_id: str
    source: str
    size_bytes: int
    content_hash: str


def child_id(parent_id: str, place: int) -> str:
    """Return the id of the document at a place (from 0) in its parent."""
    return uuid5(_NAMESPACE, f"{parent_id}/{place}").hex


def is_picture(path: Path) -> bool:
    """Tell by its first bytes whether a file is a picture, which may well be without text."""
    with path.open("rb") as file:
        head = file.read(12)
    return head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:] == b"WEBP")


class StagedChildren:
    """The originals of children that have no row yet. Blocking."""

    def __init__(self, originals: Originals, lifecycle: Lifecycle) -> None:
        self._originals = originals
        self._lifecycle = lifecycle

    def of(self, parent_id: str, *, first: int = 0) -> list[str]:
        """Return the ids of those stored for a parent, in order; they stand without gaps from the first place on."""
        ids: list[str] = []
        stored = self._stored(parent_id, first)
        while some := list(islice(stored, _MANY)):
            waiting = self._lifecycle.forgotten(some)
            ids += [each for each in some if each in waiting]
        return ids

    def remove(self, parent_id: str, *, first: int = 0) -> int:
        """Remove those stored for a parent; return how many there were."""
        ids = self.of(parent_id, first=first)
        # From the last on, so that after a crash half-way there is still no gap.
        for each in reversed(ids):
            self._originals.delete(each)
        return len(ids)

    def _stored(self, parent_id: str, first: int) -> Iterator[str]:
        for place in count(first):
            each = child_id(parent_id, place)
            if not self._originals.exists(each):
                return
            yield each


class Children:
    """Takes the documents found inside a document through their first steps. Blocking."""

    def __init__(
        self,
        *,
        records: Records,
        staged: StagedChildren,
        limits: ParserSettings,
    ) -> None:
        self._engine = records.engine
        self._lifecycle = records.lifecycle
        self._leases = records.leases
        self._jobs = records.jobs
        self._originals = records.originals
        self._staged = staged
        self._limits = limits

    def are_wanted(self, document: Document) -> bool:
        """Tell whether what is found inside the document is to be taken out: not below the greatest depth."""
        with self._engine.connect() as connection:
            return depth(connection, document) < MAX_DEPTH

    def store(
        self, document: Document, parsed: ParsedDocument, folder: Path, password: str | None
    ) -> tuple[tuple[StoredChild, ...], tuple[str, ...]]:
        """Store the originals of what was found inside a document.

        Returns:
            What was stored, and notes for the report on what was not.

        Raises:
            DocumentTooLargeError: with these, more was found inside the outermost document than it may hold.
        """
        found = [each for each in parsed.attachments if Path(each.file).name == each.file]
        if found:
            self._check_total(document, found)
        stored: list[StoredChild] = []
        notes: list[str] = []
        names = _Names(document.source)
        for each in found:
            path = folder / each.file
            if kind := _not_a_document(path):
                notes.append(f"{each.name} was not read: it is {kind}")
                continue
            if each.size_bytes > self._limits.max_bytes:
                notes.append(f"{each.name} was not read: {each.size_bytes} bytes, more than a document may have")
                continue
            stored.append(self._store(document, len(stored), names.give(each.name), path, password))
        self._staged.remove(document.document_id, first=len(stored))
        return tuple(stored), tuple(notes)

    def register(self, connection: Connection, parent: Document, children: Sequence[StoredChild]) -> None:
        """Add rows and jobs for what was stored, in the transaction that makes the parent ready."""
        uploader = Principal(tenant=parent.tenant, user=parent.created_by)
        meta = parent.meta.model_copy(update={"title": None, "language": None})
        for each in follow_parent(connection, parent, {child.source for child in children}):
            self._jobs.stop(connection, each)
        for child in children:
            document = self._lifecycle.register(
                connection,
                uploader,
                child.document_id,
                child.source,
                meta,
                child.size_bytes,
                parent_id=parent.document_id,
            )
            self._jobs.add(connection, document, child.content_hash)

    def pass_over(self, claim: Claim, document: Document, reason: str) -> list[str]:
        """End the job of a child that nobody can read: its parent's report says so, and no document is left.

        A former version of it that could be read is not what the parent holds any more, and goes too.

        Returns:
            The ids of documents to purge.
        """
        assert document.parent_id is not None
        with self._engine.begin() as connection:
            if not self._leases.succeed(connection, claim, "noted", document.parent_id):
                return []
            parent = self._lifecycle.load(document.parent_id)
            name = document.source.removeprefix(f"{parent.source}/")
            why = reason.removeprefix(f"{document.source}: ")
            self._lifecycle.drop(connection, document.document_id)
            gone = self._lifecycle.supersede_unread(connection, document)
            for each in gone:
                self._jobs.stop(connection, each)
            self._lifecycle.note(connection, document.parent_id, f"{name} was not read: {why}")
        return [document.document_id, *gone]

    def retry_failed(self, connection: Connection, document: Document, password: str | None) -> None:
        """Queue what failed inside a document again: the document was uploaded again, with the same bytes.

        Args:
            connection: the caller's transaction, which holds the document.
            document: as it stays.
            password: given with the new upload; it takes the place of what the failed ones had. The document
                itself was opened with what it had, and keeps that.
        """
        tenant = document.tenant
        if password is not None and self._originals.password(tenant, document.document_id) is None:
            self._originals.keep_password(tenant, document.document_id, password)
        for document_id in self._lifecycle.failed_inside(connection, document.document_id):
            if self._lifecycle.reopen(connection, document_id):
                if password is not None:
                    self._originals.keep_password(tenant, document_id, password)
                self._jobs.requeue_document(connection, document_id)

    def _store(self, parent: Document, place: int, source: str, path: Path, password: str | None) -> StoredChild:
        document_id = child_id(parent.document_id, place)
        with (
            path.open("rb") as file,
            self._originals.writing(parent.tenant, document_id, self._limits.max_bytes) as writer,
        ):
            while piece := file.read(_READ_BYTES):
                writer.feed(piece)
            stored = writer.commit()
        # Freed at once: parent, plain children and sealed children need not all fit the disk.
        path.unlink()
        if password is not None:
            self._originals.keep_password(parent.tenant, document_id, password)
        return StoredChild(document_id, source, stored.size_bytes, stored.content_hash)

    def _check_total(self, document: Document, found: Sequence[Attachment]) -> None:
        with self._engine.connect() as connection:
            number, size = size_below_root(connection, document)
        number += len(found)
        size += sum(each.size_bytes for each in found)
        limits = self._limits
        if number > limits.max_attachments or size > limits.max_attachments_bytes:
            raise DocumentTooLargeError(
                f"{document.source}: {number} documents with {size} bytes were found inside the upload; the limits "
                f"are {limits.max_attachments} documents and {limits.max_attachments_bytes} bytes"
            )


class _Names:
    """Gives children their sources: the parent's, a slash, the name inside. Text only; doubles are numbered."""

    def __init__(self, parent: str) -> None:
        self._parent = parent
        self._given: set[str] = set()
        self._next: dict[PurePosixPath, int] = {}

    def give(self, name: str) -> str:
        # Neither `..` nor a drive's root means anything here; they would only look like a place.
        parts = [part for part in re.split(r"[/\\]", name) if part.strip() not in {"", ".", ".."}]
        inside = PurePosixPath(*parts) if parts else PurePosixPath("unnamed")
        # Counted from where the last double ended: a thousand equal names are no million looks.
        for number in count(self._next.get(inside, 1)):
            numbered = inside if number == 1 else inside.with_name(f"{inside.stem} ({number}){inside.suffix}")
            source = source_name(f"{self._parent}/{numbered}", fallback="unnamed")
            if source not in self._given:
                self._given.add(source)
                self._next[inside] = number + 1
                return source
        raise AssertionError("numbers do not end")


def _not_a_document(path: Path) -> str | None:
    """Name a file that belongs to the mail itself and holds nothing to read; None for all others."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return next((kind for pattern, kind in _NOT_DOCUMENTS if pattern.match(head)), None)
