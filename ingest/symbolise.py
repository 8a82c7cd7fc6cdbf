"""Turns drafts into chunks: secrets out of text, headings and title; index text, symbols and language in.

Pure apart from what the token counter costs. Nothing here logs or raises with document text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingest.chunking.draft import DraftChunk, index_prefix
from ingest.chunking.ids import chunk_ids
from ingest.types import DocumentMeta
from retrieval.language_id import language_of
from retrieval.symbols.language import Secret, Symbolised, SymbolLanguage
from retrieval.types import Chunk, Language, Symbol

_LANGUAGE_SAMPLE = 20_000
_REMEMBERED = 4_000_000
"""Characters of read texts that are remembered, at some 20 bytes each: all of a document of 600 pages. Of
a longer one a chunk is read again when it is built, so that its memory stays bounded."""


@dataclass(frozen=True, slots=True)
class SymbolisedDocument:
    """A document's chunks without secrets, and the secrets for the vault, each once."""

    chunks: tuple[Chunk, ...]
    secrets: tuple[Secret, ...]
    title: str
    """The title without secrets."""
    erased: frozenset[str] = frozenset()
    """Fingerprints of erased values that stand in it."""


class DocumentSymboliser:
    """Symbolises one document. Chunker and builder share it, so that each text is read and counted once.

    Relative periods (上季度, last year) are resolved against the date the document takes effect.
    """

    def __init__(
        self, language: SymbolLanguage, count_tokens: Callable[[str], int], tenant: str, meta: DocumentMeta
    ) -> None:
        self._language = language.of(tenant)  # one reading of the rules for all of the document
        self._count, self._tenant, self._meta = count_tokens, tenant, meta
        self._known: dict[str, _Known] = {}
        self._remembered = 0
        self._erased: set[str] = set()

    def measure(self, text: str) -> int:
        """Count encoder tokens of a text as it will be encoded; the chunker's `measure`."""
        known = self._read(text)
        if known.tokens is None:
            known.tokens = self._count(known.symbolised.index_text)
        return known.tokens

    def build(self, document_id: str, title: str, drafts: Sequence[DraftChunk]) -> SymbolisedDocument:
        """Build the chunks of a document from its drafts, in their order.

        Args:
            document_id: the version the chunks belong to; chunk ids are stable within it.
            title: as given to the chunker, so that its budget holds.
            drafts: all drafts of the document.
        """
        secrets: dict[str, Secret] = {}
        whole = self._language_of_document(drafts)
        parts = [self._part(title, draft, secrets) for draft in drafts]
        clean_title = self._clean(title, secrets)
        issuer = self._clean(self._meta.issuer, secrets)
        chunks: list[Chunk] = []
        shift = 0
        for draft, part, chunk_id in zip(
            drafts, parts, chunk_ids(document_id, [part.draft for part in parts]), strict=True
        ):
            start = draft.start_char + shift
            end = start + len(part.draft.text) - part.draft.repeated_chars
            shift = end - draft.end_char
            chunks.append(
                Chunk(
                    chunk_id=chunk_id,
                    tenant=self._tenant,
                    document_id=document_id,
                    ordinal=draft.ordinal,
                    text=part.draft.text,
                    index_text=part.index_text,
                    heading_path=part.draft.heading_path,
                    page_start=draft.page_start,
                    page_end=draft.page_end,
                    section_number=draft.section_number,
                    start_char=start,
                    end_char=end,
                    boxes=draft.boxes,
                    speaker=part.draft.speaker,
                    start_s=draft.start_s,
                    end_s=draft.end_s,
                    language=self._meta.language or _language(part.draft.text, whole),
                    symbols=part.symbols,
                    token_count=self.measure(index_prefix(title, draft.heading_path, draft.text) + draft.text),
                    kind=draft.kind,
                    title=clean_title,
                    issuer=issuer,
                    authority=self._meta.authority,
                    effective_from=self._meta.effective_from,
                    effective_to=self._meta.effective_to,
                    labels=self._meta.labels,
                    access=self._meta.access,
                )
            )
        return SymbolisedDocument(tuple(chunks), tuple(secrets.values()), clean_title, frozenset(self._erased))

    def _part(self, title: str, draft: DraftChunk, secrets: dict[str, Secret]) -> _Part:
        """Symbolise a draft together with the headings above it, which give codes their context."""
        prefix = index_prefix(title, draft.heading_path, draft.text)
        head = self._symbolise(prefix)
        whole = self._symbolise(prefix + draft.text)
        if whole.text.startswith(head.text):
            at = len(head.text)
            text, index_text = whole.text[at:], whole.index_text
            symbols = tuple(_moved(symbol, -at) for symbol in whole.symbols if symbol.start >= at)
            found = (*head.secrets, *whole.secrets)
        else:  # something was read across the border of heading and text: read them apart
            body = self._symbolise(draft.text)
            text, index_text, symbols = body.text, head.index_text + body.index_text, body.symbols
            found = (*head.secrets, *body.secrets)
        secrets.update((secret.pseudonym, secret) for secret in found)
        repeated = self._clean(draft.text[: draft.repeated_chars], secrets)
        clean = draft.model_copy(
            update={
                "text": text,
                "heading_path": tuple(self._clean(heading, secrets) for heading in draft.heading_path),
                "speaker": None if draft.speaker is None else self._clean(draft.speaker, secrets),
                "repeated_chars": len(repeated),
            }
        )
        return _Part(clean, index_text, symbols)

    def _clean(self, text: str, secrets: dict[str, Secret]) -> str:
        symbolised = self._symbolise(text)
        secrets.update((secret.pseudonym, secret) for secret in symbolised.secrets)
        return symbolised.text

    def _symbolise(self, text: str) -> Symbolised:
        return self._read(text).symbolised

    def _read(self, text: str) -> _Known:
        known = self._known.get(text)
        if known is None:
            known = _Known(self._language.symbolise(text, base_date=self._meta.effective_from))
            self._known[text] = known
            self._erased |= known.symbolised.erased
            self._remembered += len(text)
            while self._remembered > _REMEMBERED and len(self._known) > 1:
                oldest = next(iter(self._known))
                del self._known[oldest]
                self._remembered -= len(oldest)
        return known

    def _language_of_document(self, drafts: Sequence[DraftChunk]) -> Language:
        sample = ""
        for draft in drafts:
            if len(sample) > _LANGUAGE_SAMPLE:
                break
            sample += draft.text + "\n"
        return language_of(sample)


@dataclass(slots=True)
class _Known:
    """A text that was read, and its tokens once they were counted."""

    symbolised: Symbolised
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    draft: DraftChunk
    """The draft without secrets."""
    index_text: str
    symbols: tuple[Symbol, ...]


def _language(text: str, whole: Language) -> Language:
    """A chunk of figures alone speaks its document's language."""
    own = language_of(text)
    return whole if own == "other" else own


def _moved(symbol: Symbol, by: int) -> Symbol:
    return symbol.model_copy(update={"start": symbol.start + by, "end": symbol.end + by})
