"""An OpenDocument container: checked, its parts as XML roots, its styles' inheritance, its title.

OpenDocument 1.3, parts 2 (packages) and 3 (schema).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import CorruptDocumentError, EncryptedDocumentError
from ingest.parsers.office.docx_package import check_package
from ingest.parsers.office.drawing_text import Element
from ingest.parsers.office.office_parts import xml_root
from ingest.parsers.office.office_titles import own_title
from ingest.settings import ParserSettings

_NAMESPACES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "presentation": "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0",
    "chart": "urn:oasis:names:tc:opendocument:xmlns:chart:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
    "math": "http://www.w3.org/1998/Math/MathML",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
_MANIFEST = "META-INF/manifest.xml"
_MAX_CHAIN = 20


def odf(name: str) -> str:
    """Return the full name of `prefix:name` with the usual prefixes."""
    prefix, _, local = name.partition(":")
    return f"{{{_NAMESPACES[prefix]}}}{local}"


class OdfPackage:
    """An open container. `content` and `styles` are roots; objects inside are read when asked for."""

    def __init__(self, path: Path, display_name: str, limits: ParserSettings, kind: str) -> None:
        """Check the container and read its parts; `kind` is what messages call it.

        Raises:
            CorruptDocumentError: a damaged container, or one without readable content.
            DocumentTooLargeError: it unpacks to more than a document may.
            EncryptedDocumentError: its content is encrypted.
        """
        check_package(path, display_name, limits, kind)
        self._path = path
        if b"encryption-data" in self._member(_MANIFEST):
            raise EncryptedDocumentError(f"{display_name}: this {kind} is encrypted; save it without a password")
        content = xml_root(self._member("content.xml"))
        if content is None:
            raise CorruptDocumentError(f"{display_name}: not a readable {kind}; save it again")
        self.content: Element = content
        self.styles: Element | None = xml_root(self._member("styles.xml"))

    def title(self) -> str:
        """Return the title in the file's properties; empty where it has none of its own."""
        meta = xml_root(self._member("meta.xml"))
        return "" if meta is None else own_title(next((one.text for one in meta.iter(odf("dc:title"))), ""))

    def object(self, reference: str) -> Element | None:
        """Return the root of an object inside (`./Object 1`): a chart, a formula; None where it is not readable."""
        return xml_root(self._member(f"{reference.removeprefix('./').rstrip('/')}/content.xml"))

    def _member(self, name: str) -> bytes:
        try:
            with zipfile.ZipFile(self._path) as package:
                return package.read(name)
        except (KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, EOFError):
            return b""


class OdfStyles:
    """Styles by family and name; chains that loop end after twenty steps."""

    def __init__(self, *roots: Element | None) -> None:
        """Read the styles of both parts, automatic ones included."""
        self._styles: dict[tuple[str, str], Element] = {}
        self._lists: dict[str, Element] = {}
        self.outline: Element | None = None
        """The numbering of headings."""
        for root in roots:
            for style in () if root is None else root.iter(odf("style:style")):
                key = str(style.get(odf("style:family"))), str(style.get(odf("style:name")))
                self._styles[key] = style
            for style in () if root is None else root.iter(odf("text:list-style")):
                self._lists[str(style.get(odf("style:name")))] = style
            outline = None if root is None else next(root.iter(odf("text:outline-style")), None)
            self.outline = self.outline if outline is None else outline

    def list_style(self, name: str | None) -> Element | None:
        """Return a list style by name."""
        return self._lists.get(name or "")

    def list_of(self, paragraph: Element) -> str | None:
        """Return the list style a paragraph's style names."""
        names = (style.get(odf("style:list-style-name")) for style in self.chain(paragraph, "paragraph"))
        return next((name for name in names if name), None)

    def names(self, paragraph: Element) -> frozenset[str]:
        """Return the names of a paragraph's style and of those it is derived from, as authors see them."""
        own = str(paragraph.get(odf("text:style-name")) or "")
        chain = self.chain(paragraph, "paragraph")
        shown = (str(style.get(odf("style:display-name")) or style.get(odf("style:name"))) for style in chain)
        parents = (str(style.get(odf("style:parent-style-name")) or "") for style in chain)
        return frozenset(name.replace("_20_", " ") for name in (own, *shown, *parents) if name)

    def is_bold(self, element: Element, family: str) -> bool:
        """Tell whether the style of a paragraph or span is bold."""
        for style in self.chain(element, family):
            weight = next((one.get(odf("fo:font-weight")) for one in style.iter(odf("style:text-properties"))), None)
            if weight is not None:
                return weight in ("bold", "600", "700", "800", "900")
        return False

    def chain(self, element: Element, family: str) -> list[Element]:
        """Return an element's style and those it is derived from."""
        attribute = "draw:style-name" if family == "drawing-page" else "text:style-name"
        name = str(element.get(odf(attribute)) or "")
        chain: list[Element] = []
        while (family, name) in self._styles and len(chain) < _MAX_CHAIN:
            chain.append(self._styles[family, name])
            name = str(chain[-1].get(odf("style:parent-style-name")) or "")
        return chain


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """Yield the children with these names."""
    if element is not None:
        yield from element.iterchildren(*map(odf, names))


def whole(value: object, default: int, most: int) -> int:
    """Return an attribute as a number from 0 to `most`; anything else counts as `default`."""
    text = str(value)
    return min(int(text), most) if text.isdigit() and len(text) < 10 else default
