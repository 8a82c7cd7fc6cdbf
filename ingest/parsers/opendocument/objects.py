"""Charts and formulas that lie inside OpenDocument files as objects of their own."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.parsers.office.drawing_text import Element
from ingest.parsers.opendocument.package import OdfPackage, children, odf
from ingest.parsers.opendocument.tables import odf_table
from ingest.parsers.opendocument.text import plain_text
from ingest.types import Block

_KINDS = {
    "bar": "Bar chart",
    "line": "Line chart",
    "circle": "Pie chart",
    "ring": "Pie chart",
    "area": "Area chart",
    "scatter": "Scatter chart",
    "bubble": "Bubble chart",
    "radar": "Radar chart",
    "filled-radar": "Radar chart",
    "stock": "Stock chart",
}


def object_root(frame: Element, package: OdfPackage) -> Element | None:
    """Return the root of the object a frame shows; None where it shows none."""
    for one in children(frame, "draw:object"):
        inner = next(one.iterchildren(), None)
        return inner if inner is not None else package.object(str(one.get(odf("xlink:href")) or ""))
    return None


def formula_text(root: Element | None) -> str | None:
    """Return a formula as its author typed it, else the characters of its MathML; None for other objects."""
    if root is None or root.tag != odf("math:math"):
        return None
    typed = next((one.text for one in root.iter(odf("math:annotation")) if one.text), None)
    return " ".join((typed or "".join(root.itertext())).split())


def chart_blocks(root: Element | None) -> Iterator[Block]:
    """Yield a chart's caption and the table of its values; nothing for other objects."""
    chart = None if root is None else next(root.iter(odf("chart:chart")), None)
    if chart is None:
        return
    kind = _KINDS.get(str(chart.get(odf("chart:class"))).partition(":")[2], "Chart")
    titles = [plain_text(one) for one in chart.iter(odf("chart:title"))]
    said = ", ".join(filter(None, titles))
    yield Block(kind="caption", text=f"{kind}: {said}" if said else kind)
    for table in children(chart, "table:table"):
        block = odf_table(table, plain_text)
        if block is not None:
            yield block
