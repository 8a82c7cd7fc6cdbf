"""reStructuredText through docutils: its document tree becomes blocks; nothing is included, nothing raw is run."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from docutils import nodes
from docutils.core import publish_doctree  # pyright: ignore[reportUnknownVariableType]
from docutils.parsers.rst import Parser
from docutils.utils import SystemMessage

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.grid import Cell, table_block
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.decoding import decode
from ingest.parsers.text.joining import collapse, join_lines
from ingest.parsers.text.lines import blocks_of_text
from ingest.parsers.text.rst_inline import BoundedInliner
from ingest.parsers.text.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 1,
    "halt_level": 5,
    "line_length_limit": 10_000_000,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "smart_quotes": False,
    "pep_references": False,
    "rfc_references": False,
}
_ROLE = re.compile(r":[A-Za-z][\w:.+-]*:`([^`]*)`")
_OPTION = re.compile(r"\s*:[\w-]+:")
_SKIPPED = (
    nodes.comment,
    nodes.substitution_definition,
    nodes.target,
    nodes.raw,
    nodes.pending,
    nodes.transition,
    nodes.meta,
)


def parse_rst(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse reStructuredText. Bodies of directives that docutils does not know are kept as text.

    Raises:
        NoTextError: nothing but markup.
        CorruptDocumentError: docutils gives up on it, or it is nested too deeply.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    try:
        tree = cast(
            "nodes.document",
            publish_doctree(
                decoded.text,
                parser=Parser(inliner=BoundedInliner()),
                settings_overrides=_SETTINGS | {"warning_stream": io.StringIO()},
            ),
        )
        reader = _Reader()
        blocks = tuple(reader.read(tree))
    except RecursionError as exc:
        raise CorruptDocumentError(f"{display_name}: the reStructuredText is nested too deeply") from exc
    except (SystemMessage, AssertionError, AttributeError, IndexError, KeyError, ValueError) as exc:
        raise CorruptDocumentError(f"{display_name}: the reStructuredText cannot be read") from exc
    if not blocks:
        raise NoTextError(f"{display_name}: the file has no text")
    return ParsedDocument(
        format="rst",
        blocks=blocks,
        title=next((block.text for block in blocks if block.kind == "heading"), ""),
        encoding=decoded.encoding,
        notes=(*damage_notes(decoded), *reader.notes),
    )


class _Reader:
    """Walks the tree in reading order."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def read(self, node: nodes.Element, level: int = 0) -> Iterator[Block]:
        for child in node.children:
            if isinstance(child, nodes.Text):
                yield from _paragraph(child.astext())
            elif isinstance(child, nodes.Element) and not isinstance(child, _SKIPPED):
                yield from self._element(child, level)

    def _element(self, node: nodes.Element, level: int) -> Iterator[Block]:
        match node:
            case nodes.section():
                yield from self.read(node, level + 1)
            case nodes.title():
                yield from _heading(node, level)
            case nodes.system_message():
                yield from self._message(node)
            case nodes.bullet_list() | nodes.enumerated_list():
                yield from _list(node)
            case nodes.table():
                yield from _table(node)
            case nodes.literal_block() | nodes.doctest_block() | nodes.math_block():
                yield from _code(node)
            case nodes.line_block():
                yield from _lines(node)
            case nodes.field() | nodes.definition_list_item() | nodes.option_list_item():
                yield from _pair(node)
            case nodes.footnote() | nodes.citation():
                yield from _note(node)
            case nodes.caption():
                yield from _caption(node)
            case nodes.image():
                yield from _paragraph(str(node.attributes.get("alt", "")))
            case _ if any(isinstance(child, nodes.Inline | nodes.Text) for child in node.children):
                yield from _paragraph(_text(node))
            case _:
                yield from self.read(node, level)

    def _message(self, node: nodes.system_message) -> Iterator[Block]:
        """Docutils quotes what it could not use: of an unknown directive the body, of a disabled one nothing."""
        quoted = next(iter(node.findall(nodes.literal_block)), None)
        said = _text(node.children[0]) if node.children else ""
        if quoted is None or not said.startswith("Unknown directive"):
            return
        name = said.split('"')[1] if '"' in said else "?"
        self.notes.append(f"the directive {name!r} is not known; its text was kept")
        lines = quoted.astext().split("\n")
        first = lines[0].partition("::")[2].strip()
        body = [line.strip() for line in lines[1:] if not _OPTION.match(line)]
        yield from (_plain(block) for block in blocks_of_text(_ROLE.sub(r"\1", "\n".join([first, "", *body]))))


def _list(node: nodes.Element) -> Iterator[Block]:
    items = _items(node, 0)
    if items:
        yield Block(kind="list", text="\n".join(items))


def _table(node: nodes.table) -> Iterator[Block]:
    for title in node.findall(nodes.title):
        yield from _caption(title)
    rows: list[list[Cell]] = []
    headers = 0
    for row in node.findall(nodes.row):
        is_header = isinstance(row.parent, nodes.thead)
        headers += is_header
        entries = [entry for entry in row.children if isinstance(entry, nodes.entry)]
        rows.append([
            Cell(_text(entry), _more(entry, "morecols") + 1, _more(entry, "morerows") + 1, is_header)
            for entry in entries
        ])
    block = table_block(rows, headers or None)
    if block is not None:
        yield block


def _more(entry: nodes.entry, name: str) -> int:
    return int(str(entry.attributes.get(name, 0)))


def _text(node: nodes.Node) -> str:
    return collapse(_ROLE.sub(r"\1", node.astext().replace("\n\n", " ")))


def _paragraph(text: str) -> Iterator[Block]:
    joined = join_lines(_ROLE.sub(r"\1", text).split("\n"))
    if joined:
        yield Block(kind="paragraph", text=joined)


def _heading(node: nodes.Element, level: int) -> Iterator[Block]:
    text = _text(node)
    if text:
        yield Block(kind="heading", text=text, level=min(max(level, 1), 6))


def _caption(node: nodes.Element) -> Iterator[Block]:
    text = _text(node)
    if text:
        yield Block(kind="caption", text=text)


def _plain(block: Block) -> Block:
    return block.model_copy(update={"kind": "paragraph", "level": 0}) if block.kind == "heading" else block


def _code(node: nodes.Element) -> Iterator[Block]:
    text = node.astext().strip("\n").rstrip()
    if text.strip():
        yield Block(kind="code", text=text)


def _lines(node: nodes.Element) -> Iterator[Block]:
    lines = [collapse(line.astext()) for line in node.findall(nodes.line)]
    if any(lines):
        yield Block(kind="paragraph", text="\n".join(filter(None, lines)))


def _pair(node: nodes.Element) -> Iterator[Block]:
    parts = [_text(child) for child in node.children]
    text = ": ".join(filter(None, [" ".join(parts[:-1]), parts[-1] if parts else ""]))
    if text:
        yield Block(kind="paragraph", text=text)


def _note(node: nodes.Element) -> Iterator[Block]:
    label = next((child.astext() for child in node.children if isinstance(child, nodes.label)), "")
    body = " ".join(_text(child) for child in node.children if not isinstance(child, nodes.label))
    if body.strip():
        yield Block(kind="paragraph", text=f"[{label}] {body}" if label else body)


def _items(node: nodes.Element, depth: int) -> list[str]:
    lines: list[str] = []
    number = int(str(node.attributes.get("start", 1)))
    for item in node.children:
        marker = f"{number}. " if isinstance(node, nodes.enumerated_list) else "- "
        number += 1
        for child in item.children if isinstance(item, nodes.Element) else ():
            if isinstance(child, nodes.bullet_list | nodes.enumerated_list):
                lines += _items(child, depth + 1)
            elif not isinstance(child, _SKIPPED) and (text := _text(child)):
                lines.append("  " * depth + (marker or "  ") + text)
                marker = ""
    return lines
