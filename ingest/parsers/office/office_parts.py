"""Parts of an OOXML package that python-docx and python-pptx do not model, as XML roots."""

# python-docx, python-pptx and lxml type little of what is used here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from ingest.parsers.office.drawing_text import Element


def part_roots(part: Any, relation_types: Collection[str]) -> Iterator[Element]:
    """Yield the roots of all parts that `part` has such relations to, without the unreadable ones."""
    for relation in part.rels.values():
        if relation.reltype in relation_types and not relation.is_external:
            root = xml_root(relation.target_part.blob)
            if root is not None:
                yield root


def part_root(part: Any, relation_id: str | None) -> Element | None:
    """Return the root of the part with this relation; None where it is missing, outside or unreadable."""
    relation = part.rels.get(relation_id or "")
    if relation is None or relation.is_external:
        return None
    return xml_root(relation.target_part.blob)


def xml_root(blob: bytes) -> Element | None:
    """Parse a part without entities, document types and the network; None where it is not well formed."""
    try:
        return etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except (ValueError, etree.LxmlError):
        return None
