"""XML of any vocabulary: records become tables, elements with words paragraphs, titles headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from ingest.errors import NoTextError
from ingest.parsers.grid import Cell, table_block
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.data.xml_tree import local_name, read_xml, text_of
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_TITLES = frozenset({"title", "head", "heading", "headline"})
_MAX_TITLE = 200
_MAX_COLUMNS = 50
_MAX_CELL = 500
"""Characters of a value; longer ones are texts."""
_MAX_VALUE = 80
"""Characters up to which an element's text is a value that needs its element's name."""


def parse_xml(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an XML file whose vocabulary is not known.

    Raises:
        NoTextError: no element has text.
        CorruptDocumentError: not well-formed, or it declares entities of its own.
        UnsupportedDocumentError: binary content.
    """
    root = read_xml(path.read_bytes(), display_name)
    blocks = tuple(_blocks(root))
    if not blocks:
        raise NoTextError(f"{display_name}: no element of the XML has text")
    has_attributes = any(element.attrib for element in root.iter())
    title = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="xml", blocks=blocks, title=title, notes=("attributes were left out",) if has_attributes else ()
    )


def _blocks(root: Element) -> Iterator[Block]:
    """Walk the elements in document order, with a stack: how deep they nest is the author's choice."""
    stack = [(root, 1)]
    while stack:
        element, depth = stack.pop()
        children = list(element)
        if not children or _is_mixed(element, children):
            yield from _leaf_blocks([element], depth)
        elif (table := _records(children)) is not None:
            yield table
        elif not any(len(child) for child in children):
            yield from _leaf_blocks(children, depth)
        else:
            stack.extend((child, depth + 1) for child in reversed(children))


def _is_mixed(element: Element, children: Sequence[Element]) -> bool:
    """Tell whether words stand between the elements: then they are marks inside one text."""
    return bool((element.text or "").strip()) or any((child.tail or "").strip() for child in children)


def _leaf_blocks(elements: Sequence[Element], depth: int) -> Iterator[Block]:
    """Yield titles as headings and all other elements as one paragraph, a line for each."""
    lines: list[str] = []
    for element in elements:
        name, text = local_name(element), text_of(element)
        if not text:
            continue
        if name.lower() in _TITLES and len(text) <= _MAX_TITLE:
            if lines:
                yield Block(kind="paragraph", text="\n".join(lines))
                lines = []
            yield Block(kind="heading", level=min(depth, 6), text=text)
        else:
            lines.append(f"{name}: {text}" if len(text) <= _MAX_VALUE and not len(element) else text)
    if lines:
        yield Block(kind="paragraph", text="\n".join(lines))


def _records(children: Sequence[Element]) -> Block | None:
    """Return elements of one name that hold single values as a table: a row each, a column for each name of a value."""
    if len(children) < 2 or len({child.tag for child in children}) > 1:
        return None
    columns: dict[str, None] = {}
    for child in children:
        names = [local_name(value) for value in child]
        if not names or len(set(names)) < len(names) or any(len(value) for value in child):
            return None
        columns.update(dict.fromkeys(names))
        if len(columns) > _MAX_COLUMNS or any(len(value.text or "") > _MAX_CELL for value in child):
            return None
    if len(columns) < 2:
        return None
    rows = [[Cell(name, header=True) for name in columns]]
    for child in children:
        values = {local_name(value): text_of(value) for value in child}
        rows.append([Cell(values.get(name, "")) for name in columns])
    return table_block(rows, 1)
