"""A measured search as one HTML page: tables, and bars drawn without any script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from retrieval.evaluation import RetrievalReport
from retrieval.evaluation_compare import Comparison
from retrieval.evaluation_meetings import MeetingsReport
from retrieval.metrics import Interval

_TEMPLATES = Path(__file__).parent.parent / "templates"
_STAGES = (
    *("symbolise", "encode", "dense", "foreign", "sparse", "translate", "translated", "symbol"),
    *("fuse", "live", "rerank", "passages", "total"),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart."""

    label: str
    value: float
    share: float
    """Of the chart's width, 0 to 100."""
    kind: str
    """Which colour."""


def render_retrieval(report: RetrievalReport) -> str:
    """Return the page of one search beside BM25."""
    metrics = report.metrics
    rows = {
        name: {"search": metrics[name], "without reranker": metrics[f"fused.{name}"], "BM25": metrics[f"bm25.{name}"]}
        for name in report.over_bm25
    }
    facts = (
        f"{report.questions} questions, {report.texts} texts in {report.chunks} chunks",
        f"encoder {report.encoder} ({report.encoder_revision}), reranker {report.reranker}",
        f"indexed in {report.index_s:.1f} s",
    )
    return _page(report.dataset, facts, rows, report.over_bm25, "search − BM25", _times(report.query_ms))


def render_meetings(report: MeetingsReport) -> str:
    """Return the page of search inside meetings beside BM25."""
    rows = {name: {"search": report.metrics[name], "BM25": report.metrics[f"bm25.{name}"]} for name in report.over_bm25}
    facts = (
        f"{report.questions} questions about {report.meetings} meetings in {report.pieces} pieces",
        f"encoder {report.encoder} ({report.encoder_revision}), reranker {report.reranker}",
    )
    return _page(report.dataset, facts, rows, report.over_bm25, "search − BM25", ())


def render_comparison(found: Comparison) -> str:
    """Return the page of two settings beside each other."""
    first, second = (report.metrics for report in found.reports)
    rows = {name: {"a": first[name], "b": second[name]} for name in found.differences}
    facts = (
        f"a: {found.a}",
        f"b: {found.b}",
        *(
            f"{name}: p = {difference.p:.4f}, {difference.better} questions better, {difference.worse} worse"
            for name, difference in found.differences.items()
        ),
        f"only a finds first: {', '.join(found.only_a[:100]) or 'none'}",
        f"only b finds first: {', '.join(found.only_b[:100]) or 'none'}",
    )
    return _page(found.dataset, facts, rows, found.differences, "b − a", _times(found.reports[1].query_ms))


def _page(
    name: str,
    facts: Sequence[str],
    rows: Mapping[str, Mapping[str, float]],
    differences: Mapping[str, Interval],
    difference: str,
    times: Sequence[Bar],
) -> str:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    bars = {
        metric: [
            Bar(label, value, max(0.0, min(value, 1.0)) * 100, f"c{at}")
            for at, (label, value) in enumerate(row.items())
        ]
        for metric, row in rows.items()
    }
    return environment.get_template("evaluation.html.j2").render(
        name=name, facts=facts, bars=bars, differences=differences, difference=difference, times=times
    )


def _times(query_ms: Mapping[str, float]) -> list[Bar]:
    longest = max(query_ms.values(), default=0.0) or 1.0
    return [
        Bar(f"{stage} {which}", query_ms[f"{stage}.{which}"], query_ms[f"{stage}.{which}"] / longest * 100, kind)
        for stage in _STAGES
        for which, kind in (("p50", "c0"), ("p95", "c2"))
        if f"{stage}.{which}" in query_ms
    ]
