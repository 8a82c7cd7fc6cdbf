"""Wires what follows from audits: alerts, answer recall, audits made again."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from agent.alerts import Alarms, Alert, AlertSink
from agent.audits import AuditBook
from agent.events import RunCompleted
from agent.journal import Journal
from agent.ports import Auditor, Library
from agent.reauditing import Reauditor
from agent.reaudits import ReauditBook
from agent.recall import Recall
from api.settings import Settings
from api.webhook import Webhook
from ingest.catalog import Catalog
from ingest.standing import Standing
from retrieval.types import Principal

if TYPE_CHECKING:
    from api.metrics import Metrics


@dataclass(frozen=True, slots=True)
class AuditDesk:
    """The parts."""

    book: AuditBook
    recall: Recall
    jobs: ReauditBook
    reauditor: Reauditor
    alarms: Alarms
    metrics: Metrics | None

    def completed(self, done: RunCompleted, principal: Principal) -> None:
        """Count an answer and raise an alert where it needs one."""
        if self.metrics is not None:
            self.metrics.audited(done.audit.risk, done.audit.action)
        self.alarms.completed(done, principal.tenant)


class _ToWebhook:
    def __init__(self, webhook: Webhook) -> None:
        self._webhook = webhook

    def take(self, alert: Alert) -> None:
        self._webhook.put(alert.model_dump_json().encode())


class _ToMetrics:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def take(self, alert: Alert) -> None:
        self._metrics.alerted(alert.kind)


def wire_audits(
    stack: AsyncExitStack,
    engine: Engine,
    settings: Settings,
    journal: Journal,
    auditor: Auditor,
    library: Library,
    catalog: Catalog,
    metrics: Metrics | None,
) -> AuditDesk:
    """Build the parts, and start looking for changed documents and working off jobs until the stack is closed."""
    alerts = settings.alerts
    sinks: list[AlertSink] = [] if metrics is None else [_ToMetrics(metrics)]
    if alerts.webhook_url is not None and alerts.webhook_secret is not None:
        webhook = Webhook(
            alerts.webhook_url,
            alerts.webhook_secret,
            tries=alerts.webhook_tries,
            timeout_s=alerts.webhook_timeout_s,
            counted=None if metrics is None else metrics.delivered,
        )
        stack.push_async_callback(webhook.close)
        sinks.append(_ToWebhook(webhook))
    book, jobs, standing = AuditBook(engine), ReauditBook(engine), Standing(engine)
    alarms = Alarms(sinks, at=alerts.at)
    recall = Recall(book, standing, catalog.knowledge_version, told=alarms.stale)
    reauditor = Reauditor(jobs, book, journal, auditor, library, standing)
    stop = asyncio.Event()
    tasks = (
        asyncio.create_task(recall.run_forever(stop, settings.audit.recall_interval_s)),
        asyncio.create_task(reauditor.run_forever(stop)),
    )

    async def end() -> None:
        stop.set()
        await asyncio.gather(*tasks)

    stack.push_async_callback(end)
    return AuditDesk(book, recall, jobs, reauditor, alarms, metrics)
