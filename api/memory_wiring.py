"""Wires what attest remembers of searches and answers: the decision log, the caches, and their metrics."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from agent.answer_cache import AnswerCache
from api.settings import Settings
from ingest.catalog import Catalog, LiveCatalog
from ingest.renames import Renames
from retrieval.cache import CachedTexts
from retrieval.cached_search import CachedSearch, KnowledgeVersions, Search, SearchCaches
from retrieval.decision_log import SqlDecisionLog
from retrieval.decisions import DecisionLog
from retrieval.encoder import Encoder, Reranker
from retrieval.explained_search import Decides, ExplainedSearch, ExplainedTrigger
from retrieval.symbols.language import SymbolLanguage

if TYPE_CHECKING:
    from api.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Memory:
    """The parts."""

    log: SqlDecisionLog
    """To be closed at the end."""
    decisions: DecisionLog
    """The log as all others write to it."""
    caches: SearchCaches
    answers: AnswerCache | None
    cached_texts: CachedTexts
    metrics: Metrics | None
    language: SymbolLanguage
    configuration: str

    def before(self, search: Search, knowledge: KnowledgeVersions) -> ExplainedSearch:
        """Put the caches and the log before a search."""
        cached = CachedSearch(
            search,
            self.caches,
            self.language,
            knowledge,
            rules=lambda tenant: self.language.of(tenant).revision,
            configuration=self.configuration,
        )
        return ExplainedSearch(cached, self.decisions, self.language)

    def explaining(self, trigger: Decides) -> ExplainedTrigger:
        """Put the log behind a trigger."""
        return ExplainedTrigger(trigger, self.decisions, self.language)


def wire_memory(
    engine: Engine, settings: Settings, language: SymbolLanguage, encoder: Encoder, reranker: Reranker
) -> Memory:
    """Build the parts."""
    renames = Renames(engine)

    def rules(tenant: str) -> str:
        return language.of(tenant).revision

    def latest_rules(tenant: str) -> str:
        return language.latest(tenant).revision

    def hide(text: str, tenant: str) -> str:
        return language.symbolise(renames.rename(tenant, text), tenant=tenant).text

    log = SqlDecisionLog(engine, settings.decisions, hide=hide, revision=latest_rules)
    configuration = _configuration(settings, encoder, reranker)
    caches = SearchCaches(settings.cache)
    answers = None
    if settings.cache.answers:
        knowledge = LiveCatalog(Catalog(engine))
        answers = AnswerCache(settings.cache, knowledge, rules=rules, configuration=configuration)
    forgetting = [caches.results, caches.first_stages, *([answers.answers] if answers is not None else [])]
    metrics: Metrics | None = None
    decisions: DecisionLog = log
    if settings.metrics.enabled:
        # A tenth of a second that most commands do without.
        from api.metrics import MeteredLog, Metrics

        counts = {"search": caches.results.counts, "first_stage": caches.first_stages.counts}
        if answers is not None:
            counts["answer"] = answers.answers.counts
        metrics = Metrics(counts, lambda: log.lost)
        decisions = MeteredLog(log, metrics)
    return Memory(
        log=log,
        decisions=decisions,
        caches=caches,
        answers=answers,
        cached_texts=CachedTexts(*forgetting),
        metrics=metrics,
        language=language,
        configuration=configuration,
    )


def _configuration(settings: Settings, encoder: Encoder, reranker: Reranker) -> str:
    """Name what decides, beside question and documents, what is found and answered."""
    endpoints = [tier.model_dump_json(exclude={"api_key"}) for tier in (settings.llm, settings.small)]
    parts = [encoder.info.name, encoder.info.revision, reranker.name, *endpoints]
    parts += [each.model_dump_json() for each in (settings.search, settings.trigger, settings.run, settings.audit)]
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()
