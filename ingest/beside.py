"""What stands beside a document's text, as it must be under the rules and the key of now: name, meta, notes, errors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from ingest.hiding import Hidden, Hides, hide_meta, hide_source
from ingest.renames import Renaming, renaming_by
from ingest.types import Document, DocumentMeta
from ingest.vault import Vault
from retrieval.symbols.pseudonyms import PSEUDONYM, is_erased


@dataclass(slots=True)
class Beside:
    """Name, meta and notes of a document without secrets."""

    source: str
    meta: DocumentMeta
    notes: tuple[str, ...]
    secrets: dict[str, str]
    """Those that were in the clear (pseudonym → value)."""

    @property
    def pseudonyms(self) -> frozenset[str]:
        """All pseudonyms that stand in it, whenever they came there: the document carries them."""
        return standing_in(self.source, *meta_texts(self.meta), *self.notes) | set(self.secrets)


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
    renaming = RenamingHides(hides, renames)
    meta, secrets = hide_meta(document.meta, tenant, renaming)
    source = hide_source(document.source, document.document_id, tenant, renaming)
    hidden = [renaming.hide(note, tenant) for note in notes]
    for each in (source, *hidden):
        secrets.update(each.secrets)
    return Beside(source.text, meta, tuple(each.text for each in hidden), secrets)


class RenamingHides:
    """A `Hides` that renames former pseudonyms first."""

    def __init__(self, hides: Hides, renames: Renaming) -> None:
        self._hides, self._renames = hides, renames

    def hide(self, text: str, tenant: str) -> Hidden:
        """Return the text with present pseudonyms, also in place of its secrets."""
        return self._hides.hide(self._renames.rename(tenant, text), tenant)


def bringing_up_to_date(hides: Hides, renames: Renaming, tenant: str) -> Callable[[str], str]:
    """Return what renames and hides in a copy of a document's text; it asks once for each text."""
    rename = renaming_by(renames, tenant)
    return lambda text: hides.hide(rename(text), tenant).text


def meta_texts(meta: DocumentMeta) -> tuple[str, ...]:
    """Return what an uploader says of a document, as far as it is free text."""
    return (meta.title or "", meta.issuer, *meta.labels)


def standing_in(*texts: str) -> frozenset[str]:
    """Return all pseudonyms that stand in these texts."""
    return frozenset(match.group() for text in texts for match in PSEUDONYM.finditer(text))


def carry_over(vault: Vault, renames: Renaming, tenant: str, document_id: str, standing: Collection[str]) -> None:
    """Keep values that a document carries under former pseudonyms under those present ones that stand beside it.

    Only what is on record as carried by this very document: whoever types a pseudonym into a title has no right
    to the value behind it. Erased values have no present pseudonym.
    """
    present = renames.present(tenant, vault.carried(tenant, document_id))
    wanted = {old: new for old, new in present.items() if new in standing and not _leads_nowhere(new)}
    values = vault.values(tenant, wanted)
    vault.write(tenant, document_id, {wanted[old]: value for old, value in values.items()})


def hidden_error(error: str | None, tenant: str, hides: Hides, renames: Renaming) -> str | None:
    """Return an error's message, which names the document, without secrets."""
    if error is None:
        return None
    return RenamingHides(hides, renames).hide(error, tenant).text


def _leads_nowhere(pseudonym: str) -> bool:
    match = PSEUDONYM.fullmatch(pseudonym)
    return match is None or is_erased(match)
