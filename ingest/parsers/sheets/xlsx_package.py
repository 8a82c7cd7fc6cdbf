"""The parts of a workbook: relationships, sheets, shared strings, number formats.

Read by local names, so that the Strict form of the standard (ISO/IEC 29500-1) reads like the
Transitional one. Parts are streamed: a tree of a large sheet would take ten times its XML.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]
from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils.escape import unescape

from ingest.errors import CorruptDocumentError, DocumentTooLargeError
from ingest.parsers.sheets.number_formats import BUILTIN_DATES
from ingest.settings import ParserSettings

Element = Any
"""lxml's elements carry no types of their own."""
_MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A sheet as the workbook lists it."""

    name: str
    part: str
    kind: str
    """Last word of the relationship: `worksheet`, `chartsheet`, `dialogsheet`, `xlMacrosheet`."""
    hidden: bool


def local(element: Element) -> str:
    """Return an element's name without its namespace; empty for comments and instructions."""
    tag = element.tag
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """Return an attribute by its local name, whatever its namespace."""
    for key, value in element.attrib.items():
        if key.rsplit("}", 1)[-1] == name:
            return str(value)
    return None


def text_of(element: Element) -> str:
    """Return the text of a string item: all runs, phonetic guides left out."""
    parts: list[str] = []
    for child in element:
        name = local(child)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts += [inner.text or "" for inner in child if local(inner) == "t"]
    return unescape("".join(parts))


class WorkbookPackage:
    """A checked XLSX container."""

    def __init__(self, package: zipfile.ZipFile, display_name: str, limits: ParserSettings) -> None:
        self._package, self._name = package, display_name
        self._members = {member.lower(): member for member in package.namelist()}
        self._max_tree = limits.memory_mb * _MEGABYTE // 64
        self._max_strings = limits.memory_mb * _MEGABYTE // 8
        self.main = self._main_part()
        self._workbook = self.tree(self.main)
        self._relations = self.relations(self.main)

    def has(self, part: str) -> bool:
        """Tell whether the container has a part."""
        return part.lower() in self._members

    def tree(self, part: str) -> Element:
        """Parse a small part into a tree; an empty element where there is none.

        Raises:
            DocumentTooLargeError: it is not small.
        """
        if not self.has(part):
            return etree.Element("none")
        member = self._package.getinfo(self._members[part.lower()])
        if member.file_size > self._max_tree:
            raise DocumentTooLargeError(f"{self._name}: the part {part!r} is larger than any workbook needs")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            return etree.fromstring(self._package.read(member), parser)
        except etree.XMLSyntaxError as exc:
            raise CorruptDocumentError(f"{self._name}: the part {part!r} is no well-formed XML") from exc

    def stream(self, part: str, *names: str) -> Iterator[Element]:
        """Yield the elements of these local names as they end, and free them after each step."""
        if not self.has(part):
            return
        with closing(self._package.open(self._members[part.lower()])) as stream:
            events = etree.iterparse(
                stream, events=("end",), tag=[f"{{*}}{name}" for name in names], resolve_entities=False, no_network=True
            )
            try:
                for _, element in events:
                    yield element
                    element.clear()
                    parent = element.getparent()
                    while parent is not None and element.getprevious() is not None:
                        del parent[0]
            except etree.XMLSyntaxError as exc:
                raise CorruptDocumentError(f"{self._name}: the part {part!r} is no well-formed XML") from exc

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return a part's relationships: id → kind (its last word) and target part; external ones are left out."""
        folder, name = posixpath.split(part)
        found: dict[str, tuple[str, str]] = {}
        for element in self.tree(posixpath.join(folder, "_rels", f"{name}.rels")):
            target = attribute(element, "Target")
            if target is None or attribute(element, "TargetMode") == "External":
                continue
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found[attribute(element, "Id") or ""] = ((attribute(element, "Type") or "").rsplit("/", 1)[-1], path)
        return found

    def related(self, part: str, kind: str) -> list[str]:
        """Return the parts that a part refers to as of this kind."""
        return [target for found, target in self.relations(part).values() if found == kind and self.has(target)]

    def sheets(self) -> list[SheetPart]:
        """Return the sheets in the workbook's order."""
        found: list[SheetPart] = []
        for element in self._workbook.iter("{*}sheet"):
            kind, part = self._relations.get(attribute(element, "id") or "", ("", ""))
            if part and self.has(part):
                hidden = attribute(element, "state") in ("hidden", "veryHidden")
                found.append(SheetPart(unescape(attribute(element, "name") or ""), part, kind, hidden))
        return found

    def counts_from_1904(self) -> bool:
        """Tell whether dates count from 1904."""
        properties = next(self._workbook.iter("{*}workbookPr"), None)
        return properties is not None and attribute(properties, "date1904") in ("1", "true", "on")

    def title(self) -> str:
        """Return the title in the document's properties."""
        for part in ("docProps/core.xml", *self.related("", "core-properties")):
            for element in self.tree(part):
                if local(element) == "title" and (element.text or "").strip():
                    return " ".join(str(element.text).split())
        return ""

    def shared_strings(self) -> list[str]:
        """Return the shared strings by index.

        Raises:
            DocumentTooLargeError: more text than an eighth of the memory limit.
        """
        strings: list[str] = []
        size = 0
        for part in self.related(self.main, "sharedStrings"):
            for element in self.stream(part, "si"):
                text = text_of(element)
                size += len(text) + 32
                if size > self._max_strings:
                    raise DocumentTooLargeError(
                        f"{self._name}: more than {self._max_strings // _MEGABYTE} MB of text in cells"
                    )
                strings.append(text)
        return strings

    def number_formats(self) -> list[str]:
        """Return the format code of each cell style."""
        own: dict[int, str] = {}
        styles: list[str] = []
        for part in self.related(self.main, "styles"):
            tree = self.tree(part)
            for element in tree.iter("{*}numFmt"):
                own[_number(attribute(element, "numFmtId"))] = attribute(element, "formatCode") or "General"
            for group in tree.iter("{*}cellXfs"):
                for style in group:
                    number = _number(attribute(style, "numFmtId"))
                    builtin = BUILTIN_DATES.get(number) or BUILTIN_FORMATS.get(number, "General")
                    styles.append(own.get(number, builtin))
        return styles

    def _main_part(self) -> str:
        main = next(iter(self.related("", "officeDocument")), "xl/workbook.xml")
        if not self.has(main):
            raise CorruptDocumentError(f"{self._name}: the container holds no workbook")
        return main


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() and len(text) < 7 else 0
