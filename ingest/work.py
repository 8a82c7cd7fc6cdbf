"""What the steps of the pipeline hand to each other, and the two parts they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ingest.leases import Claim
from ingest.types import Document, ParsedDocument
from retrieval.types import Chunk


def ignore_page(pages_done: int, pages_total: int | None) -> None:
    """Take no notice of the progress by page; the default."""


class Parsers(Protocol):
    """Parses files in processes of their own."""

    async def parse(
        self,
        path: Path,
        display_name: str,
        *,
        password: str | None = None,
        attachments: Path | None = None,
        on_page: Callable[[int, int | None], None] = ignore_page,
    ) -> ParsedDocument:
        """Parse a file by its content; raises the parser leaves of `ingest.errors`.

        Args:
            path: the file.
            display_name: what messages call it.
            password: opens an encrypted document.
            attachments: an empty folder for the documents found inside; without one they are only noted.
            on_page: told pages done and pages in all, from any thread.
        """
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """A document cut into chunks, with the secrets that were taken out (pseudonym → value)."""

    chunks: Sequence[Chunk]
    secrets: Mapping[str, str]
    title: str
    """The title, with its secrets taken out as well."""


class Cutter(Protocol):
    """Cuts and symbolises a parsed document. Pure, but slow: it runs on a thread of its own.

    What it measures tokens with must therefore stand being called beside the encoder's thread.
    """

    def cut(self, parsed: ParsedDocument, document: Document) -> Cut:
        """Return the document's chunks in order; no chunks when there is no text.

        `document.title` is the title to use, as it was found.
        """
        ...


@dataclass(slots=True)
class Work:
    """A claimed document between the stages."""

    claim: Claim
    document: Document
    parsed: ParsedDocument | None = None
    """None when the switch was done before a crash and only the last steps are left."""
    chunks: Sequence[Chunk] = ()
    todo: tuple[Chunk, ...] = ()
    """Chunks that are not in the store yet; shrinks with every batch that is durable."""
    former: Document | None = None
    """The ready version of the line that this one follows."""

    @property
    def done(self) -> int:
        """How many chunks are in the store."""
        return len(self.chunks) - len(self.todo)
