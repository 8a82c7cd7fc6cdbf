"""Wires what attest can tell and forget of persons: ingestion's part, and the agent's runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Engine

from agent.mentions import RunMentions
from ingest.assembly import IngestParts
from ingest.copies import Copies
from ingest.corrections import Corrections
from ingest.erased import ErasedValues
from ingest.erasure import Erasure
from ingest.persons import Persons, RunMention
from retrieval.store import VectorStore
from retrieval.symbols.language import SymbolLanguage


class RunsOfTenant:
    """Supplies `ingest.persons.Mentions`."""

    def __init__(self, runs: RunMentions) -> None:
        self._runs = runs

    def of(self, tenant: str, pseudonyms: Collection[str]) -> list[RunMention]:
        """Return the runs of a tenant in which any of these pseudonyms stands, oldest first."""
        return [RunMention.model_validate(run.model_dump()) for run in self._runs.of(tenant, pseudonyms)]


def wire_persons(
    engine: Engine,
    language: SymbolLanguage,
    erased_values: ErasedValues,
    corrections: Corrections,
    parts: IngestParts,
    store: VectorStore,
    copies: Sequence[Copies],
) -> tuple[Persons, Erasure]:
    """Build the two from the parts of a running attest."""
    mentions = RunsOfTenant(RunMentions(engine))
    persons = Persons(
        engine=engine,
        language=language,
        vault=parts.vault,
        renames=parts.renames,
        store=store,
        mentions=mentions,
        log=parts.reveals,
    )
    erasure = Erasure(
        persons=persons,
        vault=parts.vault,
        erased_values=erased_values,
        corrections=corrections,
        fingerprints=language,
        renames=parts.renames,
        reads_again=parts.resymbolisation,
        deletes=parts.ingestion,
        copies=copies,
        mentions=mentions,
        originals=parts.originals,
        store=store,
        revision=lambda tenant: language.latest(tenant).revision,
        hide=lambda text, tenant: language.symbolise(text, tenant=tenant).text,
        log=parts.reveals,
    )
    return persons, erasure
