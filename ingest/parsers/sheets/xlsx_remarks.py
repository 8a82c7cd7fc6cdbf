"""What lies on an XLSX sheet beside its cells: comments, text boxes, titles of charts, descriptions of pictures."""

from __future__ import annotations

import re

from ingest.parsers.office.drawing_chart import chart_blocks
from ingest.parsers.sheets.xlsx_package import Element, WorkbookPackage, attribute, local, text_of
from ingest.parsers.text.joining import collapse
from ingest.types import Block

_MADE_BY_MACHINE = re.compile(
    r"description automatically generated|自动生成的说明|AI-generated content|^(?:Picture|Image|图片)\s*\d*$", re.I
)
_MAX_REMARKS = 10_000


class RemarkReader:
    """Reads the remarks of one workbook's sheets."""

    def __init__(self, package: WorkbookPackage) -> None:
        self._package = package
        self._people = {
            (attribute(person, "id") or "").lower(): attribute(person, "displayName") or ""
            for part in package.related(package.main, "person")
            for person in package.tree(part)
        }
        self._pictures = 0
        self._objects = 0

    def read(self, part: str) -> list[Block]:
        """Return a sheet's remarks: text boxes and captions as they are drawn, then the comments by cell."""
        blocks: list[Block] = []
        for drawing in self._package.related(part, "drawing"):
            blocks += self._drawing(drawing)
        self._objects += len(self._package.related(part, "oleObject")) + len(self._package.related(part, "package"))
        return [*blocks, *self._comments(part)][:_MAX_REMARKS]

    def notes(self) -> list[str]:
        """Say what was seen and not read."""
        notes: list[str] = []
        if self._pictures:
            notes.append(f"{self._pictures} pictures were not read")
        if self._objects:
            notes.append(f"{self._objects} embedded objects were not opened")
        return notes

    def _comments(self, part: str) -> list[Block]:
        threaded = [
            (attribute(found, "ref") or "", self._said_by(found), _own_text(found))
            for thread in self._package.related(part, "threadedComment")
            for found in self._package.tree(thread).iter("{*}threadedComment")
        ]
        # Older programs are shown a copy of each thread as a plain comment.
        copied = {reference for reference, _, _ in threaded}
        plain: list[tuple[str, str, str]] = []
        for comments in self._package.related(part, "comments"):
            tree = self._package.tree(comments)
            authors = [str(author.text or "") for author in tree.iter("{*}author")]
            for comment in tree.iter("{*}comment"):
                reference = attribute(comment, "ref") or ""
                if reference not in copied:
                    text = " ".join(text_of(child) for child in comment if local(child) == "text")
                    plain.append((reference, _pick(authors, attribute(comment, "authorId")), text))
        return [
            Block(kind="paragraph", text=f"Comment on {reference}{f' ({author})' if author else ''}: {collapse(text)}")
            for reference, author, text in [*plain, *threaded]
            if text.strip()
        ]

    def _said_by(self, comment: Element) -> str:
        name = self._people.get((attribute(comment, "personId") or "").lower(), "")
        return ", ".join(filter(None, (name, (attribute(comment, "dT") or "")[:10])))

    def _drawing(self, part: str) -> list[Block]:
        blocks: list[Block] = []
        tree = self._package.tree(part)
        for element in tree.iter("{*}sp", "{*}pic", "{*}chart"):
            name = local(element)
            if name == "sp":
                blocks += [Block(kind="paragraph", text=text) for text in _paragraphs(element)]
            elif name == "pic":
                self._pictures += 1
                blocks += _description(element)
            else:
                relation = self._package.relations(part).get(attribute(element, "id") or "")
                if relation is not None and self._package.has(relation[1]):
                    blocks += _chart(self._package.tree(relation[1]))
        return blocks


def _own_text(comment: Element) -> str:
    return " ".join(str(child.text or "") for child in comment if local(child) == "text")


def _pick(authors: list[str], index: str | None) -> str:
    number = int(index) if index is not None and index.isdigit() else -1
    return collapse(authors[number]) if 0 <= number < len(authors) else ""


def _paragraphs(element: Element) -> list[str]:
    """Return the text of each DrawingML paragraph; a fallback for older programs repeats it and is skipped."""
    found: list[str] = []
    for paragraph in element.iter("{*}p"):
        if any(local(above) == "Fallback" for above in paragraph.iterancestors()):
            continue
        text = "".join(" " if local(part) == "br" else str(part.text or "") for part in paragraph.iter("{*}t", "{*}br"))
        if text.strip():
            found.append(collapse(text))
    return found


def _description(picture: Element) -> list[Block]:
    """A picture's description, where a person wrote it."""
    for properties in picture.iter("{*}cNvPr"):
        text = collapse(attribute(properties, "descr") or "")
        if text and not _MADE_BY_MACHINE.search(text):
            return [Block(kind="caption", text=text)]
    return []


def _chart(chart: Element) -> list[Block]:
    """Read the titles of a chart and its axes; its figures only where they are not a copy of this workbook's cells."""
    if _has_own_figures(chart):
        return chart_blocks(chart)
    titles: list[str] = []
    for title in chart.iter("{*}title"):
        text = " ".join(_paragraphs(title)) or " ".join(
            str(value.text or "") for value in title.iter("{*}v") if value.text
        )
        if text.strip():
            titles.append(collapse(text))
    return [Block(kind="caption", text=" – ".join(titles))] if titles else []


def _has_own_figures(chart: Element) -> bool:
    """The values are written into the chart, or come from another workbook."""
    references = [str(formula.text or "") for formula in chart.iter("{*}f")]
    return next(chart.iter("{*}numLit"), None) is not None or any("[" in reference for reference in references)
