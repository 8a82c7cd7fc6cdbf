"""Wiring: builds every part from settings, for the server and the command line alike."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from sqlalchemy import Engine, make_url

from agent.audit.auditor import Auditor
from agent.audit.cross_encoder import CrossEncoderEntailment
from agent.budgets import BudgetKeeper, Budgets
from agent.conversations import ConversationBook
from agent.copies import RunCopies
from agent.experience import JournalExperience
from agent.journal import Journal
from agent.llm import ChatModel
from agent.loop import Agent
from agent.models.extractive import ExtractiveModel
from agent.remains import RunRemains
from agent.usage import UsageBook
from api.audit_wiring import AuditDesk, wire_audits
from api.auth import present_rights
from api.database import EmptiesLog, empty_log, open_engine
from api.errors import SettingsError
from api.keys import load_key
from api.library import DocumentLibrary
from api.mcp.asking import asking
from api.mcp.desk import ToolDesk
from api.memory_wiring import wire_memory
from api.model_wiring import open_tiers, prices_of
from api.models import Status
from api.persons import wire_persons
from api.pseudonym_keys import PseudonymKeys
from api.runs import RunService
from api.settings import Settings
from api.symbol_wiring import KeyRotation, hiding_now, wire_correcting, wire_rotation
from api.talks import Talks
from api.telemetry_wiring import watchers
from api.tool_wiring import open_tools
from api.tuned import thresholds
from ingest.assembly import IngestParts, assemble
from ingest.copies import Copies
from ingest.correcting import Correcting
from ingest.corrections import Corrections, KeptTogether
from ingest.cutting import SymbolicCutter
from ingest.erased import ErasedValues
from ingest.erasure import Erasure
from ingest.page_images import PageImages
from ingest.persons import Persons
from ingest.purge import Remains
from ingest.resymbolisation import Resymbolisation
from ingest.reveals import RevealLog
from ingest.sandbox import ParserPool
from ingest.sealing import Seal
from ingest.service import Ingestion
from ingest.vault import Vault
from ingest.worker import Worker
from retrieval.decisions import DecisionLog
from retrieval.encoder import Encoder, ModelThread, Reranker
from retrieval.encoders.select import load_encoder
from retrieval.explained_search import ExplainedSearch
from retrieval.rerankers.select import load_reranker
from retrieval.search import Searcher
from retrieval.store import ComparesSetup, VectorStore
from retrieval.stores.select import select_store
from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.trigger import Trigger

if TYPE_CHECKING:
    from api.metrics import Metrics

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Container:
    """All parts of one running attest."""

    settings: Settings
    engine: Engine
    language: SymbolLanguage
    encoder: Encoder
    reranker: Reranker
    store: VectorStore
    searcher: ExplainedSearch
    ingestion: Ingestion
    page_images: PageImages
    vault: Vault
    reveals: RevealLog
    persons: Persons
    erasure: Erasure
    resymbolisation: Resymbolisation
    correcting: Correcting
    rotation: KeyRotation
    worker: Worker
    journal: Journal
    audits: AuditDesk
    runs: RunService
    desk: ToolDesk
    model: ChatModel
    talks: Talks
    usage: UsageBook
    budgets: BudgetKeeper
    decisions: DecisionLog
    metrics: Metrics | None
    """None: switched off."""

    async def status(self, tenant: str) -> Status:
        """Tell which parts are in use, and what this tenant should know of them."""
        problems = self.language.problems(tenant)
        return Status(
            status="degraded" if problems else "ok",
            version=version("attest"),
            pid=os.getpid(),
            home=str(self.settings.home),
            encoder=self.encoder.info.name,
            encoder_revision=self.encoder.info.revision,
            encoder_engine=self.encoder.info.engine,
            reranker=self.reranker.name,
            model=self.model.name,
            store=self.settings.vectors.store,
            store_differences=self.store.differences if isinstance(self.store, ComparesSetup) else (),
            trigger=await asyncio.to_thread(thresholds, self.settings),
            database=make_url(self.settings.database_url).get_backend_name(),
            symbol_problems=problems,
        )


@asynccontextmanager
async def open_container(settings: Settings) -> AsyncGenerator[Container, None]:
    """Build all parts, start the ingestion worker, and take everything down again at exit.

    Raises:
        SettingsError: a key or a path does not fit.
        DatabaseUnavailableError: the database cannot be opened.
        RetrievalError: the encoder cannot be loaded, or the store is held, away, or another encoder's.
    """
    async with AsyncExitStack() as stack:
        home = settings.home
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as exc:
            raise SettingsError(f"ATTEST_HOME: the folder {home} cannot be made ({exc.strerror})") from exc
        engine = await asyncio.to_thread(open_engine, settings.database_url)
        stack.callback(engine.dispose)
        erased_values = ErasedValues(engine)
        corrections = Corrections(engine, Seal(_vault_key(settings), "symbol correction"))
        pseudonym_keys = PseudonymKeys(home / "keys", settings.keys.pseudonym, settings.keys.pseudonym_former)
        pair = pseudonym_keys.load(home / "originals")
        language = load_language(
            pair.current,
            settings.symbols.folder,
            kept=KeptTogether(erased_values, corrections),
            erasure_key=load_key(home / "keys", "erasure", settings.keys.erasure),
        )

        encoder_thread, reranker_thread = ModelThread("encoder"), ModelThread("reranker")
        stack.callback(encoder_thread.close)
        stack.callback(reranker_thread.close)
        encoder = await encoder_thread.run(load_encoder, settings.models)
        reranker = await reranker_thread.run(load_reranker, settings.models)
        if settings.vectors.store == "qdrant" and not settings.vectors.qdrant_url:
            raise SettingsError("ATTEST_VECTORS_STORE is qdrant; set ATTEST_VECTORS_QDRANT_URL too")
        store = select_store(settings.vectors, home / "index")
        stack.push_async_callback(store.close)
        await store.open(encoder.info)

        cutter = SymbolicCutter(language, encoder.count_tokens, encoder.info.max_tokens, settings.chunk)
        memory = wire_memory(engine, settings, language, encoder, reranker)
        stack.push_async_callback(asyncio.to_thread, memory.log.close)
        run_copies = RunCopies(engine)
        copies: list[Copies] = [run_copies, memory.decisions, memory.cached_texts]
        all_copies = [*copies, EmptiesLog(engine)]
        remains = [RunRemains(engine), memory.cached_texts]
        ingest = await _open_ingestion(stack, settings, engine, cutter, copies, remains, encoder, encoder_thread, store)
        rotation, former = wire_rotation(engine, pseudonym_keys, pair, language, ingest, cutter, all_copies)
        search = Searcher(
            encoder,
            encoder_thread,
            reranker,
            reranker_thread,
            store,
            language,
            settings.search,
            live=ingest.live,
            former=former,
            editions=ingest.live,
        )
        searcher = memory.before(search, ingest.live)
        extractive = ExtractiveModel(encoder, encoder_thread, language)
        tiers = open_tiers(settings, extractive)
        stack.push_async_callback(tiers.close)
        model = tiers.large
        usage = UsageBook(engine)
        budgets = Budgets(settings.budget, usage)
        inference = settings.audit.entailment_model
        auditor = Auditor(language, settings.audit, CrossEncoderEntailment(inference) if inference else None)
        library = DocumentLibrary(ingest.catalog, store, ingest.live)
        tools = await open_tools(stack, settings, language, ingest, library)
        agent = Agent(
            model=model,
            fallback=tiers.fallback,
            spares=tiers.spares,
            experience=JournalExperience(engine) if settings.memory.experience else None,
            shortening=tiers.small if settings.run.shorten_with == "small" else None,
            small=tiers.small if settings.run.route_simple else None,
            prices=prices_of(settings),
            budgets=budgets,
            tools=tools,
            switches=settings.switches,
            searcher=searcher,
            trigger=memory.explaining(Trigger(searcher, settings.trigger, encoder.info.name)),
            auditor=auditor,
            library=library,
            settings=settings.run,
            encoder=encoder.info.name,
            answers=memory.answers,
            auditing=settings.audit,
        )
        journal = Journal(engine)
        broken = await asyncio.to_thread(journal.broken)
        allowed = present_rights(settings.server.keys_file)
        left = {run.kept.request.run_id for run in broken if run.kept is not None and allowed(run.kept.principal)}
        ended = await asyncio.to_thread(journal.end_broken_runs, datetime.now(UTC), but=left)
        if ended:
            log.info("%d runs that a crash had cut off are marked as failed", ended)
        audits = wire_audits(stack, engine, settings, journal, auditor, library, ingest.catalog, memory.metrics)
        persons, erasure = wire_persons(engine, language, erased_values, corrections, ingest, store, copies=all_copies)
        runs = RunService(
            agent,
            journal,
            language,
            copies=run_copies,
            decisions=memory.decisions,
            knowledge=ingest.catalog.knowledge_version,
            hiding=lambda tenant: hiding_now(language, ingest, tenant),
            watcher=watchers(stack, settings, memory.metrics),
            completed=audits.completed,
            patience_s=settings.run.request_timeout_s,
        )
        desk = ToolDesk(
            tools.all(),
            searcher=searcher,
            library=library,
            settings=settings.run,
            switches=settings.switches,
            hide=lambda text, tenant: language.symbolise(text, tenant=tenant).text,
            ask=asking(runs, budgets),
        )
        if broken:
            # What a crash cut off had no chance to look at its own texts.
            for tenant in await asyncio.to_thread(run_copies.tenants):
                revision = language.of(tenant).revision
                await run_copies.rewrite(tenant, hiding_now(language, ingest, tenant), revision=revision)
        rotation.resume()
        stack.push_async_callback(rotation.close)
        stack.push_async_callback(runs.close)
        for run in await asyncio.to_thread(journal.broken) if left else []:
            runs.resume(run, allowed)
        yield Container(
            settings=settings,
            engine=engine,
            language=language,
            encoder=encoder,
            reranker=reranker,
            store=store,
            searcher=searcher,
            ingestion=ingest.ingestion,
            page_images=_page_images(stack, settings, ingest, store, language),
            vault=ingest.vault,
            reveals=ingest.reveals,
            persons=persons,
            erasure=erasure,
            resymbolisation=ingest.resymbolisation,
            correcting=wire_correcting(engine, corrections, ingest, cutter, store, all_copies),
            rotation=rotation,
            worker=ingest.worker,
            journal=journal,
            audits=audits,
            runs=runs,
            desk=desk,
            model=model,
            talks=Talks(ConversationBook(engine), language),
            usage=usage,
            budgets=budgets,
            decisions=memory.decisions,
            metrics=memory.metrics,
        )


def _vault_key(settings: Settings) -> bytes:
    home = settings.home
    return load_key(home / "keys", "vault", settings.keys.vault, needed_by=home / "originals")


async def _open_ingestion(
    stack: AsyncExitStack,
    settings: Settings,
    engine: Engine,
    cutter: SymbolicCutter,
    copies: Sequence[Copies],
    remains: Sequence[Remains],
    encoder: Encoder,
    encoder_thread: ModelThread,
    store: VectorStore,
) -> IngestParts:
    parsers = ParserPool(settings.ingestion.parser)
    stack.push_async_callback(parsers.close)
    parts = assemble(
        engine=engine,
        folder=settings.home / "originals",
        key=_vault_key(settings),
        parsers=parsers,
        cutter=cutter,
        encoder=encoder,
        encoder_thread=encoder_thread,
        store=store,
        settings=settings.ingestion,
        more_remains=remains,
        copies=copies,
        empty_log=partial(empty_log, engine),
        databases={name: url.get_secret_value() for name, url in settings.databases.items()},
    )
    stack.callback(parts.close)
    stop = asyncio.Event()
    working = asyncio.create_task(parts.worker.run_forever(stop))

    async def end() -> None:
        stop.set()
        await working

    stack.push_async_callback(end)
    return parts


def _page_images(
    stack: AsyncExitStack, settings: Settings, parts: IngestParts, store: VectorStore, language: SymbolLanguage
) -> PageImages:
    # A process of its own, started with the first picture: a reader does not wait for a document that is parsed.
    limits = settings.ingestion.parser.model_copy(update={"processes": 1, "timeout_s": 60.0})
    draughtsman = ParserPool(limits, handler="ingest.parsers.drawing:draw_page")
    stack.push_async_callback(draughtsman.close)
    return PageImages(parts.catalog, parts.originals, parts.vault, store, draughtsman, language.of)


async def _wired(request: Request) -> Container:
    container: Container = request.app.state.container
    return container


Wired = Annotated[Container, Depends(_wired)]
"""Route parameter: the parts of this server."""
