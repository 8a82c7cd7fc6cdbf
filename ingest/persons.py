"""What is kept of a person: looked up, handed over, by values that somebody names (a phone, an identity card, a name).

A person is a set of values. Nothing links them but who asks: the vault knows no persons.
Who asks sees the documents that are shown to him anyway, and other people's values stay pseudonyms.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from pydantic import Field
from sqlalchemy import Engine, select

from ingest.catalog import Clock, select_documents, utc_now, visible_to
from ingest.errors import NotPermittedError, VaultKeyError
from ingest.renames import Renames
from ingest.reveals import Reveal, RevealLog
from ingest.tables import documents, vault_uses
from ingest.types import Document
from ingest.vault import Vault
from retrieval.store import VectorStore
from retrieval.symbols.language import Secret
from retrieval.symbols.pseudonyms import PSEUDONYM, is_erased, kind_of, put_in
from retrieval.types import Chunk, Principal, Right, Scope, SearchFilter, Value

_MANY = 400


class RunMention(Value):
    """A run in which a pseudonym stands."""

    run_id: str
    user: str
    started_at: datetime
    pseudonyms: tuple[str, ...]


class Mentions(Protocol):
    """Finds runs that mention pseudonyms; the agent's room supplies it."""

    def of(self, tenant: str, pseudonyms: Collection[str]) -> list[RunMention]:
        """Return the runs of a tenant in which any of these pseudonyms stands, oldest first."""
        ...


class Identifies(Protocol):
    """Knows which secrets a value given by itself may be (`SymbolLanguage.identify`)."""

    def identify(self, given: str, *, tenant: str) -> tuple[Secret, ...]:
        """Return them; none where no rule reads the value."""
        ...


class FoundDocument(Value):
    """A document that carries a value."""

    document_id: str
    title: str
    source: str
    version: int
    state: str


class FoundValue(Value):
    """What is known of one of the values that were asked for."""

    position: int
    """Which of the values given it is, from 0; a value may have several readings."""
    kind: str
    pseudonym: str
    kept: bool
    """Whether the vault keeps it for a document that the caller may see."""
    documents: tuple[FoundDocument, ...]
    """Those that carry it and that the caller may see."""


class Search(Value):
    """What a search for values gave."""

    values: tuple[FoundValue, ...]
    unread: tuple[int, ...]
    """Positions of values that no rule reads as a secret: they are never taken for one, so they may stand anywhere."""


class FoundChunk(Value):
    """A chunk that mentions the person, with this person's values in the clear and nobody else's."""

    chunk_id: str
    page: int | None
    section: int | None
    text: str = Field(repr=False)


class ExportedValue(Value):
    """A value of the person in the clear."""

    kind: str
    pseudonym: str
    value: str


class ExportedDocument(FoundDocument):
    """A document that carries values of the person, and what it says of it."""

    pseudonyms: tuple[str, ...]
    chunks: tuple[FoundChunk, ...]


ExportPart = ExportedValue | ExportedDocument | RunMention | Reveal


@dataclass(frozen=True, slots=True)
class Known:
    """The values that a caller named, as the language reads them."""

    secrets: Mapping[str, tuple[int, str]]
    """Pseudonym → position and kind."""
    values: Mapping[str, str] = field(repr=False)
    """Pseudonym → value, as far as it was given or the vault has it."""
    former: Mapping[str, str]
    """Pseudonyms under former keys → the present one."""
    unread: tuple[int, ...]

    @property
    def pseudonyms(self) -> frozenset[str]:
        """All of them, former ones included."""
        return frozenset({*self.secrets, *self.former})


class Persons:
    """Answers what is kept of values. Blocking, but for `export`."""

    def __init__(
        self,
        *,
        engine: Engine,
        language: Identifies,
        vault: Vault,
        renames: Renames,
        store: VectorStore,
        mentions: Mentions,
        log: RevealLog,
        clock: Clock = utc_now,
    ) -> None:
        self._engine = engine
        self._language = language
        self._vault = vault
        self._renames = renames
        self._store = store
        self._mentions = mentions
        self._log = log
        self._clock = clock

    def search(self, principal: Principal, given: Sequence[str], reason: str) -> Search:
        """Return kind, pseudonym and documents of each value; logged.

        Raises:
            NotPermittedError: without one of the rights `reveal` and `admin`.
        """
        if not principal.may("admin"):
            self.require(principal, ("reveal",), reason, "search")
        known = self.known(principal, given, reason, "search")
        self._log.write(principal, list(known.secrets) or [""], reason, "searched", place="search")
        carrying = self.carrying(principal.tenant, known, principal)
        values = [
            FoundValue(
                position=position,
                kind=kind,
                pseudonym=pseudonym,
                kept=bool(carrying.get(pseudonym)),
                documents=tuple(_found(document) for document in carrying.get(pseudonym, ())),
            )
            for pseudonym, (position, kind) in known.secrets.items()
        ]
        return Search(values=tuple(sorted(values, key=lambda each: each.position)), unread=known.unread)

    async def export(self, principal: Principal, given: Sequence[str], reason: str) -> AsyncIterator[ExportPart]:
        """Give all that is kept of a person, part by part: values, documents with their chunks, runs, reveals.

        Rights are checked and the log is written before the first part.

        Raises:
            NotPermittedError: without `reveal` (values are shown) and `admin` (other users' runs are named).
        """
        await asyncio.to_thread(self.require, principal, ("reveal", "admin"), reason, "export")
        known = await asyncio.to_thread(self.known, principal, given, reason, "export")
        carrying = await asyncio.to_thread(self.carrying, principal.tenant, known, principal)
        shown = {each: known.values[each] for each in known.secrets if carrying.get(each) and each in known.values}
        await asyncio.to_thread(self._log.write, principal, list(shown) or [""], reason, "revealed", place="export")
        return self._parts(principal, known, shown, carrying)

    async def _parts(
        self,
        principal: Principal,
        known: Known,
        shown: Mapping[str, str],
        carrying: Mapping[str, Sequence[Document]],
    ) -> AsyncIterator[ExportPart]:
        for pseudonym, value in shown.items():
            yield ExportedValue(kind=known.secrets[pseudonym][1], pseudonym=pseudonym, value=value)
        by_document: dict[str, tuple[Document, set[str]]] = {}
        for pseudonym, carriers in carrying.items():
            for document in carriers:
                by_document.setdefault(document.document_id, (document, set()))[1].add(pseudonym)
        readable = {**shown, **{old: shown[new] for old, new in known.former.items() if new in shown}}
        for document, pseudonyms in by_document.values():
            chunks = await self._chunks(principal, document, readable)
            yield ExportedDocument(
                **_found(document).model_dump(), pseudonyms=tuple(sorted(pseudonyms)), chunks=tuple(chunks)
            )
        for run in await asyncio.to_thread(self._mentions.of, principal.tenant, known.pseudonyms):
            yield run
        for entry in await asyncio.to_thread(self._log.entries, principal.tenant, pseudonyms=known.pseudonyms):
            yield entry

    async def _chunks(self, principal: Principal, document: Document, readable: Mapping[str, str]) -> list[FoundChunk]:
        only = SearchFilter(document_ids=frozenset({document.document_id}))
        chunks = await self._store.document_chunks(document.document_id, Scope.of(principal, only))
        return [
            FoundChunk(
                chunk_id=chunk.chunk_id,
                page=chunk.page_start,
                section=chunk.section_number,
                text=put_in(
                    "\n".join((*chunk.heading_path, *([chunk.speaker] if chunk.speaker else []), chunk.text)), readable
                ),
            )
            for chunk in chunks
            if mentions(chunk, readable)
        ]

    def require(self, principal: Principal, rights: Iterable[Right], reason: str, place: str) -> None:
        """Let a principal pass that holds all of these rights; a refusal is logged.

        Raises:
            NotPermittedError: one is missing.
        """
        for right in rights:
            if not principal.may(right):
                self._log.write(principal, [""], reason, "refused", place=place)
                raise NotPermittedError(f"user {principal.user!r} lacks the right {right!r}")

    def known(self, principal: Principal, given: Sequence[str], reason: str, place: str) -> Known:
        """Read the values that a caller named; a pseudonym stands for the value behind it.

        Raises:
            VaultKeyError: a value was written under another key; logged.
        """
        try:
            return self._known(principal.tenant, given)
        except VaultKeyError:
            self._log.write(principal, [""], reason, "failed", place=place)
            raise

    def _known(self, tenant: str, given: Sequence[str]) -> Known:
        secrets: dict[str, tuple[int, str]] = {}
        values: dict[str, str] = {}
        unread: list[int] = []
        for position, text in enumerate(given):
            named = PSEUDONYM.fullmatch(text.strip())
            if named is not None and is_erased(named):
                unread.append(position)
                continue
            if named is not None:
                secrets.setdefault(self._present(tenant, named.group()), (position, kind_of(named)))
                continue
            found = self._language.identify(text, tenant=tenant)
            for secret in found:
                secrets.setdefault(secret.pseudonym, (position, secret.kind))
                values[secret.pseudonym] = secret.value
            if not found:
                unread.append(position)
        missing = [each for each in secrets if each not in values]
        values |= self._vault.values(tenant, missing)
        former = {old: new for new in secrets for old in self._former(tenant, new) if old not in secrets}
        return Known(secrets, values, former, tuple(unread))

    def _present(self, tenant: str, pseudonym: str) -> str:
        """Return the pseudonym under the key of now; of an erased value the one it had."""
        present = self._renames.present(tenant, [pseudonym]).get(pseudonym, pseudonym)
        match = PSEUDONYM.fullmatch(present)
        return pseudonym if match is not None and is_erased(match) else present

    def _former(self, tenant: str, pseudonym: str) -> frozenset[str]:
        """Return the pseudonyms under former keys; none of an erased value, whose pseudonyms lead nowhere."""
        if pseudonym in self._renames.present(tenant, [pseudonym]):
            return frozenset()
        return self._renames.others(tenant, [pseudonym])

    def carrying(self, tenant: str, known: Known, principal: Principal | None = None) -> dict[str, list[Document]]:
        """Return present pseudonym → the documents that carry it, in their order of upload.

        Args:
            tenant: whose.
            known: what is looked for.
            principal: only documents that he may see; None: all, for work inside.
        """
        uses: list[tuple[str, str]] = []
        found: dict[str, Document] = {}
        visible = () if principal is None else (visible_to(principal),)
        with self._engine.connect() as connection:
            for some in _slices(known.pseudonyms):
                rows = connection.execute(
                    select(vault_uses.c.pseudonym, vault_uses.c.document_id).where(
                        vault_uses.c.tenant == tenant, vault_uses.c.pseudonym.in_(some)
                    )
                )
                uses += [(known.former.get(row.pseudonym, row.pseudonym), row.document_id) for row in rows]
            for some in _slices({document_id for _, document_id in uses}):
                for document in select_documents(
                    connection,
                    documents.c.tenant == tenant,
                    documents.c.document_id.in_(some),
                    documents.c.state != "deleted",
                    *visible,
                ):
                    found[document.document_id] = document
        carrying: dict[str, list[Document]] = {}
        for pseudonym, document_id in sorted(uses):
            if document_id in found and found[document_id] not in carrying.setdefault(pseudonym, []):
                carrying[pseudonym].append(found[document_id])
        for each in carrying.values():
            each.sort(key=lambda document: (document.created_at, document.document_id))
        return carrying


def mentions(chunk: Chunk, pseudonyms: Collection[str]) -> bool:
    """Tell whether any of these pseudonyms stands in a chunk or above it."""
    texts = (chunk.text, chunk.title, chunk.issuer, chunk.speaker or "", *chunk.heading_path, *chunk.labels)
    return any(each in text for text in texts if "[" in text for each in pseudonyms)


def _found(document: Document) -> FoundDocument:
    return FoundDocument(
        document_id=document.document_id,
        title=document.title,
        source=document.source,
        version=document.version,
        state=document.state,
    )


def _slices(items: Collection[str]) -> Iterable[list[str]]:
    ordered = sorted(items)
    return (ordered[at : at + _MANY] for at in range(0, len(ordered), _MANY))
