"""The door to corrections: who may say that a symbol is wrong or was missed, and what is read again then."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, select

from ingest.beside import bringing_up_to_date
from ingest.catalog import Catalog
from ingest.copies import Copies
from ingest.corrections import Corrections, NewCorrection, StoredCorrection
from ingest.errors import BadCorrectionError, NotPermittedError, UnknownCorrectionError
from ingest.jobs import Jobs
from ingest.renames import Renaming
from ingest.report import AdmissionReport
from ingest.resymbolisation import Resymbolisation
from ingest.tables import document_access, documents, vault_uses
from ingest.types import DocumentMeta, Job
from ingest.vault import Vault
from ingest.work import Cutter
from retrieval.store import VectorStore
from retrieval.symbols.corrections import CorrectionReader, plain
from retrieval.symbols.fold import fold, mask
from retrieval.symbols.pseudonyms import PREFIXES, PSEUDONYM, erased, is_erased
from retrieval.symbols.rules import Correction
from retrieval.types import Chunk, Principal, Scope, SearchFilter


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction that was taken up (or back), and what is read again for it."""

    correction: StoredCorrection
    documents: int
    """How many documents are read again."""
    jobs: tuple[Job, ...]
    """Those of their jobs that the caller may see."""


class Correcting:
    """Takes corrections of principals. Each holds for all documents and questions of the tenant."""

    def __init__(
        self,
        *,
        engine: Engine,
        corrections: Corrections,
        catalog: Catalog,
        jobs: Jobs,
        cutter: Cutter,
        vault: Vault,
        store: VectorStore,
        renames: Renaming,
        resymbolisation: Resymbolisation,
        copies: Sequence[Copies],
        on_submit: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._corrections = corrections
        self._catalog = catalog
        self._jobs = jobs
        self._cutter = cutter
        self._vault = vault
        self._store = store
        self._renames = renames
        self._resymbolisation = resymbolisation
        self._copies = tuple(copies)
        self._on_submit = on_submit

    async def add(self, principal: Principal, new: NewCorrection) -> Corrected:
        """Take a correction up. Repeatable: again it does what is left.

        Args:
            principal: needs `admin`, or `ingest` and access to the document named; that a value is no secret is
                for `admin` alone, for it is shown to everybody then.
            new: what is said.

        Raises:
            NotPermittedError: without the right.
            UnknownDocumentError: the document named is none for this principal.
            BadCorrectionError: it cannot be applied.
            StoreUnavailableError: the store gave no answer; nothing was kept.
        """
        tenant = principal.tenant
        await asyncio.to_thread(self._permit, principal, new.document_id, new.verdict == "not_secret")
        await asyncio.to_thread(self._check, tenant, new)
        correction = Correction(text=new.text, verdict=new.verdict, kind=new.kind, near=new.near)

        def keep() -> tuple[str, list[str]]:
            # In one transaction: whatever happens next, what holds the text is read again.
            with self._engine.begin() as connection:
                correction_id = self._corrections.add(connection, tenant, principal.user, new)
                queued = [self._jobs.read_again(connection, each) for each in affected]
                return correction_id, [each for each in queued if each is not None]

        if new.document_id is not None and not principal.may("admin"):
            await self._require_there(principal, new.document_id, new.text)
        async with self._resymbolisation.changing(tenant):
            former, looked_at = await asyncio.to_thread(self._before, tenant)
            affected = await self._affected(tenant, correction)
            correction_id, queued = await asyncio.to_thread(keep)
            await asyncio.to_thread(self._settle, tenant, former, looked_at, affected)
        if new.note:
            await asyncio.to_thread(self._explain, tenant, correction_id, correction, new.note)
        stored, shown = await self._take_up(principal, correction_id, queued)
        if stored is None:
            raise UnknownCorrectionError(f"correction {correction_id!r}: taken back meanwhile")
        return Corrected(stored, len(affected), shown)

    async def remove(self, principal: Principal, correction_id: str) -> Corrected:
        """Take a correction back; what it changed is read again. Needs `admin`.

        Raises:
            NotPermittedError: without the right.
            UnknownCorrectionError: there is none.
        """
        tenant = principal.tenant
        await asyncio.to_thread(self._permit, principal, None, True)
        found = await asyncio.to_thread(self._corrections.of, tenant, correction_id)
        if found is None:
            raise UnknownCorrectionError(f"correction {correction_id!r}: not found")
        stored, correction = found

        def take_back() -> list[str]:
            with self._engine.begin() as connection:
                self._corrections.remove(connection, tenant, correction_id)
                queued = [self._jobs.read_again(connection, each) for each in affected]
                return [each for each in queued if each is not None]

        async with self._resymbolisation.changing(tenant):
            former, looked_at = await asyncio.to_thread(self._before, tenant)
            affected = await self._affected(tenant, correction)
            queued = await asyncio.to_thread(take_back)
            await asyncio.to_thread(self._settle, tenant, former, looked_at, affected)
        _, shown = await self._take_up(principal, None, queued)
        return Corrected(stored, len(affected), shown)

    def list(self, principal: Principal) -> Sequence[StoredCorrection]:
        """Return the tenant's corrections without their texts; needs `admin` or `ingest`.

        Raises:
            NotPermittedError: without the right.
        """
        if not (principal.may("admin") or principal.may("ingest")):
            raise NotPermittedError(f"user {principal.user!r} lacks the rights 'admin' and 'ingest'")
        return self._corrections.list(principal.tenant, lambda each: self._pseudonym(principal.tenant, each))

    def _before(self, tenant: str) -> tuple[str, frozenset[str]]:
        """Return the rules before a change, and the documents of these that a look from now on can see."""
        former = self._cutter.revision(tenant)
        return former, self._resymbolisation.standing(tenant, former)

    def _settle(self, tenant: str, former: str, looked_at: frozenset[str], affected: Sequence[str]) -> None:
        self._corrections.look_again(tenant)
        self._resymbolisation.settle(tenant, former, looked_at, affected)
        self._on_submit()

    def _explain(self, tenant: str, correction_id: str, correction: Correction, note: str) -> None:
        """Keep the note without secrets: the rules have the correction by now."""
        hidden = self._cutter.hide(note, tenant).text
        if correction.verdict == "secret":
            # It may hold in some lines only; the note must not tell it in any.
            everywhere = CorrectionReader([correction.model_copy(update={"near": ""})])
            folded = mask(fold(hidden), [match.span() for match in PSEUDONYM.finditer(hidden)])
            shown = self._pseudonym(tenant, correction) or erased(correction.kind)
            for found in reversed(everywhere.secrets(folded)):
                hidden = f"{hidden[: found.start]}{shown}{hidden[found.end :]}"
        self._corrections.explain(tenant, correction_id, hidden)

    async def _take_up(
        self, principal: Principal, correction_id: str | None, queued: Sequence[str]
    ) -> tuple[StoredCorrection | None, tuple[Job, ...]]:
        tenant = principal.tenant
        await asyncio.to_thread(self._resymbolisation.sweep, tenant)
        change = bringing_up_to_date(self._cutter, self._renames, tenant)
        revision = await asyncio.to_thread(self._cutter.revision, tenant)
        for each in self._copies:
            await each.rewrite(tenant, change, revision=revision)
        shown = await asyncio.to_thread(self._jobs.named, principal, queued)
        listed = await asyncio.to_thread(
            self._corrections.list, tenant, lambda correction: self._pseudonym(tenant, correction)
        )
        stored = next((each for each in listed if each.correction_id == correction_id), None)
        return stored, tuple(shown)

    def _permit(self, principal: Principal, document_id: str | None, shows_values: bool) -> None:
        by_document = document_id is not None and not shows_values and principal.may("ingest")
        if not (principal.may("admin") or by_document):
            raise NotPermittedError(
                f"user {principal.user!r} lacks the right 'admin', or 'ingest' for a document that is named"
            )
        if document_id is not None:
            # For administrators too: who misspells a document must not believe that it was meant.
            self._catalog.get(principal, document_id)

    async def _require_there(self, principal: Principal, document_id: str, text: str) -> None:
        """Refuse a text that the document does not hold: who owns one document must not hide words of all others."""
        document = await asyncio.to_thread(self._catalog.get, principal, document_id)
        reader = CorrectionReader([Correction(text=text, verdict="secret")])
        said = (document.source, document.title, document.meta.title or "", document.meta.issuer, *document.meta.labels)
        if any(reader.secrets(fold(each)) for each in said):
            return
        only = SearchFilter(document_ids=frozenset({document_id}))
        scope = Scope(tenant=principal.tenant, access=document.meta.access, filter=only)
        for chunk in await self._store.document_chunks(document_id, scope) if document.meta.access else ():
            if any(reader.secrets(fold(each)) for each in (*chunk.heading_path, chunk.speaker or "", chunk.text)):
                return
        wanted = plain(text)
        if document_id in await asyncio.to_thread(self._hiding, principal.tenant, {wanted}):
            return
        raise BadCorrectionError(f"the text does not stand in document {document_id!r}; give it as it is written there")

    def _hiding(self, tenant: str, wanted: set[str]) -> set[str]:
        """Return the documents that carry one of these values hidden."""
        pseudonyms = sorted(self._vault.pseudonyms_of(tenant, lambda value: plain(value) in wanted))
        uses = select(vault_uses.c.document_id).where(vault_uses.c.tenant == tenant)
        with self._engine.connect() as connection:
            return {
                document_id
                for pseudonym in pseudonyms
                for document_id in connection.execute(uses.where(vault_uses.c.pseudonym == pseudonym)).scalars()
            }

    def _check(self, tenant: str, new: NewCorrection) -> None:
        """Refuse what could not be applied alike twice; messages never quote the text."""
        if new.verdict == "secret" and new.kind not in PREFIXES:
            raise BadCorrectionError(f"there is no such kind of secret; kinds are {', '.join(sorted(PREFIXES))}")
        if any(unicodedata.category(char) == "Cc" and not char.isspace() for char in new.text + new.near):
            raise BadCorrectionError("control characters stand in it; give the text as it is read")
        if len(plain(new.text)) < 2:
            raise BadCorrectionError("a corrected text has two letters or digits at least")
        if PSEUDONYM.search(new.text) or PSEUDONYM.search(new.near):
            raise BadCorrectionError("a pseudonym stands in it; give the text as it stands in the document")
        gone = PSEUDONYM.fullmatch(self._cutter.hide(new.text, tenant).text.strip())
        if gone is not None and is_erased(gone):
            raise BadCorrectionError("this text was erased; it stays hidden, and nothing that tells it is kept")
        if new.near and self._cutter.hide(new.near, tenant).secrets:
            raise BadCorrectionError("`near` holds a secret itself; give a part of the line without one")

    def _pseudonym(self, tenant: str, correction: Correction) -> str | None:
        hidden = self._cutter.hide(
            correction.text if not correction.near else f"{correction.near} {correction.text}", tenant
        )
        found = [match.group() for match in PSEUDONYM.finditer(hidden.text)]
        return found[-1] if found else None

    async def _affected(self, tenant: str, correction: Correction) -> list[str]:
        """Return the documents that may hold the text, in the clear or hidden."""
        wanted = {plain(correction.text), plain(self._cutter.hide(correction.text, tenant).text)}
        found = await asyncio.to_thread(self._carrying, tenant, wanted)
        found |= await asyncio.to_thread(self._named, tenant, wanted)
        tokens = await asyncio.to_thread(self._tokens, tenant)
        if tokens:
            async for batch in self._store.scan(Scope(tenant=tenant, access=frozenset(tokens))):
                found |= {each.document_id for each in batch if each.document_id not in found and _holds(each, wanted)}
        return sorted(found)

    def _carrying(self, tenant: str, wanted: set[str]) -> set[str]:
        """Return the documents that carry the value hidden, and those that nobody may see: there it is not known."""
        nobody = (
            ~select(document_access.c.document_id)
            .where(document_access.c.document_id == documents.c.document_id)
            .exists()
        )
        with self._engine.connect() as connection:
            unseen = connection.execute(
                select(documents.c.document_id).where(
                    documents.c.tenant == tenant, documents.c.state.in_(("ready", "superseded")), nobody
                )
            ).scalars()
            found = set(unseen)
        return found | self._hiding(tenant, wanted)

    def _named(self, tenant: str, wanted: set[str]) -> set[str]:
        """Return the documents whose name, title, meta or notes hold the text."""
        columns = (documents.c.source, documents.c.title, documents.c.meta, documents.c.report)
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(documents.c.document_id, *columns).where(
                    documents.c.tenant == tenant, documents.c.state.in_(("ready", "superseded"))
                )
            ).all()
        found: set[str] = set()
        for document_id, source, title, meta, report in rows:
            said = DocumentMeta.model_validate(meta)
            notes = () if report is None else AdmissionReport.model_validate(report).notes
            text = plain("\n".join((source, title, said.title or "", said.issuer, *said.labels, *notes)))
            if any(each in text for each in wanted):
                found.add(document_id)
        return found

    def _tokens(self, tenant: str) -> set[str]:
        with self._engine.connect() as connection:
            return set(
                connection.execute(
                    select(document_access.c.token)
                    .join(documents, documents.c.document_id == document_access.c.document_id)
                    .where(documents.c.tenant == tenant)
                    .distinct()
                ).scalars()
            )


def _holds(chunk: Chunk, wanted: set[str]) -> bool:
    text = plain("\n".join((chunk.text, *chunk.heading_path, chunk.title, chunk.issuer, chunk.speaker or "")))
    return any(each in text for each in wanted)
