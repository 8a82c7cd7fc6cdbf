"""Values of ingestion: blocks, parsed documents, documents, jobs."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import Field, field_validator, model_validator

from retrieval.types import EVERYONE, Authority, Box, Value

Format = Literal[
    "pdf",
    "image",
    "docx",
    "doc",
    "rtf",
    "odt",
    "pptx",
    "ppt",
    "odp",
    "xlsx",
    "xls",
    "ods",
    "csv",
    "html",
    "epub",
    "feed",
    "xml",
    "eml",
    "msg",
    "markdown",
    "rst",
    "org",
    "notebook",
    "text",
    "json",
    "sqlite",
    "database",
    "srt",
    "vtt",
    "transcript",
    "archive",
]
BlockKind = Literal["heading", "paragraph", "list", "table", "caption", "turn", "code"]


class Block(Value):
    """A parsed element in reading order. Parsers give blocks and know nothing of chunks."""

    kind: BlockKind
    text: str
    """Plain text; for tables the rows joined by newlines, cells by ` | ` (see `rows`)."""
    level: int = 0
    """Heading level, 1 to 6; 0 for other kinds."""
    page_number: int | None = None
    """1-based page the block starts on; None where the format has no pages, never invented."""
    page_end: int | None = None
    boxes: tuple[Box, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """Tables: cells by row, merged cells expanded, all rows of equal length."""
    header_rows: int = 0
    """How many leading rows are the header."""
    speaker: str | None = None
    start_s: float | None = None
    end_s: float | None = None


class PageYield(Value):
    """What one page gave, for the admission report."""

    page_number: int
    characters: int
    garbled_ratio: float = 0.0
    ocr: bool = False


class Attachment(Value):
    """A document inside a document (of a message, an archive), taken out by the parser process."""

    name: str
    """The name it has there; text only, never used as a path."""
    file: str
    """Name of the plain file that holds it in the folder given to the parser."""
    size_bytes: int


class ParsedDocument(Value):
    """A parser's whole result. Plain data: it crosses the sandbox's process border."""

    format: Format
    blocks: tuple[Block, ...]
    page_count: int | None = None
    title: str = ""
    """The document's own title (metadata or first heading); empty when it has none."""
    encoding: str | None = None
    """Detected text encoding, for text formats."""
    pages: tuple[PageYield, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    """Documents found inside; they become documents of their own."""
    notes: tuple[str, ...] = ()
    """What the parser dropped or could not read, in words for the admission report."""


DocumentState = Literal["pending", "ready", "superseded", "failed", "deleted"]
JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]
JobKind = Literal["ingest", "resymbolise"]
JobStage = Literal["queued", "parsing", "chunking", "encoding", "publishing", "done"]


class DocumentMeta(Value):
    """What the uploader says of a document; all of it reaches every chunk."""

    title: str | None = None
    issuer: str = ""
    authority: Authority = "unknown"
    effective_from: date | None = None
    effective_to: date | None = None
    labels: frozenset[str] = frozenset()
    access: frozenset[str] = frozenset({EVERYONE})
    """Entries `everyone`, `user:NAME`, `group:NAME`."""
    language: Literal["zh", "en", "other"] | None = None

    @field_validator("access")
    @classmethod
    def _known_forms(cls, value: frozenset[str]) -> frozenset[str]:
        for entry in value:
            kind, _, name = entry.partition(":")
            if entry != EVERYONE and (kind not in {"user", "group"} or not name):
                raise ValueError(f"{entry!r} is not one of everyone, user:NAME, group:NAME")
        return value

    @model_validator(mode="after")
    def _in_order(self) -> DocumentMeta:
        if self.effective_from and self.effective_to and self.effective_to <= self.effective_from:
            raise ValueError("effective_to must be after effective_from")
        return self


class Document(Value):
    """One version of a source file, as the catalogue keeps it."""

    document_id: str
    """32 hex digits."""
    tenant: str
    source: str
    """The name that ties versions together: the upload's display name, text only, never a path on disk."""
    parent_id: str | None = None
    """The document it was found in, for an attachment or a member of an archive."""
    version: int = Field(ge=1)
    state: DocumentState
    meta: DocumentMeta
    title: str
    format: Format | None = None
    content_hash: str | None = None
    """SHA-256 of the bytes; recorded last, when everything else is done."""
    size_bytes: int
    page_count: int | None = None
    chunk_count: int = 0
    created_by: str
    created_at: datetime
    warnings: tuple[str, ...] = ()
    """What the admission policy found wanting, in words."""
    error_code: str | None = None
    error: str | None = None


class Job(Value):
    """One durable job: a document on its way in, or one that is read again under other symbol rules."""

    job_id: str
    tenant: str
    document_id: str
    source: str
    kind: JobKind = "ingest"
    state: JobState
    stage: JobStage = "queued"
    pages_done: int = 0
    pages_total: int | None = None
    chunks_done: int = 0
    chunks_total: int | None = None
    chunks_reused: int = 0
    """Chunks of `chunks_done` that were not encoded because the former version, or the document itself, has
    their text. What other documents lent is not told."""
    outcome: Literal["new", "new_version", "unchanged", "noted", "resymbolised"] | None = None
    """`unchanged`: the same bytes were ready already; `document_id` names that document. `noted`: an attachment
    that nobody reads; the report of the document it came in, which `document_id` names, says so."""
    attempts: int = 0
    children: int = 0
    """Documents that were found inside the document, as far as they are not deleted."""
    warnings: tuple[str, ...] = ()
    """What the admission policy found wanting in the document."""
    error_code: str | None = None
    error: str | None = None
    created_at: datetime
    updated_at: datetime


class DeletionReceipt(Value):
    """What a delete probed afterwards and what was left there (all zero when it succeeded)."""

    document_id: str
    deleted_chunks: int
    """Those of the documents found inside included."""
    deleted_children: int = 0
    """Documents found inside it (attachments, members of an archive) that were deleted with it."""
    left: dict[str, int]
    """Probe name → count left: `chunks`, `originals`, `vault_only_here`, …"""
    at: datetime
