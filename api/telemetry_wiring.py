"""Wires who watches runs: metrics and spans, where they are switched on."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from agent.telemetry import Watcher, Watchers
from api.settings import Settings

if TYPE_CHECKING:
    from api.metrics import Metrics


def watchers(stack: AsyncExitStack, settings: Settings, metrics: Metrics | None) -> Watchers:
    """Return the watchers; spans that are left are sent when `stack` is closed.

    Raises:
        SettingsError: spans are switched on, and OpenTelemetry is not installed.
    """
    found: list[Watcher] = [] if metrics is None else [metrics.runs]
    if settings.telemetry.otlp_endpoint is not None:
        # OpenTelemetry is an extra, and costs a third of a second.
        from api.tracing import RunSpans, otlp_exporter

        spans = RunSpans(otlp_exporter(settings.telemetry.otlp_endpoint))
        stack.push_async_callback(asyncio.to_thread, spans.close)
        found.append(spans)
    return Watchers(found)
