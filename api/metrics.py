"""Metrics of search in Prometheus' form. They count; they name no tenant, no user and no text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.run_metrics import RunMetrics
from retrieval.cache import CacheCounts
from retrieval.decisions import Decision, DecisionLog, Kind, Outcome

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""


class _Caches(Collector):
    """Reads the caches when metrics are asked for."""

    def __init__(self, counts: Mapping[str, Callable[[], CacheCounts]], lost: Callable[[], int]) -> None:
        self._counts, self._lost = counts, lost

    def collect(self) -> Iterable[Metric]:
        lookups = CounterMetricFamily("attest_cache_lookups", "Look-ups in a cache.", labels=("cache", "outcome"))
        entries = GaugeMetricFamily("attest_cache_entries", "Results in a cache.", labels=("cache",))
        size = GaugeMetricFamily("attest_cache_bytes", "Estimated bytes of a cache's results.", labels=("cache",))
        for name, counts in self._counts.items():
            now = counts()
            lookups.add_metric((name, "hit"), now.hits)
            lookups.add_metric((name, "miss"), now.misses)
            entries.add_metric((name,), now.entries)
            size.add_metric((name,), now.bytes)
        lost = CounterMetricFamily("attest_decision_log_lost", "Entries of the decision log that were not written.")
        lost.add_metric((), self._lost())
        return lookups, entries, size, lost


class Metrics:
    """The metrics of one application, in a registry of its own."""

    def __init__(self, caches: Mapping[str, Callable[[], CacheCounts]], lost: Callable[[], int]) -> None:
        """Take what is read when metrics are asked for.

        Args:
            caches: the counts of each cache by its name.
            lost: how many entries the decision log has lost.
        """
        self._registry = CollectorRegistry()
        self.runs = RunMetrics(self._registry)
        """Those of runs."""
        self._registry.register(_Caches(caches, lost))
        self._decisions = Counter(
            "attest_trigger_decisions", "Decisions of the trigger.", ("tier",), registry=self._registry
        )
        self._outcomes = Counter("attest_outcomes", "What became of questions.", ("outcome",), registry=self._registry)
        self._searches = Counter("attest_searches", "Searches.", ("outcome",), registry=self._registry)
        self._stages = Histogram(
            "attest_search_stage_seconds",
            "Time of a search by stage; what came from the cache is not in it.",
            ("stage",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._trigger = Histogram(
            "attest_trigger_seconds", "Time of a trigger decision.", buckets=_BUCKETS, registry=self._registry
        )

        self._audits = Counter(
            "attest_audits", "Audited answers by what came of it.", ("risk", "action"), registry=self._registry
        )
        self._alerts = Counter("attest_alerts", "Alerts.", ("kind",), registry=self._registry)
        self._webhooks = Counter(
            "attest_webhooks", "Alerts on their way to the webhook.", ("outcome",), registry=self._registry
        )

    def observe(self, decision: Decision) -> None:
        """Count a decision."""
        if decision.kind == "trigger":
            self._decisions.labels(decision.tier or "none").inc()
            self._trigger.observe(decision.latencies_ms.get("total", 0.0) / 1000)
            return
        failed = bool(decision.reasons)
        self._searches.labels("failed" if failed else "cached" if decision.cached else "searched").inc()
        if not failed and not decision.cached:
            for stage, took_ms in decision.latencies_ms.items():
                self._stages.labels(stage).observe(took_ms / 1000)

    def settled(self, outcome: Outcome) -> None:
        """Count what became of a question."""
        self._outcomes.labels(outcome).inc()

    def audited(self, risk: str, action: str) -> None:
        """Count an audited answer."""
        self._audits.labels(risk, action).inc()

    def alerted(self, kind: str) -> None:
        """Count an alert."""
        self._alerts.labels(kind).inc()

    def delivered(self, outcome: str) -> None:
        """Count what became of an alert's way to the webhook."""
        self._webhooks.labels(outcome).inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class MeteredLog:
    """Counts what goes into a decision log."""

    def __init__(self, log: DecisionLog, metrics: Metrics) -> None:
        self._log, self._metrics = log, metrics

    @property
    def lost(self) -> int:
        """How many decisions could not be kept."""
        return self._log.lost

    def record(self, decision: Decision) -> None:
        """Count a decision and hand it on."""
        self._metrics.observe(decision)
        self._log.record(decision)

    def settle(self, tenant: str, run_id: str, outcome: Outcome) -> None:
        """Count an outcome and hand it on."""
        self._metrics.settled(outcome)
        self._log.settle(tenant, run_id, outcome)

    async def read(
        self,
        tenant: str,
        *,
        kind: Kind | None = None,
        run_id: str | None = None,
        limit: int = 1000,
        after: str | None = None,
    ) -> Sequence[Decision]:
        """Read the log."""
        return await self._log.read(tenant, kind=kind, run_id=run_id, limit=limit, after=after)

    async def get(self, tenant: str, decision_id: str) -> Decision:
        """Read one decision."""
        return await self._log.get(tenant, decision_id)

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Rewrite the log."""
        return await self._log.rewrite(tenant, change, document_id=document_id, revision=revision)
