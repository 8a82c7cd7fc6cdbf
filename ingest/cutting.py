"""From a parsed document to symbolised chunks: the chunker and the symboliser together."""

from __future__ import annotations

from collections.abc import Callable

from ingest.chunking.chunker import chunk_document
from ingest.hiding import Hidden
from ingest.settings import ChunkSettings
from ingest.symbolise import DocumentSymboliser
from ingest.types import Document, ParsedDocument
from ingest.work import Cut
from retrieval.symbols.language import SymbolLanguage


class SymbolicCutter:
    """Cuts documents by their structure within the encoder's budget, and symbolises them."""

    def __init__(
        self,
        language: SymbolLanguage,
        count_tokens: Callable[[str], int],
        max_tokens: int,
        settings: ChunkSettings,
    ) -> None:
        """Take the parts.

        Args:
            language: the symbol language with the deployment's pseudonym key.
            count_tokens: the encoder's token count; called on another thread than the encoder's.
            max_tokens: the encoder's own limit.
            settings: sizes of chunks.
        """
        self._language = language
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens
        self._settings = settings

    def cut(self, parsed: ParsedDocument, document: Document) -> Cut:
        """Return the document's chunks in order; none when there is no text."""
        symboliser = DocumentSymboliser(self._language, self._count_tokens, document.tenant, document.meta)
        drafts = chunk_document(parsed, symboliser.measure, self._settings, self._max_tokens, document.title)
        built = symboliser.build(document.document_id, document.title, drafts)
        return Cut(
            built.chunks, {secret.pseudonym: secret.value for secret in built.secrets}, built.title, built.erased
        )

    def revision(self, tenant: str) -> str:
        """Name the rules and the pseudonym key of now; looks at the database, not at what is in memory."""
        return self._language.latest(tenant).revision

    def hide(self, text: str, tenant: str) -> Hidden:
        """Return the text with pseudonyms in place of its secrets; again it changes nothing."""
        symbolised = self._language.symbolise(text, tenant=tenant)
        return Hidden(symbolised.text, {secret.pseudonym: secret.value for secret in symbolised.secrets})
