"""SmartArt of Office files as a list: the points of its data part, indented as they hang together.

ECMA-376 part 1, 21.4: what is drawn is computed from these points, so the text is here alone.
"""

from __future__ import annotations

from ingest.parsers.office.drawing_text import Element, body_text

_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
DATA_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
DIAGRAM_IDS = f"{_DGM}relIds"
_DRAWN_ONLY = frozenset({"pres", "parTrans", "sibTrans"})
_MAX_POINTS = 5_000


def diagram_list(root: Element) -> str:
    """Return the text of a diagram's data part as list lines; empty where it has none."""
    texts: dict[str, str] = {}
    top: list[str] = []
    for point in list(root.iterfind(f"{_DGM}ptLst/{_DGM}pt"))[:_MAX_POINTS]:
        kind, model_id = str(point.get("type") or "node"), str(point.get("modelId"))
        if kind not in _DRAWN_ONLY:
            texts[model_id] = body_text(point.find(f"{_DGM}t"), " ")
            if kind == "doc":
                top.append(model_id)
    children = _children(root)
    placed: set[str] = set()
    lines: list[str] = []
    # What hangs on nothing is read last, so that no text is lost with a broken connection.
    for start, depth in [*((one, -1) for one in top), *((one, 0) for one in texts)]:
        stack = [(start, depth)]
        while stack:
            model_id, level = stack.pop()
            if model_id in placed or model_id not in texts:
                continue
            placed.add(model_id)
            if texts[model_id]:
                lines.append("  " * min(max(level, 0), 8) + f"- {texts[model_id]}")
            stack.extend((child, level + 1) for child in reversed(children.get(model_id, [])))
    return "\n".join(lines)


def _children(root: Element) -> dict[str, list[str]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for connection in root.iterfind(f"{_DGM}cxnLst/{_DGM}cxn"):
        if (connection.get("type") or "parOf") == "parOf":
            order = str(connection.get("srcOrd") or "0")
            place = (int(order) if order.isdigit() else 0, str(connection.get("destId")))
            found.setdefault(str(connection.get("srcId")), []).append(place)
    return {parent: [child for _, child in sorted(places, key=lambda one: one[0])] for parent, places in found.items()}
