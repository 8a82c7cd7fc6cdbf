"""What stands beside a document's text, as it must be under the rules and the key of now: name, meta, notes, errors."""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.hiding import Hidden, Hides, hide_meta, hide_source
from ingest.renames import Renaming
from ingest.types import Document, DocumentMeta
from retrieval.symbols.pseudonyms import PSEUDONYM


@dataclass(slots=True)
class Beside:
    """Name, meta and notes of a document without secrets."""

    source: str
    meta: DocumentMeta
    notes: tuple[str, ...]
    secrets: dict[str, str]
    """Those that were in the clear (pseudonym → value)."""
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """Pseudonyms of now whose value the vault knows under a former one (new → old)."""

    @property
    def pseudonyms(self) -> frozenset[str]:
        """All pseudonyms that stand in it, whenever they came there: the document carries them."""
        texts = (self.source, self.meta.title or "", self.meta.issuer, *self.meta.labels, *self.notes)
        return frozenset(match.group() for text in texts for match in PSEUDONYM.finditer(text)) | set(self.secrets)


@dataclass(frozen=True, slots=True)
class Again:
    """What reading a ready document again has made of it, beside its chunks."""

    revision: str
    """The rules it was read under."""
    title: str
    kept: frozenset[str]
    """All pseudonyms that it carries now, those in its name and notes included."""
    chunk_ids: frozenset[str]
    """All its chunks."""


def look_beside(document: Document, notes: tuple[str, ...], hides: Hides, renames: Renaming) -> Beside:
    """Rename and hide what stands beside a document; done again it changes nothing."""
    tenant = document.tenant
    renaming = _Renamed(hides, renames)
    meta, secrets = hide_meta(document.meta, tenant, renaming)
    source = hide_source(document.source, document.document_id, tenant, renaming)
    hidden = [renaming.hide(note, tenant) for note in notes]
    for each in (source, *hidden):
        secrets.update(each.secrets)
    return Beside(source.text, meta, tuple(each.text for each in hidden), secrets, renaming.renamed)


class _Renamed:
    """A `Hides` that renames former pseudonyms first, and remembers which."""

    def __init__(self, hides: Hides, renames: Renaming) -> None:
        self._hides, self._renames = hides, renames
        self.renamed: dict[str, str] = {}

    def hide(self, text: str, tenant: str) -> Hidden:
        text, renamed = self._renames.rename(tenant, text)
        self.renamed |= renamed
        return self._hides.hide(text, tenant)


def hidden_error(error: str | None, tenant: str, hides: Hides, renames: Renaming) -> str | None:
    """Return an error's message, which names the document, without secrets."""
    if error is None:
        return None
    return hides.hide(renames.rename(tenant, error)[0], tenant).text
