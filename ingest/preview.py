"""What ingestion would make of a file, without taking it in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from ingest.errors import NoTextError
from ingest.naming import source_name, title_of
from ingest.report import AdmissionReport, build_report
from ingest.types import Document, DocumentMeta, ParsedDocument
from ingest.work import Cutter, Parsers
from retrieval.types import Chunk


@dataclass(frozen=True, slots=True)
class Preview:
    """A file's blocks, its chunks, and the report it would be admitted with."""

    parsed: ParsedDocument
    chunks: Sequence[Chunk]
    report: AdmissionReport
    title: str


async def preview(
    path: Path,
    parsers: Parsers,
    cutter: Cutter,
    *,
    password: str | None = None,
    attachments: Path | None = None,
    tenant: str = "preview",
    base_date: date | None = None,
) -> Preview:
    """Parse, cut and symbolise a file; nothing is stored.

    Args:
        path: the file.
        parsers: the sandbox.
        cutter: the chunker and symboliser.
        password: opens the document.
        attachments: folder for what is found inside it.
        tenant: whose symbol rules it is read under.
        base_date: what its relative periods are resolved against.

    Raises:
        IngestError: as its ingestion would fail.
    """
    name = source_name(path.name, fallback="unnamed")
    parsed = await parsers.parse(path, name, password=password, attachments=attachments)
    document = unstored_document(name, parsed, tenant=tenant, base_date=base_date)
    cut = await asyncio.to_thread(cutter.cut, parsed, document)
    if not cut.chunks:
        raise NoTextError(f"{name}: no text was found in it")
    return Preview(parsed, cut.chunks, build_report(parsed, cut.chunks), cut.title)


def unstored_document(
    name: str, parsed: ParsedDocument, *, tenant: str = "preview", base_date: date | None = None
) -> Document:
    """Return what the chunker needs to know of a document that no catalogue holds."""
    return Document(
        document_id="0" * 32,
        tenant=tenant,
        source=name,
        version=1,
        state="pending",
        meta=DocumentMeta(effective_from=base_date),
        title=title_of(parsed.title) or name,
        format=parsed.format,
        size_bytes=0,
        page_count=parsed.page_count,
        created_by="preview",
        created_at=datetime.now(UTC),
    )
