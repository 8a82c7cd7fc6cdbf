"""HTML pages: main content, headings, lists, tables with spans expanded, through selectolax's lexbor."""

from __future__ import annotations

import re
from pathlib import Path

from ingest.errors import NoTextError
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.charset import decode_declared
from ingest.parsers.text.decoding import DecodedText
from ingest.parsers.text.joining import collapse
from ingest.parsers.text.text import damage_notes
from ingest.parsers.web.html_builder import blocks_under
from ingest.parsers.web.html_dom import read_tree
from ingest.parsers.web.html_main import main_content
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.I)
_XML_CHARSET = re.compile(rb"^\s*<\?xml[^>]+encoding\s*=\s*[\"']([A-Za-z0-9_:.-]+)", re.I)


def parse_html(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an HTML file.

    Raises:
        NoTextError: nothing readable outside scripts and navigation.
        CorruptDocumentError: no tree could be built.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode_html(path.read_bytes(), display_name)
    tree = read_tree(decoded.text, display_name)
    main = main_content(tree)
    blocks = blocks_under(main.root) if main.root is not None else ()
    if not blocks:
        frames = tree.css_first("frameset, frame, iframe") is not None
        where = "it is made of frames; upload the pages inside" if frames else "outside scripts and navigation"
        raise NoTextError(
            f"{display_name}: the page has no text: {where}"
            if frames
            else f"{display_name}: the page has no text {where}"
        )
    title_node = tree.css_first("title")
    title = collapse(title_node.text()) if title_node is not None else ""
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="html",
        blocks=blocks,
        title=title or heading,
        encoding=decoded.encoding,
        notes=(*damage_notes(decoded), *main.notes),
    )


def html_blocks(markup: str, display_name: str = "the text") -> tuple[Block, ...]:
    """Turn an HTML fragment, as Markdown files and messages contain them, into blocks.

    Raises:
        CorruptDocumentError: no tree could be built.
    """
    tree = read_tree(markup, display_name)
    root = tree.body or tree.root
    return blocks_under(root) if root is not None else ()


def decode_html(raw: bytes, display_name: str) -> DecodedText:
    """Decode a page as its byte-order mark, its XML prolog or its `meta` element says, where that fits."""
    declared = _XML_CHARSET.search(raw[:1024]) or _META_CHARSET.search(raw[:8192])
    name = declared.group(1).decode("ascii") if declared is not None else None
    if name is not None and name.lower().startswith(("utf-16", "utf-32", "ucs-2", "unicode")):
        name = None  # whoever could read the declaration did not read UTF-16
    return decode_declared(raw, name, display_name)
