"""What a DOCX paragraph anchors beside its text: pictures by their description, charts, diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn

from ingest.parsers.office.docx_text import Element, descend
from ingest.parsers.office.drawing_chart import CHARTS, chart_blocks
from ingest.parsers.office.drawing_diagram import DATA_ID, DIAGRAM_IDS, diagram_list
from ingest.parsers.office.drawing_text import RELATIONSHIP_ID, description
from ingest.parsers.office.office_parts import part_root
from ingest.types import Block

_VML_SHAPE = "{urn:schemas-microsoft-com:vml}shape"


def anchored_blocks(element: Element, part: Any) -> Iterator[Block]:
    """Yield captions of pictures, tables of charts and lists of diagrams in a paragraph or table, each once.

    Text boxes are not entered: their paragraphs are read by themselves.
    """
    for found in descend(element):
        if found.tag == qn("wp:docPr"):
            text = description(found.get("descr") or found.get("title"))
        elif found.tag == _VML_SHAPE:
            text = description(found.get("alt"))
        elif found.tag in CHARTS:
            root = part_root(part, found.get(RELATIONSHIP_ID))
            yield from () if root is None else chart_blocks(root)
            continue
        elif found.tag == DIAGRAM_IDS:
            root = part_root(part, found.get(DATA_ID))
            items = "" if root is None else diagram_list(root)
            if items:
                yield Block(kind="list", text=items)
            continue
        else:
            continue
        if text:
            yield Block(kind="caption", text=text)
