"""Forgetting a person: values leave the vault for good, and whatever carried them is read again or deleted.

The order of writes is such that every step may be done again: the fingerprint first, so that nothing brings a
value back; then the values; then the pseudonyms, which lead nowhere from then on. `erase` again does what is
left, and its receipt says what that is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Literal, Protocol

from ingest.catalog import Clock, utc_now
from ingest.copies import Copies
from ingest.corrections import Corrections, written
from ingest.erased import ErasedValues
from ingest.originals import Originals
from ingest.persons import FoundDocument, Known, Mentions, Persons, mentions
from ingest.renames import Renames
from ingest.reveals import Hide, RevealLog
from ingest.types import DeletionReceipt, Document
from ingest.vault import Vault
from retrieval.store import VectorStore
from retrieval.symbols.pseudonyms import PSEUDONYM, erased, kind_of, put_in
from retrieval.symbols.rules import Correction, ErasedText
from retrieval.types import Principal, Scope, SearchFilter, Value


class ReadsAgain(Protocol):
    """Queues documents for another reading (`ingest.resymbolisation.Resymbolisation`)."""

    def queue_documents(self, tenant: str, document_ids: Collection[str]) -> list[str]:
        """Queue these documents; return the jobs."""
        ...

    def changing(self, tenant: str) -> asyncio.Lock:
        """Return what a change of a tenant's rules holds until it has settled."""
        ...

    def standing(self, tenant: str, revision: str) -> frozenset[str]:
        """Return the documents that were read under these rules."""
        ...

    def settle(self, tenant: str, former: str, looked_at: Collection[str], affected: Collection[str]) -> None:
        """Note which documents of former rules read the same under those of now; queue those nobody looked at."""
        ...

    def sweep(self, tenant: str) -> int:
        """Rename in names and messages that no reading visits; return how many changed."""
        ...


class Fingerprints(Protocol):
    """Recognises erased values (`retrieval.symbols.language.SymbolLanguage`)."""

    def fingerprint(self, kind: str, value: str, *, tenant: str) -> str:
        """Return the fingerprint of a normalised value."""
        ...

    def erased_text(self, correction: Correction, *, tenant: str) -> ErasedText | None:
        """Return what finds the text of a correction without telling it; None where there is nothing to find."""
        ...


class DeletesDocuments(Protocol):
    """Deletes a document with all it left (`ingest.service.Ingestion`)."""

    async def delete(self, principal: Principal, document_id: str) -> DeletionReceipt:
        """Delete it; the receipt says what was left."""
        ...


class ErasedValue(Value):
    """One value that was erased."""

    position: int
    """Which of the values given it is, from 0."""
    kind: str


class Carrier(FoundDocument):
    """A document that carried an erased value."""

    becomes: Literal["read_again", "deleted"]
    job_id: str | None = None
    """The job that reads it again."""
    original_kept: bool
    """Whether its encrypted original is there still. It holds the value; only its owner can delete or replace it."""


class ErasureReceipt(Value):
    """What was erased, and what a look at every place found left afterwards."""

    values: tuple[ErasedValue, ...]
    unread: tuple[int, ...]
    """Positions of values that no rule reads as a secret: nothing could be erased for them."""
    documents: tuple[Carrier, ...]
    """Those that carried a value and that the caller may see."""
    unseen: int
    """How many more there are that the caller may not see; they are read again too."""
    left: dict[str, int]
    """Probe → count: `corrections` that tell a value,
    `vault` values, `documents` that still carry a pseudonym (0 once their jobs are done, which
    another `erase` tells), `chunks` of these, `runs` that mention one, `originals` that hold a value, encrypted
    (until they are deleted or replaced; those that came in later count too)."""
    at: datetime


class Erasure:
    """Erases values for principals with the right `admin`."""

    def __init__(
        self,
        *,
        persons: Persons,
        vault: Vault,
        erased_values: ErasedValues,
        corrections: Corrections,
        fingerprints: Fingerprints,
        renames: Renames,
        reads_again: ReadsAgain,
        deletes: DeletesDocuments,
        copies: Sequence[Copies],
        mentions: Mentions,
        originals: Originals,
        store: VectorStore,
        revision: Callable[[str], str],
        hide: Hide,
        log: RevealLog,
        clock: Clock = utc_now,
    ) -> None:
        self._persons = persons
        self._vault = vault
        self._erased_values = erased_values
        self._corrections = corrections
        self._fingerprints = fingerprints
        self._renames = renames
        self._reads_again = reads_again
        self._deletes = deletes
        self._copies = tuple(copies)
        self._mentions = mentions
        self._originals = originals
        self._store = store
        self._revision = revision
        self._hide = hide
        self._log = log
        self._clock = clock

    async def erase(
        self,
        principal: Principal,
        given: Sequence[str],
        reason: str,
        *,
        documents: Literal["list", "delete"] = "list",
    ) -> ErasureReceipt:
        """Erase values, for all documents of the tenant. Repeatable: again it does what is left.

        Args:
            principal: needs `admin`, and `delete` where documents are to go.
            given: values in any writing, or pseudonyms.
            reason: why; it is logged and stays with the fingerprint.
            documents: `list` reads those that carry a value again, without it; `delete` deletes those of them that
                the principal may see.

        Raises:
            NotPermittedError: without the right; logged.
        """
        tenant = principal.tenant
        rights = ("admin", "delete") if documents == "delete" else ("admin",)
        await asyncio.to_thread(self._persons.require, principal, rights, reason, "erase")
        async with self._reads_again.changing(tenant):
            former_rules = await asyncio.to_thread(self._revision, tenant)
            looked_at = await asyncio.to_thread(self._reads_again.standing, tenant, former_rules)
            known = await asyncio.to_thread(self._persons.known, principal, given, reason, "erase")
            await asyncio.to_thread(self._forget, principal, known, reason)
            # Only now: a document that came in before the fingerprints has brought the value with it.
            all_carriers = _each_once(await asyncio.to_thread(self._persons.carrying, tenant, known))
            shown = set(_each_once(await asyncio.to_thread(self._persons.carrying, tenant, known, principal)))
            again = [each for each in all_carriers if documents == "list" or each not in shown]
            # Of all others no text holds a value, so the new rules read them as the former ones did.
            await asyncio.to_thread(self._reads_again.settle, tenant, former_rules, looked_at, list(all_carriers))
            jobs = await asyncio.to_thread(self._read_again, tenant, again)
        carriers: list[Carrier] = []
        for document in all_carriers.values():
            if document.document_id in shown and documents == "delete":
                await self._deletes.delete(principal, document.document_id)
        await asyncio.to_thread(self._reads_again.sweep, tenant)
        await self._rewrite_copies(tenant, known)
        for document_id in sorted(shown):
            document = all_carriers[document_id]
            carriers.append(await self._carrier(document, "deleted" if documents == "delete" else "read_again", jobs))
        return ErasureReceipt(
            values=tuple(
                ErasedValue(position=position, kind=kind) for position, kind in sorted(known.secrets.values())
            ),
            unread=known.unread,
            documents=tuple(carriers),
            unseen=len(set(all_carriers) - shown),
            left=await self._left(tenant, known),
            at=self._clock(),
        )

    def _forget(self, principal: Principal, known: Known, reason: str) -> None:
        tenant = principal.tenant
        marks = self._marks(tenant, known)
        self._erased_values.add(principal, marks)
        self._corrections.forget(
            tenant,
            lambda correction: _is_about(correction, known),
            lambda correction: self._fingerprints.erased_text(correction, tenant=tenant),
        )
        self._erased_values.explain(tenant, marks, self._hide(reason, tenant))
        self._log.write(principal, list(known.secrets), reason, "erased", place="erase")
        self._vault.remove(tenant, known.pseudonyms)
        self._renames.add(tenant, {each: _mark(each) for each in known.pseudonyms})

    def _marks(self, tenant: str, known: Known) -> dict[str, str]:
        """Return the fingerprints of the values, with their kinds."""
        return {
            self._fingerprints.fingerprint(kind, known.values[pseudonym], tenant=tenant): kind
            for pseudonym, (_, kind) in known.secrets.items()
            if pseudonym in known.values
        }

    def _read_again(self, tenant: str, document_ids: Collection[str]) -> dict[str, str]:
        jobs: dict[str, str] = {}
        for document_id in document_ids:
            for job_id in self._reads_again.queue_documents(tenant, [document_id]):
                jobs[document_id] = job_id
        return jobs

    async def _rewrite_copies(self, tenant: str, known: Known) -> None:
        marks = {each: _mark(each) for each in known.pseudonyms}

        def change(text: str) -> str:
            return put_in(text, marks)

        for each in self._copies:
            await each.rewrite(tenant, change)

    async def _carrier(
        self, document: Document, becomes: Literal["read_again", "deleted"], jobs: dict[str, str]
    ) -> Carrier:
        return Carrier(
            document_id=document.document_id,
            title=document.title,
            source=document.source,
            version=document.version,
            state=document.state,
            becomes=becomes,
            job_id=jobs.get(document.document_id),
            original_kept=await asyncio.to_thread(self._originals.exists, document.document_id),
        )

    async def _left(self, tenant: str, known: Known) -> dict[str, int]:
        """Look at every place once more."""
        carriers = _each_once(await asyncio.to_thread(self._persons.carrying, tenant, known))
        runs = await asyncio.to_thread(self._mentions.of, tenant, known.pseudonyms)
        chunks = 0
        for document in carriers.values():
            chunks += await self._chunks(document, known)
        # Once they are read again nothing but its original holds the value of a document.
        holding = await asyncio.to_thread(self._vault.erased_in, tenant, self._marks(tenant, known))
        originals = 0
        for document_id in holding | set(carriers):
            originals += await asyncio.to_thread(self._originals.exists, document_id)
        return {
            "corrections": await asyncio.to_thread(
                self._corrections.count_of, tenant, lambda correction: _is_about(correction, known)
            ),
            "vault": await asyncio.to_thread(self._vault.count_of, tenant, known.pseudonyms),
            "documents": len(carriers),
            "chunks": chunks,
            "runs": len(runs),
            "originals": originals,
        }

    async def _chunks(self, document: Document, known: Known) -> int:
        if not document.meta.access:
            return 0  # nobody may see them; the document itself is counted
        only = SearchFilter(document_ids=frozenset({document.document_id}))
        scope = Scope(tenant=document.tenant, access=document.meta.access, filter=only)
        chunks = await self._store.document_chunks(document.document_id, scope)
        return sum(mentions(chunk, known.pseudonyms) for chunk in chunks)


def _each_once(carrying: dict[str, list[Document]]) -> dict[str, Document]:
    return {document.document_id: document for carriers in carrying.values() for document in carriers}


def _is_about(correction: Correction, known: Known) -> bool:
    """Tell whether a correction is what calls one of the values secret."""
    text = written(correction.text)
    return any(
        kind == correction.kind and written(known.values.get(pseudonym, "")) == text
        for pseudonym, (_, kind) in known.secrets.items()
    )


def _mark(pseudonym: str) -> str:
    match = PSEUDONYM.fullmatch(pseudonym)
    assert match is not None
    return erased(kind_of(match))
