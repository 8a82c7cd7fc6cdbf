"""The admission report: what a document gave, kept before it is made ready.

Counts, and notes. Notes may name what the document names (its sheets, its tables, what lies inside it), with
pseudonyms in place of secrets (`ingest.hiding`); nothing else in it is text of the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Literal

from ingest.types import Format, PageYield, ParsedDocument
from retrieval.types import Chunk, SymbolClass, Value


class TokenSpread(Value):
    """Distribution of chunk lengths in encoder tokens; percentiles by nearest rank."""

    total: int
    smallest: int
    median: int
    p90: int
    largest: int


class VersionChange(Value):
    """Difference from the former version, by equal encoded text."""

    former_document_id: str
    added: int
    removed: int
    kept: int


class AdmissionReport(Value):
    """What a document gave on its way in."""

    format: Format
    encoding: str | None = None
    page_count: int | None = None
    characters: int
    pages: tuple[PageYield, ...] = ()
    empty_pages: int = 0
    ocr_pages: int = 0
    garbled_ratio: float = 0.0
    """Over all pages, weighted by their characters."""
    blocks: dict[str, int]
    tables: int = 0
    symbols: dict[SymbolClass, dict[str, int]]
    """Class → kind → how many occurrences."""
    chunks: int
    tokens: TokenSpread
    languages: dict[Literal["zh", "en", "other"], int]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What the admission policy found wanting (see `ingest.admission`)."""
    reused: int = 0
    """Chunks that were not encoded, because the former version or the document itself has their text (`Job`)."""
    change: VersionChange | None = None
    """None for a first version."""


def build_report(parsed: ParsedDocument, chunks: Sequence[Chunk]) -> AdmissionReport:
    """Build the report of a parsed and symbolised document with at least one chunk."""
    blocks = Counter(block.kind for block in parsed.blocks)
    page_characters = sum(page.characters for page in parsed.pages)
    garbled = sum(page.garbled_ratio * page.characters for page in parsed.pages)
    symbols: dict[SymbolClass, Counter[str]] = {}
    for chunk in chunks:
        for symbol in chunk.symbols:
            symbols.setdefault(symbol.cls, Counter())[symbol.kind] += 1
    return AdmissionReport(
        format=parsed.format,
        encoding=parsed.encoding,
        page_count=parsed.page_count,
        characters=sum(len(block.text) for block in parsed.blocks),
        pages=parsed.pages,
        empty_pages=sum(page.characters == 0 for page in parsed.pages),
        ocr_pages=sum(page.ocr for page in parsed.pages),
        garbled_ratio=garbled / page_characters if page_characters else 0.0,
        blocks=dict(blocks),
        tables=blocks["table"],
        symbols={cls: dict(kinds) for cls, kinds in symbols.items()},
        chunks=len(chunks),
        tokens=_spread([chunk.token_count for chunk in chunks]),
        languages=dict(Counter(chunk.language for chunk in chunks)),
        notes=parsed.notes,
    )


def text_key(chunk: Chunk) -> bytes:
    """Return what stands for the encoded text of a chunk where versions are compared: a large one has many."""
    return blake2b(chunk.index_text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def compare(former_document_id: str, before: Counter[bytes], present: Iterable[Chunk]) -> VersionChange:
    """Count chunks added, removed and kept; a text that occurs twice counts twice.

    Args:
        former_document_id: the former version.
        before: how often it has each text (`text_key`).
        present: the chunks of the new version.
    """
    after = Counter(text_key(chunk) for chunk in present)
    return VersionChange(
        former_document_id=former_document_id,
        added=(after - before).total(),
        removed=(before - after).total(),
        kept=(before & after).total(),
    )


def _spread(counts: Sequence[int]) -> TokenSpread:
    ordered = sorted(counts)

    def rank(share: float) -> int:
        return ordered[max(0, -(-int(share * 100) * len(ordered) // 100) - 1)]

    return TokenSpread(total=sum(ordered), smallest=ordered[0], median=rank(0.5), p90=rank(0.9), largest=ordered[-1])
