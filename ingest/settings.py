"""Settings of ingestion. Plain frozen values: only `api/settings.py` reads the environment."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field

from retrieval.types import Value


def _half_the_processors() -> int:
    # The encoder needs the others; each process may take `memory_mb`.
    return max(1, min(4, (os.cpu_count() or 1) // 2))


class ParserSettings(Value):
    """Limits of the parser processes."""

    processes: int = Field(default_factory=_half_the_processors, ge=1, le=32)
    timeout_s: float = Field(default=300.0, gt=0)
    """Wall time for one document; one with pages may take `page_average_s` more for each of them."""
    page_timeout_s: float = Field(default=120.0, gt=0)
    """Wall time for one page, where the parser tells of its pages."""
    page_average_s: float = Field(default=20.0, ge=0)
    """What a page may add to its document's wall time: a dense scanned page takes seven seconds of one core."""
    memory_mb: int = Field(default=2048, ge=256)
    max_bytes: int = Field(default=200 * 1024 * 1024, ge=1)
    max_pages: int = Field(default=10_000, ge=1)
    ocr: Literal["off", "missing", "images"] = "missing"
    """What is read from images: nothing, pages whose text is missing or garbled, or large pictures too."""
    ocr_threads: int = Field(default=1, ge=1, le=32)
    """Threads of the recogniser in each parser process."""
    max_attachments: int = Field(default=1_000, ge=0)
    """Documents taken out of one upload, nested ones included; what is above it is refused as too large."""
    max_attachments_bytes: int = Field(default=1024 * 1024 * 1024, ge=0)
    """Their bytes, all together."""

    def document_timeout_s(self, pages: int | None) -> float:
        """Return the wall time for a document of so many pages, as far as they are known."""
        return self.timeout_s + self.page_average_s * min(max(pages or 0, 0), self.max_pages)


class ChunkSettings(Value):
    """Sizes of chunks, in encoder tokens."""

    max_tokens: int = Field(default=400, ge=64)
    """Upper bound; the encoder's own limit counts where it is lower."""
    min_tokens: int = Field(default=48, ge=0)
    """Sections below this are merged with a neighbour."""


class IngestSettings(Value):
    """All of ingestion's settings."""

    parser: ParserSettings = ParserSettings()
    chunk: ChunkSettings = ChunkSettings()
    encode_batch: int = Field(default=16, ge=1)
    """At most so many chunks are encoded in one batch."""
    encode_batch_s: float = Field(default=0.3, gt=0)
    """A batch is made as large as takes about so long: a question waits for one batch at most."""
    lease_s: float = Field(default=60.0, gt=0)
    """A running job whose lease is older than this belongs to a dead process and is taken over."""
    max_attempts: int = Field(default=3, ge=1)
    admission: Literal["warn", "reject"] = "warn"
    """What happens to a document below the two limits that follow: it is taken in with a warning, or fails."""
    min_yield: float = Field(default=20.0, ge=0)
    """Characters a page, on average, that a document with pages must give."""
    max_garbled_ratio: float = Field(default=0.3, ge=0, le=1)
    """Share of characters without meaning (U+FFFD, private use, controls) that a document may have."""
