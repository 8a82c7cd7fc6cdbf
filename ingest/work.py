"""What the steps of the pipeline hand to each other, and the two parts they are given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ingest.beside import Again
from ingest.children import StoredChild
from ingest.hiding import Hides
from ingest.leases import Claim
from ingest.report import AdmissionReport
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
    erased: frozenset[str] = frozenset()
    """Fingerprints of erased values that stand in the document."""


class Cutter(Hides, Protocol):
    """Cuts and symbolises a parsed document. Pure, but slow: it runs on a thread of its own.

    What it measures tokens with must therefore stand being called beside the encoder's thread.
    """

    def cut(self, parsed: ParsedDocument, document: Document) -> Cut:
        """Return the document's chunks in order; no chunks when there is no text.

        `document.title` is the title to use, as it was found.
        """
        ...

    def revision(self, tenant: str) -> str:
        """Name the rules and the key of now; under one revision the same text always gives the same."""
        ...


@dataclass(slots=True)
class Work:
    """A claimed document between the stages."""

    claim: Claim
    document: Document
    report: AdmissionReport | None = None
    """None when the switch was done before a crash and only the last steps are left."""
    total: int = 0
    """How many chunks the document has."""
    todo: dict[str, Chunk] = field(default_factory=dict[str, Chunk])
    """Chunks that are not in the store yet, by id and in order; shrinks with every batch that is durable. Nothing
    else of the document's text is kept here, so that a large one does not fill the memory while it waits."""
    familiar: frozenset[str] = frozenset()
    """Ids of chunks whose text stands in the former version too, or earlier in the document."""
    reused: int = 0
    """How many of the familiar chunks were written without being encoded. Of others it is not told: an
    uploader could learn from it what stands in documents of the tenant that are not shown to him."""
    former: Document | None = None
    """The ready version of the line that this one follows."""
    children: tuple[StoredChild, ...] = ()
    """Documents found inside, stored but not registered yet."""
    notes: tuple[str, ...] = ()
    """For the report, beside the parser's own."""
    name_secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Secrets from the parser's notes and the names of what is inside (pseudonym → value)."""
    warnings: tuple[str, ...] = ()
    """What the admission policy found wanting."""
    revision: str = ""
    """The rules it is read under."""
    again: Again | None = None
    """Of a ready document that is read again under other rules."""

    @property
    def done(self) -> int:
        """How many chunks are in the store."""
        return self.total - len(self.todo)

    def settle(self, written: Collection[str], reused: Collection[str]) -> None:
        """Take note of chunks that are in the store now, and of which among these were not encoded for it."""
        # Once per batch: what is left is not walked through.
        for chunk_id in written:
            if self.todo.pop(chunk_id, None) is not None:
                self.reused += chunk_id in reused and chunk_id in self.familiar
