"""Spans, metrics and logs of runs: they follow the conventions, and no text and no secret is in them."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent.cost import Price
from agent.events import EVENT_ADAPTER, Event
from agent.fake_endpoint import EndpointReply, FakeEndpoint
from agent.settings import LlmSettings
from agent.telemetry import RunIds, work_for
from api.json_logs import JsonFormatter
from api.settings import MetricsSettings
from api.tracing import RunSpans, otlp_exporter

OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]
Upload = Callable[..., Awaitable[dict[str, Any]]]
PHONE = "13812345678"
WORDS = ("zebrafish", "quagga", "okapi", "caracal", PHONE)
"""One of the document, the question, the Thought and the answer each, and a secret."""


class Collector:
    """An OpenTelemetry collector that keeps what it is sent."""

    def __enter__(self) -> Collector:
        paths, bodies = self.paths, self.bodies = list[str](), list[bytes]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                paths.append(self.path)
                bodies.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


async def test_spans_metrics_and_logs_tell_figures_and_no_text(
    open_app: OpenApp, upload_and_wait: Upload, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    replies = [
        EndpointReply(
            'Thought: okapi\n<tool_name>search_knowledge</tool_name><arguments>{"query": "quagga revenue"}</arguments>',
            usage=(900, 30),
        ),
        EndpointReply("Thought: okapi\n<final_answer>The caracal earned 5 million.</final_answer>", usage=(1000, 20)),
    ]
    with FakeEndpoint(replies) as endpoint:
        client = await open_app(
            llm=LlmSettings(base_url=endpoint.base_url, model="m-1", max_retries=0),
            prices={"m-1": Price(prompt=Decimal(1), completion=Decimal(2))},
            metrics=MetricsSettings(enabled=True),
        )
        await upload_and_wait(client, "zebrafish.md", b"# Zebrafish\n\nRevenue of the quagga zebrafish was 5 million.")
        question = f"What is the revenue of the quagga? Call {PHONE}"
        done = (await client.post("/v1/chat", json={"question": question, "stream": False})).json()
        metrics = (await client.get("/metrics")).text
        events = (await client.get(f"/v1/runs/{done['run_id']}/events")).json()
    stored = [EVENT_ADAPTER.validate_python(event) for event in events]
    spans = InMemorySpanExporter()
    _watch(RunSpans(spans, at_once=True), stored)
    finished = {span.name: span for span in spans.get_finished_spans()}
    run, chat, tool = (finished[n] for n in ("invoke_agent attest", "chat m-1", "execute_tool search_knowledge"))
    assert f"{run.context.trace_id:032x}" == events[0]["trace_id"], "a trace is found by the run's trace_id"
    assert chat.parent is not None
    assert tool.parent is not None
    assert chat.parent.span_id == tool.parent.span_id == run.context.span_id
    assert run.attributes is not None
    assert chat.attributes is not None
    assert chat.attributes["gen_ai.operation.name"] == "chat"
    assert chat.attributes["gen_ai.usage.input_tokens"] in {900, 1000}
    assert run.attributes["gen_ai.usage.output_tokens"] == 50
    assert run.attributes["attest.tier"] in {"strong", "weak"}
    assert 'attest_model_tokens_total{direction="read",model="m-1"} 1900.0' in metrics
    assert 'attest_tool_calls_total{outcome="ok",tool="search_knowledge"} 1.0' in metrics
    assert "attest_model_money_total" in metrics
    formatter = JsonFormatter()
    logs = "\n".join(formatter.format(record) for record in caplog.records if record.name != "httpx")
    told = "\n".join([metrics, logs, *(span.to_json() for span in spans.get_finished_spans())]).casefold()
    assert [word for word in WORDS if word in told] == []

    with Collector() as collector:
        _watch(RunSpans(otlp_exporter(collector.url)), stored)
    sent = b"".join(collector.bodies).lower()
    assert collector.paths == ["/v1/traces"]
    assert b"invoke_agent attest" in sent
    assert b"execute_tool search_knowledge" in sent
    assert [word for word in WORDS if word.encode() in sent] == []


def _watch(spans: RunSpans, events: Sequence[Event]) -> None:
    for event in events:
        spans.see(event)
    spans.close()


def test_logs_of_a_run_name_it_and_hold_no_text_of_exceptions() -> None:
    async def work() -> str:
        work_for(RunIds("r1", "t1"))
        try:
            raise ValueError("salary of Zhang is 9")
        except ValueError:
            record = logging.LogRecord("attest", logging.ERROR, __file__, 1, "run %s failed", ("r1",), None)
            record.exc_info = sys.exc_info()
        return await asyncio.to_thread(JsonFormatter().format, record)

    async def outside_and_inside() -> tuple[str, str]:
        inside = await asyncio.create_task(work())
        plain = logging.LogRecord("attest", logging.INFO, __file__, 1, "started", (), None)
        return inside, JsonFormatter().format(plain)

    inside, outside = asyncio.run(outside_and_inside())
    line = json.loads(inside)
    assert (line["run_id"], line["trace_id"], line["error"], line["message"]) == (
        *("r1", "t1", "ValueError", "run r1 failed"),
    )
    assert "Zhang" not in inside
    assert line["frames"]
    assert "trace_id" not in json.loads(outside)
