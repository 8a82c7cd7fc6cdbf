"""The container of an EPUB book: bounded members, metadata, manifest, spine, encryption (EPUB 2 and 3)."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, IngestError
from ingest.parsers.data.xml_tree import local_name, read_xml, text_of
from ingest.settings import ParserSettings

_MEGABYTE = 1024 * 1024
_MAX_MEMBERS = 20_000
_MAX_RATIO = 400
_RATIO_FREE_BYTES = 16 * _MEGABYTE
_ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError)
FONT_OBFUSCATION = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
"""Algorithms that hide fonts alone; any other one is copy protection."""


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the book: where it lies in the container and what the manifest says of it."""

    path: str
    media_type: str
    properties: frozenset[str]


@dataclass(frozen=True, slots=True)
class Book:
    """What the package document says."""

    metadata: tuple[tuple[str, str], ...]
    """Dublin Core elements as (local name, text), in their order."""
    spine: tuple[Item, ...]
    """The files in reading order, those of `linear="no"` included."""
    contents: tuple[Item, ...]
    """Tables of contents: navigation documents and NCX files."""

    def values(self, name: str) -> tuple[str, ...]:
        """Return every text of one metadata element."""
        return tuple(text for key, text in self.metadata if key == name)


class Container:
    """An opened book; use it as a context manager. Members are read within the memory limit."""

    def __init__(self, path: Path, display_name: str, limits: ParserSettings) -> None:
        self._path, self._name = path, display_name
        self._total = limits.memory_mb * _MEGABYTE // 2
        self._budget = limits.memory_mb * _MEGABYTE // 8
        """What one member may hold: a tree takes several times its markup."""

    def __enter__(self) -> Self:
        """Open it.

        Raises:
            CorruptDocumentError: no ZIP directory.
            DocumentTooLargeError: more members or bytes than a book has.
        """
        try:
            self._zip = zipfile.ZipFile(self._path)
        except _ZIP_FAULTS as exc:
            raise self._damaged() from exc
        members = self._zip.infolist()
        total = sum(member.file_size for member in members)
        above = ""
        if len(members) > _MAX_MEMBERS:
            above = f"has {len(members)} files, the limit is {_MAX_MEMBERS}"
        elif total > self._total:
            above = f"unpacks to {total} bytes, the limit is {self._total}"
        elif total > _RATIO_FREE_BYTES and total > self._path.stat().st_size * _MAX_RATIO:
            above = f"unpacks to {total} bytes, the limit is {_MAX_RATIO} times its size"
        if above:
            self._zip.close()
            raise DocumentTooLargeError(f"{self._name}: the book {above}")
        self._names = {name.lower(): name for name in self._zip.namelist()}
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._zip.close()

    def read(self, path: str) -> bytes | None:
        """Return a member's bytes; None where there is none of that name.

        Raises:
            CorruptDocumentError: it is damaged.
            DocumentTooLargeError: it is larger than the memory limit bears.
        """
        name = self._names.get(path.lower())
        if name is None:
            return None
        try:
            with self._zip.open(name) as member:
                content = member.read(self._budget + 1)
        except _ZIP_FAULTS as exc:
            raise self._damaged() from exc
        if len(content) > self._budget:
            raise DocumentTooLargeError(f"{self._name}: a file of the book is above {self._budget // _MEGABYTE} MB")
        return content

    def xml(self, path: str, *, needed: bool = False) -> Element | None:
        """Return a member's XML; None where there is none, or none that can be read and the book goes on without.

        Raises:
            CorruptDocumentError: the member is damaged; or it is needed, and not well-formed or with entities.
            DocumentTooLargeError: it is larger than the memory limit bears.
        """
        content = self.read(path)
        if content is None:
            return None
        try:
            return read_xml(content, self._name)
        except IngestError:
            if needed:
                raise
            return None

    def _damaged(self) -> CorruptDocumentError:
        return CorruptDocumentError(f"{self._name}: the EPUB container is damaged; upload the file again")


def read_book(container: Container, display_name: str) -> Book:
    """Read the package document.

    Raises:
        CorruptDocumentError: there is none, or it names no file to read.
    """
    found = container.xml("META-INF/container.xml", needed=True)
    roots = [element for element in _named(found, "rootfile") if element.get("full-path")]
    package_path = unquote(roots[0].get("full-path", "")) if roots else ""
    package = container.xml(package_path, needed=True) if package_path else None
    if package is None:
        raise CorruptDocumentError(f"{display_name}: the book has no package document")
    folder = posixpath.dirname(package_path)
    items = {
        element.get("id", ""): Item(
            resolve(folder, element.get("href", "")),
            element.get("media-type", ""),
            frozenset(element.get("properties", "").split()),
        )
        for element in _named(package, "item")
    }
    spine = tuple(
        items[element.get("idref", "")] for element in _named(package, "itemref") if element.get("idref", "") in items
    )
    if not spine:
        raise CorruptDocumentError(f"{display_name}: the book's spine names no file")
    contents = (item for item in items.values() if "nav" in item.properties or item.media_type.endswith("dtbncx+xml"))
    return Book(metadata=_metadata(package), spine=spine, contents=tuple(contents))


def encrypted_paths(container: Container) -> frozenset[str]:
    """Return the files under copy protection; hidden fonts do not count."""
    found = container.xml("META-INF/encryption.xml")
    paths: set[str] = set()
    for entry in _named(found, "EncryptedData"):
        algorithms = {element.get("Algorithm", "") for element in _named(entry, "EncryptionMethod")}
        if not algorithms or not algorithms <= FONT_OBFUSCATION:
            paths |= {resolve("", element.get("URI", "")) for element in _named(entry, "CipherReference")}
    return frozenset(paths)


def resolve(folder: str, reference: str) -> str:
    """Return the member that a reference inside the book names, without its fragment."""
    path = posixpath.normpath(posixpath.join(folder, unquote(reference.partition("#")[0])))
    return path.lstrip("/")


def _metadata(package: Element) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for metadata in _named(package, "metadata"):
        for element in metadata.iter():
            text = text_of(element) if "purl.org/dc/" in element.tag else ""
            if text:
                found.append((local_name(element).lower(), text))
    return tuple(found)


def _named(root: Element | None, name: str) -> list[Element]:
    """Return the elements of a local name, whatever their namespace."""
    return [] if root is None else [element for element in root.iter() if local_name(element) == name]
