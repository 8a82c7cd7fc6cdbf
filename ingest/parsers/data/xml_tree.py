"""XML to a tree without document types: no entities of the author's making, nothing fetched."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from ingest.errors import CorruptDocumentError
from ingest.parsers.text.charset import decode_declared

_ENCODING = re.compile(rb"^\s*<\?xml[^>]+encoding\s*=\s*[\"']([A-Za-z0-9_:.-]+)", re.I)
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^\[>]*(\[)?", re.I)
_ENTITY = re.compile(r"<!\s*ENTITY\b", re.I)
_NOT_XML = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read_xml(content: bytes, display_name: str) -> ElementTree.Element:
    """Parse XML. A document type that only names itself is dropped; one that declares anything is refused.

    Raises:
        CorruptDocumentError: not well-formed, or it declares entities or elements of its own.
        UnsupportedDocumentError: binary content.
    """
    declared = _ENCODING.search(content[:1024])
    decoded = decode_declared(content, declared.group(1).decode("ascii") if declared else "utf-8", display_name)
    text = _without_doctype(decoded.text.lstrip(), display_name)
    try:
        # The decoded text goes in, so what the prolog says of its encoding no longer counts.
        return ElementTree.fromstring(_NOT_XML.sub(" ", text))
    except (ElementTree.ParseError, ValueError, LookupError) as exc:
        raise CorruptDocumentError(f"{display_name}: the XML is not well-formed") from exc


def local_name(element: ElementTree.Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def text_of(element: ElementTree.Element) -> str:
    """Return all text below an element, white space collapsed."""
    return " ".join("".join(element.itertext()).split())


def _without_doctype(text: str, display_name: str) -> str:
    match = _DOCTYPE.search(text, 0, 64 * 1024)
    if match is None:
        return text
    if match.group(1) or _ENTITY.search(text):
        raise CorruptDocumentError(f"{display_name}: the XML declares entities of its own, which is refused")
    end = text.find(">", match.end())
    return text[: match.start()] + text[end + 1 :] if end >= 0 else text
