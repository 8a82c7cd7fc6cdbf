"""Spans of runs for OpenTelemetry, made from events by the conventions for generative AI.

https://opentelemetry.io/docs/specs/semconv/gen-ai/ names spans and attributes. They hold names and numbers:
no question, answer, passage, argument or result. The trace has the run's own trace_id.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agent.events import (
    Event,
    GuardFired,
    ModelUsed,
    PassagesRetrieved,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunStarted,
    ToolCalled,
    ToolReturned,
    TriggerDecided,
)
from api.errors import SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

_MOST_OPEN = 1000
"""Runs that are followed at once; a run without an end is let go when there are more."""
_Attributes = dict[str, str | int | float | bool]


def otlp_exporter(endpoint: str) -> SpanExporter:
    """Return an exporter to a collector.

    Raises:
        SettingsError: OpenTelemetry is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ModuleNotFoundError as exc:
        raise SettingsError(
            "ATTEST_TELEMETRY_OTLP_ENDPOINT is set, and OpenTelemetry is not installed: pip install 'attest[telemetry]'"
        ) from exc
    return OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")


@dataclass(slots=True)
class _Open:
    span: Span
    tools: dict[str, datetime]
    """When each call that has not returned yet was made."""


class RunSpans:
    """Makes spans of what it sees."""

    def __init__(self, exporter: SpanExporter, *, at_once: bool = False) -> None:
        """Take who is sent the spans; `at_once`: each when it ends, for tests."""
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

        class _Ids(RandomIdGenerator):
            wanted: int | None = None

            def generate_trace_id(self) -> int:
                return self.wanted or super().generate_trace_id()

        self._ids = _Ids()
        # A resource of our own: the default one names host, process and command line.
        resource = Resource({"service.name": "attest"})
        self._provider: TracerProvider = TracerProvider(resource=resource, id_generator=self._ids)
        self._provider.add_span_processor(SimpleSpanProcessor(exporter) if at_once else BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("attest")
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def see(self, event: Event) -> None:
        """Take an event in."""
        if isinstance(event, RunStarted):
            self._begin(event)
            return
        run = self._open.get(event.run_id)
        if run is None:
            return
        match event:
            case TriggerDecided():
                run.span.set_attribute("attest.tier", event.tier)
            case PassagesRetrieved():
                run.span.add_event("passages_retrieved", {"attest.passages": len(event.passages)}, _nanos(event.at))
            case ToolCalled():
                run.tools[event.call_id] = event.at
            case ToolReturned():
                self._tool(run, event)
            case ModelUsed():
                self._model(run, event)
            case GuardFired():
                run.span.add_event("guard_fired", {"attest.guard": event.guard}, _nanos(event.at))
            case RunCompleted() | RunFailed() | RunCancelled():
                self._end(event)
            case _:
                pass

    def close(self) -> None:
        """Send what is left. Blocking."""
        self._provider.shutdown()

    def _begin(self, event: RunStarted) -> None:
        attributes: _Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "attest",
            "gen_ai.request.model": event.model,
            "attest.run_id": event.run_id,
        }
        if event.conversation_id is not None:
            attributes["gen_ai.conversation.id"] = event.conversation_id
        self._ids.wanted = int(event.trace_id, 16) if _is_trace_id(event.trace_id) else None
        span = self._tracer.start_span("invoke_agent attest", attributes=attributes, start_time=_nanos(event.at))
        self._ids.wanted = None
        self._open[event.run_id] = _Open(span, {})
        if len(self._open) > _MOST_OPEN:
            _, oldest = self._open.popitem(last=False)
            oldest.span.end()

    def _model(self, run: _Open, event: ModelUsed) -> None:
        attributes: _Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": event.model,
            "gen_ai.usage.input_tokens": event.prompt_tokens,
            "gen_ai.usage.output_tokens": event.completion_tokens,
            "attest.step": event.step,
        }
        if event.money is not None:
            attributes |= {"attest.cost": float(event.money), "attest.currency": event.currency}
        start = _nanos(event.at) - int(event.latency_ms * 1_000_000)
        self._child(run, f"chat {event.model}", attributes, start, event.at)

    def _tool(self, run: _Open, event: ToolReturned) -> None:
        attributes: _Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.tool,
            "gen_ai.tool.call.id": event.call_id,
            "gen_ai.tool.type": "function",
            "attest.ok": event.ok,
            "attest.quality_score": event.quality_score,
            "attest.step": event.step,
        }
        start = _nanos(run.tools.pop(event.call_id, event.at))
        self._child(run, f"execute_tool {event.tool}", attributes, start, event.at, failed=not event.ok)

    def _child(
        self, run: _Open, name: str, attributes: _Attributes, start: int, end: datetime, *, failed: bool = False
    ) -> None:
        from opentelemetry.trace import StatusCode, set_span_in_context

        context = set_span_in_context(run.span)
        span = self._tracer.start_span(name, context=context, attributes=attributes, start_time=start)
        if failed:
            span.set_status(StatusCode.ERROR)
        span.end(_nanos(end))

    def _end(self, event: RunCompleted | RunFailed | RunCancelled) -> None:
        from opentelemetry.trace import StatusCode

        span = self._open.pop(event.run_id).span
        if isinstance(event, RunCompleted):
            span.set_attribute("attest.status", event.status)
            span.set_attribute("attest.steps", event.steps)
            span.set_attribute("attest.risk", event.audit.risk)
            span.set_attribute("gen_ai.usage.input_tokens", event.prompt_tokens)
            span.set_attribute("gen_ai.usage.output_tokens", event.completion_tokens)
        else:
            code = event.code if isinstance(event, RunFailed) else "cancelled"
            span.set_attribute("error.type", code)
            span.set_status(StatusCode.ERROR)
        span.end(_nanos(event.at))


def _nanos(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000


def _is_trace_id(text: str) -> bool:
    return len(text) == 32 and all(char in "0123456789abcdef" for char in text) and int(text, 16) != 0
