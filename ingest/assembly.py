"""Puts ingestion together from the parts a deployment chooses."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Engine

from ingest.catalog import Catalog, Clock, LiveCatalog, utc_now
from ingest.children import Children, StagedChildren
from ingest.copies import Copies
from ingest.encoding import BatchEncoder
from ingest.jobs import Jobs
from ingest.leases import Leases
from ingest.lifecycle import Lifecycle
from ingest.mending import Mender
from ingest.originals import Originals
from ingest.pipeline import Pipeline
from ingest.purge import ChunkRemains, OriginalRemains, Purger, Remains, VaultRemains
from ingest.records import Records
from ingest.renames import Renames
from ingest.resymbolisation import Resymbolisation
from ingest.resymboliser import Resymboliser
from ingest.reveals import RevealLog
from ingest.service import Ingestion
from ingest.settings import IngestSettings
from ingest.vault import Vault
from ingest.work import Cutter, Parsers
from ingest.worker import Worker, doubling
from retrieval.encoder import Encoder, ModelThread
from retrieval.store import VectorStore


@dataclass(frozen=True, slots=True)
class IngestParts:
    """All of ingestion over one database, one folder and one store."""

    ingestion: Ingestion
    worker: Worker
    catalog: Catalog
    live: LiveCatalog
    vault: Vault
    reveals: RevealLog
    originals: Originals
    resymbolisation: Resymbolisation
    renames: Renames
    jobs: Jobs

    def close(self) -> None:
        """Remove temporary files; call it when the worker has ended."""
        self.originals.close()


def assemble(
    *,
    engine: Engine,
    folder: Path,
    key: bytes,
    parsers: Parsers,
    cutter: Cutter,
    encoder: Encoder,
    encoder_thread: ModelThread,
    store: VectorStore,
    settings: IngestSettings,
    more_remains: Sequence[Remains] = (),
    copies: Sequence[Copies] = (),
    empty_log: Callable[[], None] = lambda: None,
    databases: Mapping[str, str] | None = None,
    owner: str | None = None,
    clock: Clock = utc_now,
    poll_s: float = 1.0,
    retry_delay_s: Callable[[int], float] = doubling,
) -> IngestParts:
    """Wire ingestion.

    Args:
        engine: with the tables of `ingest.tables`.
        folder: where the encrypted originals lie.
        key: master key of vault and originals, at least 32 random bytes.
        parsers: the parser processes.
        cutter: chunker and symboliser.
        encoder: encodes index texts, on `encoder_thread` alone.
        encoder_thread: the encoder's thread, shared with the query path.
        store: an opened store.
        settings: limits and sizes.
        more_remains: what other rooms keep of a document and a delete must remove (caches, artifacts).
        copies: what other rooms keep of documents' texts, and must rewrite when more of them is secret.
        empty_log: takes what was replaced out of the database's own log.
        databases: names and SQLAlchemy URLs of the databases that the operator configured.
        owner: name of this process among the owners of leases; default: host, process and a random part.
        clock: the time.
        poll_s: how often an idle worker looks for jobs of other processes.
        retry_delay_s: seconds before the next attempt, by the number of attempts so far.
    """
    owner = owner or f"{socket.gethostname()[:100]}-{os.getpid()}-{uuid4().hex[:8]}"
    lifecycle = Lifecycle(engine, clock=clock)
    catalog = Catalog(engine, clock=clock)
    leases = Leases(engine, lease_s=settings.lease_s, clock=clock)
    reveals = RevealLog(engine, hide=lambda text, tenant: cutter.hide(text, tenant).text, clock=clock)
    vault = Vault(engine, key, clock=clock, log=reveals)
    originals = Originals(folder, key, owner)
    jobs = Jobs(engine, clock=clock)
    staged = StagedChildren(originals, lifecycle)
    records = Records(engine, lifecycle, leases, jobs, originals)
    children = Children(records=records, staged=staged, limits=settings.parser)
    remains = (ChunkRemains(store), VaultRemains(vault), OriginalRemains(originals, staged), *more_remains)
    purger = Purger(lifecycle, remains, clock=clock)
    renames = Renames(engine)
    resymboliser = Resymboliser(
        records=records,
        parsers=parsers,
        cutter=cutter,
        vault=vault,
        store=store,
        renames=renames,
        copies=copies,
        empty_log=empty_log,
    )
    pipeline = Pipeline(
        engine=engine,
        lifecycle=lifecycle,
        leases=leases,
        originals=originals,
        parsers=parsers,
        cutter=cutter,
        vault=vault,
        encoding=BatchEncoder(encoder, encoder_thread, store, leases, settings),
        store=store,
        purger=purger,
        children=children,
        settings=settings,
        jobs=jobs,
        resymboliser=resymboliser,
    )
    worker = Worker(
        owner=owner,
        engine=engine,
        leases=leases,
        lifecycle=lifecycle,
        pipeline=pipeline,
        purger=purger,
        mender=Mender(leases, lifecycle, originals, purger, vault, clock=clock),
        settings=settings,
        poll_s=poll_s,
        retry_delay_s=retry_delay_s,
    )
    resymbolisation = Resymbolisation(
        engine=engine,
        catalog=catalog,
        jobs=jobs,
        cutter=cutter,
        vault=vault,
        renames=renames,
        on_submit=worker.wake,
    )
    ingestion = Ingestion(
        engine=engine,
        catalog=catalog,
        lifecycle=lifecycle,
        jobs=jobs,
        originals=originals,
        purger=purger,
        vault=vault,
        hides=cutter,
        limits=settings.parser,
        databases=databases or {},
        on_submit=worker.wake,
    )
    return IngestParts(
        ingestion, worker, catalog, LiveCatalog(catalog), vault, reveals, originals, resymbolisation, renames, jobs
    )
