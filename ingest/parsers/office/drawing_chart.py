"""Charts of Office files as tables: the title, then categories by row and series by column.

Read are the values the chart stores beside its drawing (ECMA-376 part 1, 21.2),
not the workbook inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ingest.parsers.grid import MAX_COLUMNS, Cell, table_block
from ingest.parsers.office.drawing_text import Element, body_text
from ingest.types import Block

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_EXTENDED = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
CHARTS = frozenset({f"{_C}chart", f"{_EXTENDED}chart"})
"""Elements that refer to a chart's part by `r:id`."""
_KINDS = (
    ("bar", "Bar chart"),
    ("line", "Line chart"),
    ("pie", "Pie chart"),
    ("doughnut", "Pie chart"),
    ("ofPie", "Pie chart"),
    ("area", "Area chart"),
    ("scatter", "Scatter chart"),
    ("bubble", "Bubble chart"),
    ("radar", "Radar chart"),
    ("stock", "Stock chart"),
)
_MAX_POINTS = 20_000
_EPOCH = datetime(1899, 12, 30, tzinfo=UTC)
"""Day 0 of spreadsheet dates."""

_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|general')
"""What is text in a number format, not a sign for a part of the number."""

Points = dict[int, str]


def chart_blocks(root: Element, page_number: int | None = None) -> list[Block]:
    """Return a chart's title as a caption and its values as a table; what it has of both."""
    if root.tag == f"{_EXTENDED}chartSpace":
        return _with_page(_extended(root), page_number)
    chart = root.find(f"{_C}chart")
    if chart is None:
        return []
    title = body_text(chart.find(f"{_C}title/{_C}tx/{_C}rich"), " ") or _cached(chart.find(f"{_C}title/{_C}tx"))
    axes = [
        body_text(axis.find(f"{_C}title/{_C}tx/{_C}rich"), " ")
        for axis in chart.iterfind(f"{_C}plotArea/*")
        if axis.tag in (f"{_C}valAx", f"{_C}catAx", f"{_C}dateAx")
    ]
    series = list(chart.iterfind(f"{_C}plotArea/*/{_C}ser"))[:MAX_COLUMNS]
    corner = axes[0] if axes else ""
    plots = [str(plot.tag).removeprefix(_C) for plot in chart.iterfind(f"{_C}plotArea/*")]
    kind = next((name for plot in plots for start, name in _KINDS if plot.startswith(start)), "Chart")
    table = list(_table(series, corner))
    return _with_page([*_caption(kind, title, axes[1:] if table else axes), *table], page_number)


def _with_page(blocks: list[Block], page_number: int | None) -> list[Block]:
    return [block.model_copy(update={"page_number": page_number, "page_end": page_number}) for block in blocks]


def _caption(kind: str, title: str, axes: list[str]) -> Iterator[Block]:
    """Say that what follows was drawn: its numbers are those of a chart, not of a table in the text."""
    text = ", ".join(filter(None, [title, *axes]))
    yield Block(kind="caption", text=f"{kind}: {text}" if text else kind)


def _table(series: list[Element], corner: str) -> Iterator[Block]:
    if not series:
        return
    if any(one.find(f"{_C}xVal") is not None for one in series):
        yield from _scatter(series)
        return
    labels: Points = {}
    for one in series:
        for index, label in _labels(one.find(f"{_C}cat")).items():
            labels.setdefault(index, label)
    values = [_points(one.find(f"{_C}val")) for one in series]
    names = [_cached(one.find(f"{_C}tx")) or f"Series {number}" for number, one in enumerate(series, start=1)]
    rows = sorted({*labels, *(index for points in values for index in points)})[:_MAX_POINTS]
    if not rows:
        return
    body = [[labels.get(row, ""), *(points.get(row, "") for points in values)] for row in rows]
    yield from _grid([[corner, *names], *body])


def _scatter(series: list[Element]) -> Iterator[Block]:
    """Each series has x values of its own, so each point is a row."""
    body: list[list[str]] = []
    for number, one in enumerate(series, start=1):
        name = _cached(one.find(f"{_C}tx")) or f"Series {number}"
        across, up = _points(one.find(f"{_C}xVal")), _points(one.find(f"{_C}yVal"))
        size = _points(one.find(f"{_C}bubbleSize"))
        body.extend(
            [name, across.get(index, ""), up.get(index, ""), size.get(index, "")] for index in sorted({*across, *up})
        )
    yield from _grid([["Series", "X", "Y", "Size"], *body[:_MAX_POINTS]])


def _grid(rows: list[list[str]]) -> Iterator[Block]:
    sized = any(row[-1] for row in rows[1:])
    kept = rows if sized or rows[0][-1] != "Size" else [row[:-1] for row in rows]
    block = table_block([[Cell(text) for text in row] for row in kept], header_rows=1)
    if block is not None:
        yield block


def _labels(category: Element | None) -> Points:
    """Return category labels; those of several levels are joined, the outer one first."""
    if category is None:
        return {}
    levels = [_level(level, "") for level in category.iterfind(f"{_C}multiLvlStrRef/{_C}multiLvlStrCache/{_C}lvl")]
    if not levels:
        return _points(category)
    outer = [sorted(level.items()) for level in levels[1:]]
    labels: Points = {}
    for index, label in levels[0].items():
        above = [next((text for at, text in reversed(level) if at <= index), "") for level in reversed(outer)]
        labels[index] = " ".join(filter(None, [*above, label]))
    return labels


def _points(holder: Element | None) -> Points:
    if holder is None:
        return {}
    for path in ("numRef/numCache", "numLit", "strRef/strCache", "strLit"):
        cache = holder.find("/".join(f"{_C}{step}" for step in path.split("/")))
        if cache is not None:
            return _level(cache, cache.findtext(f"{_C}formatCode") or "")
    return {}


def _level(cache: Element, code: str) -> Points:
    points: Points = {}
    for point in cache.iterfind(f"{_C}pt"):
        index = str(point.get("idx"))
        if index.isdigit() and len(index) < 8 and len(points) < _MAX_POINTS:
            points[int(index)] = _shown(point.findtext(f"{_C}v") or "", str(point.get("formatCode") or code))
    return points


def _shown(value: str, code: str) -> str:
    """Return a number as its format shows it, as far as percent and dates go; words as they are."""
    if not code:
        return value.strip()
    try:
        number = float(value)
    except ValueError:
        return value.strip()
    if "%" in code:
        return f"{round(number * 100, 6):g}%"
    plain = _QUOTED.sub("", code.lower())
    if ("yy" in plain or ("d" in plain and "m" in plain)) and 1 <= number < 2_958_466:
        return (_EPOCH + timedelta(days=number)).date().isoformat()
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _cached(text: Element | None) -> str:
    """Return the text of a reference as the chart remembers it."""
    if text is None:
        return ""
    direct = text.findtext(f"{_C}v")
    points = (point.text or "" for point in text.iterfind(f"{_C}strRef/{_C}strCache/{_C}pt/{_C}v"))
    return " ".join((direct or " ".join(points)).split())


def _extended(root: Element) -> list[Block]:
    """Read a chart of the newer kind (waterfall, funnel, treemap): its dimensions are the columns."""
    title = body_text(root.find(f"{_EXTENDED}chart/{_EXTENDED}title/{_EXTENDED}tx/{_EXTENDED}rich"), " ")
    columns: list[tuple[str, Points]] = []
    for dimension in root.iterfind(f"{_EXTENDED}chartData/{_EXTENDED}data/*"):
        for level in dimension.iterfind(f"{_EXTENDED}lvl"):
            points = {
                int(str(point.get("idx"))): (point.text or "").strip()
                for point in level.iterfind(f"{_EXTENDED}pt")
                if str(point.get("idx")).isdigit()
            }
            columns.append((str(level.get("name") or dimension.get("type") or ""), points))
    columns = columns[:MAX_COLUMNS]
    rows = sorted({index for _, points in columns for index in points})[:_MAX_POINTS]
    body = [[points.get(row, "") for _, points in columns] for row in rows]
    return [*_caption("Chart", title, []), *(_grid([[name for name, _ in columns], *body]) if body else ())]
