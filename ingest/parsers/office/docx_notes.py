"""Footnotes, endnotes and comments of a DOCX: each once, after the paragraph or table that refers to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml.ns import qn

from ingest.parsers.office.docx_text import Element, descend, paragraph_text
from ingest.parsers.office.office_comments import marked_comment
from ingest.parsers.office.office_parts import part_roots
from ingest.types import Block

_REFERENCES = {
    qn("w:footnoteReference"): "footnote",
    qn("w:endnoteReference"): "endnote",
    qn("w:commentReference"): "comment",
}
_WORDS = {"footnote": "Footnote", "endnote": "Endnote"}
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")


class Notes:
    """Hands out one document's notes; footnotes and endnotes are counted together, as they come."""

    def __init__(self, part: Any) -> None:
        """Read the notes of the document's main part."""
        self._texts: dict[tuple[str, str], str] = {
            **dict(_notes(part, RT.FOOTNOTES, "footnote")),
            **dict(_notes(part, RT.ENDNOTES, "endnote")),
            **dict(_comments(part)),
        }
        self.comments = sum(kind == "comment" for kind, _ in self._texts)
        """How many comments the document has."""
        self.count = 0
        """How many footnotes and endnotes were handed out."""

    def after(self, element: Element) -> Iterator[Block]:
        """Yield the notes that a paragraph or table refers to and that were not handed out yet."""
        for found in descend(element):
            kind = _REFERENCES.get(found.tag)
            if kind is not None:
                yield from self._take(kind, str(found.get(qn("w:id"))))

    def rest(self) -> Iterator[Block]:
        """Yield the comments that nothing in the text refers to, such as answers to others."""
        for kind, note_id in list(self._texts):
            if kind == "comment":
                yield from self._take(kind, note_id)

    def _take(self, kind: str, note_id: str) -> Iterator[Block]:
        text = self._texts.pop((kind, note_id), "")
        if text and kind != "comment":
            self.count += 1
            text = f"{_WORDS[kind]} {self.count}: {text}"
        if text:
            yield Block(kind="paragraph", text=text)


def _notes(part: Any, relation: str, kind: str) -> Iterator[tuple[tuple[str, str], str]]:
    for root in part_roots(part, (relation,)):
        for note in root.iterchildren(qn(f"w:{kind}")):
            if note.get(qn("w:type")) not in _SEPARATORS:
                yield (kind, str(note.get(qn("w:id")))), _text(note)


def _comments(part: Any) -> Iterator[tuple[tuple[str, str], str]]:
    for root in part_roots(part, (RT.COMMENTS,)):
        for comment in root.iterchildren(qn("w:comment")):
            text = _text(comment)
            if text:
                name = " ".join(str(comment.get(qn("w:author")) or "").split())
                said = marked_comment(name, text, str(comment.get(qn("w:date")) or ""))
                yield ("comment", str(comment.get(qn("w:id")))), said


def _text(note: Element) -> str:
    return " ".join(filter(None, map(paragraph_text, note.iter(qn("w:p")))))
