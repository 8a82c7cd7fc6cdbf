"""Page headers and footers of a DOCX that say more than the page: letterheads, document numbers, confidentiality."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn

from ingest.parsers.office.docx_text import Element, descend, paragraph_text, text_boxes
from ingest.parsers.office.office_parts import part_root
from ingest.parsers.text.joining import squeeze
from ingest.types import Block

_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|PAGEREF)\b", re.I)
_PAGE_WORDS = re.compile(
    r"(?:page|pages|pg|p|of|seite|von|página|page|de|sur|pagina|di|стр|из|total|第|页|頁|共|总|總|[\W\d_])+", re.I
)
_KINDS = ((qn("w:headerReference"), "header"), (qn("w:footerReference"), "footer"))


def furniture(body: Element, part: Any) -> tuple[list[Block], list[Block], int]:
    """Return headers, footers, and how many parts were left out.

    A text that several sections or kinds of pages repeat is given once; one of page numbers alone is left out.
    """
    headers: list[Block] = []
    footers: list[Block] = []
    seen: set[str] = set()
    read: set[str] = set()
    left_out = 0
    for reference, kind in _references(body):
        relation_id = str(reference.get(qn("r:id")))
        root = None if relation_id in read else part_root(part, relation_id)
        read.add(relation_id)
        text = "" if root is None else " ".join(_texts(root))
        if not text:
            continue
        if is_page_number(text):
            left_out += 1
        elif squeeze(text) not in seen:
            seen.add(squeeze(text))
            blocks = headers if kind == "header" else footers
            blocks.append(Block(kind="paragraph", text=f"Page {kind}: {text}"))
    return headers, footers, left_out


def is_page_number(text: str) -> bool:
    """Tell whether a header or footer says nothing but the page: `Page 3 of 9`, `第 3 页`."""
    return _PAGE_WORDS.fullmatch(text) is not None


def _references(body: Element) -> Iterator[tuple[Element, str]]:
    """Yield the references of all sections; those for first pages only where a section has such a page.

    A section without a reference of its own takes the one before, so that any section may use it.
    """
    has_first_pages = next(body.iter(qn("w:titlePg")), None) is not None
    for section in body.iter(qn("w:sectPr")):
        for tag, kind in _KINDS:
            for reference in section.iterchildren(tag):
                if has_first_pages or reference.get(qn("w:type")) != "first":
                    yield reference, kind


def _texts(root: Element) -> Iterator[str]:
    for paragraph in root.iter(qn("w:p")):
        if any(parent.tag == qn("w:txbxContent") for parent in paragraph.iterancestors()):
            continue
        yield from filter(None, [_without_page_fields(paragraph)])
        for box in text_boxes(paragraph):
            yield from filter(None, map(_without_page_fields, box.iter(qn("w:p"))))


def _without_page_fields(paragraph: Element) -> str:
    """Return a paragraph's text without what its page fields show, simple ones and those of several runs."""
    instructions: list[str] = []
    results: list[Element] = []
    shown: list[bool] = []
    for element in descend(paragraph, frozenset({qn("w:rPr"), qn("w:pPr")})):
        if element.tag == qn("w:fldSimple") and _PAGE_FIELD.match(str(element.get(qn("w:instr")) or "")):
            results.extend(element.iter(qn("w:t")))
        elif element.tag == qn("w:fldChar"):
            match element.get(qn("w:fldCharType")):
                case "begin":
                    instructions.append("")
                    shown.append(False)
                case "separate" if shown:
                    shown[-1] = True
                case "end" if shown:
                    shown.pop()
                    instructions.pop()
                case _:
                    pass
        elif element.tag == qn("w:instrText") and instructions:
            instructions[-1] += element.text or ""
        elif element.tag == qn("w:t") and shown and shown[-1] and _PAGE_FIELD.match(instructions[-1]):
            results.append(element)
    for result in results:
        result.text = ""
    return paragraph_text(paragraph)
