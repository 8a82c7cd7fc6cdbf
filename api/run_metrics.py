"""Metrics of runs in Prometheus' form, from their events. They name models, tools and guards, no user and no text."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from agent.events import (
    Event,
    FormatError,
    GuardFired,
    ModelUsed,
    Notice,
    RunCancelled,
    RunCompleted,
    RunFailed,
    ToolReturned,
)

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


class RunMetrics:
    """Counts what runs do."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register the metrics."""

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"attest_{name}", text, labels, registry=registry)

        def histogram(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(f"attest_{name}_seconds", text, labels, buckets=_SECONDS, registry=registry)

        self._runs = counter("runs", "Runs that ended.", "outcome")
        self._took = histogram("run", "Time of a run with an answer.")
        self._calls = counter("model_calls", "Model calls.", "model")
        self._tokens = counter("model_tokens", "Tokens read and written by models.", "model", "direction")
        self._money = counter("model_money", "Cost of model calls, in the currency of the price table.", "model")
        self._answering = histogram("model_call", "Time of a model call.", "model")
        self._tools = counter("tool_calls", "Tool calls.", "tool", "outcome")
        self._working = histogram("tool_call", "Time of a tool call.", "tool")
        self._guards = counter("guards", "Guards that stepped in.", "guard")
        self._formats = counter("format_errors", "Replies of models that broke the form.")
        self._notices = counter("notices", "Notices to readers, such as a fallback.", "code")

    def see(self, event: Event) -> None:
        """Count an event."""
        match event:
            case RunCompleted():
                self._runs.labels(event.status).inc()
                self._took.observe(event.latency_ms / 1000)
            case RunFailed():
                self._runs.labels(event.code).inc()
            case RunCancelled():
                self._runs.labels("cancelled").inc()
            case ModelUsed():
                self._calls.labels(event.model).inc()
                self._tokens.labels(event.model, "read").inc(event.prompt_tokens)
                self._tokens.labels(event.model, "written").inc(event.completion_tokens)
                self._answering.labels(event.model).observe(event.latency_ms / 1000)
                if event.money is not None:
                    self._money.labels(event.model).inc(float(event.money))
            case ToolReturned():
                self._tools.labels(event.tool, "ok" if event.ok else "failed").inc()
                self._working.labels(event.tool).observe(event.latency_ms / 1000)
            case GuardFired():
                self._guards.labels(event.guard).inc()
            case FormatError():
                self._formats.inc()
            case Notice():
                self._notices.labels(event.code).inc()
            case _:
                pass
