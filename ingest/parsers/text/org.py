"""Org documents through orgparse: the outline as headings, bodies as lists, tables, code and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import orgparse
from orgparse.node import OrgBaseNode, OrgNode

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.grid import Cell, table_block
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.decoding import decode
from ingest.parsers.text.lines import blocks_of_text
from ingest.parsers.text.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_BEGIN = re.compile(r"\s*#\+begin_(\w+)", re.I)
_STARS = re.compile(r"\*+\s")
_END = re.compile(r"\s*#\+end_", re.I)
_KEYWORD = re.compile(r"\s*#\+(\w+):\s*(.*)$")
_COMMENT = re.compile(r"\s*#(?:\s|$)")
_DRAWER = re.compile(r"\s*:[A-Za-z_-]+:\s*$")
_RULE = re.compile(r"\|[-+|: ]+")
_LINK = re.compile(r"\[\[(?:[^\[\]]{1,2000}\]\[)?([^\[\]]{1,2000})\]\]")
_EMPHASIS = re.compile(r"(?<![^\s('\"{\-—])([*/_=~+])(?=\S)([^\n]{0,300}?)(?<=\S)\1(?=$|[\s.,;:!?'\")}\-—\]])")
_LONGEST_HEADING = 1_000
_MOST_COLONS = 50
"""What a heading may have; orgparse takes time quadratic in its characters, and in what may be tags."""
_CODE_BLOCKS = frozenset({"src", "example", "export", "verse"})
_CAPTIONS = frozenset({"caption", "subtitle", "author", "description"})


def parse_org(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an Org file. Included files are not read; property drawers, planning lines and comments are left out.

    Raises:
        NoTextError: nothing but markup.
        CorruptDocumentError: orgparse gives up on it.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    try:
        root = orgparse.loads(_bounded(decoded.text))
        blocks = tuple(block for node in root for block in _node(node))
        title = (root.get_file_property("TITLE") or "").strip()
    except (RecursionError, ValueError, AttributeError, IndexError, KeyError, RuntimeError, TypeError) as exc:
        raise CorruptDocumentError(f"{display_name}: the Org outline cannot be read") from exc
    if not blocks:
        raise NoTextError(f"{display_name}: the file has no text")
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="org",
        blocks=blocks,
        title=title or heading,
        encoding=decoded.encoding,
        notes=damage_notes(decoded),
    )


def _bounded(text: str) -> str:
    """Return the text with spaces in headings and properties single, and headings that are none as paragraphs."""
    return "\n".join(map(_bounded_line, text.split("\n")))


def _bounded_line(line: str) -> str:
    if _STARS.match(line):
        single = " ".join(line.split())
        is_heading = len(single) <= _LONGEST_HEADING and single.count(":") <= _MOST_COLONS
        return single if is_heading else f" {line}"
    is_property = line[:100].lstrip().startswith(":") and len(line) > _LONGEST_HEADING
    return " ".join(line.split()) if is_property else line


def _node(node: OrgBaseNode) -> Iterator[Block]:
    if isinstance(node, OrgNode):
        heading = " ".join(_inline(node.get_heading(format="raw")).split())
        if heading:
            yield Block(kind="heading", text=heading, level=min(node.level or 1, 6))
    yield from _body(node.get_body(format="raw").split("\n"))


def _body(lines: list[str]) -> Iterator[Block]:
    pending: list[str] = []
    last_ends = {line.strip().lower(): at for at, line in enumerate(lines) if _END.match(line)}
    at = 0
    while at < len(lines):
        line = lines[at]
        begin = _BEGIN.match(line)
        stop = _end_of(lines, at, begin.group(1), last_ends) if begin else None
        if begin and stop is not None:
            inner = lines[at + 1 : stop]
            if begin.group(1).lower() in _CODE_BLOCKS:
                yield from _text(pending)
                pending = []
                yield from _code(inner)
            elif begin.group(1).lower() != "comment":
                pending += ["", *inner, ""]
            at = stop + 1
            continue
        if line.lstrip().startswith("|"):
            yield from _text(pending)
            pending = []
            stop = next((i for i in range(at, len(lines)) if not lines[i].lstrip().startswith("|")), len(lines))
            yield from _table(lines[at:stop])
            at = stop
            continue
        keyword = _KEYWORD.match(line)
        if keyword and keyword.group(1).lower() in _CAPTIONS and keyword.group(2):
            yield from _text(pending)
            pending = []
            yield Block(kind="caption" if keyword.group(1).lower() == "caption" else "paragraph", text=keyword.group(2))
        elif not keyword and not _COMMENT.match(line) and not _DRAWER.match(line):
            pending.append(line)
        at += 1
    yield from _text(pending)


def _end_of(lines: list[str], at: int, name: str, last_ends: Mapping[str, int]) -> int | None:
    end = f"#+end_{name.lower()}"
    if last_ends.get(end, -1) <= at:
        return None
    return next((i for i in range(at + 1, len(lines)) if lines[i].strip().lower() == end), None)


def _inline(text: str) -> str:
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))


def _text(lines: list[str]) -> Iterator[Block]:
    for block in blocks_of_text(_inline("\n".join(lines))):
        yield block.model_copy(update={"kind": "paragraph", "level": 0}) if block.kind == "heading" else block


def _code(lines: list[str]) -> Iterator[Block]:
    text = "\n".join(line[1:] if line.startswith((",*", ",#+")) else line for line in lines).strip("\n").rstrip()
    if text.strip():
        yield Block(kind="code", text=text)


def _table(lines: list[str]) -> Iterator[Block]:
    rows: list[list[Cell]] = []
    headers = 0
    for line in lines:
        if _RULE.fullmatch(line.strip()):
            headers = headers or len(rows)
            continue
        cells = line.strip().strip("|").split("|")
        rows.append([Cell(_inline(cell.strip()), header=False) for cell in cells])
    block = table_block(rows, headers if 0 < headers < len(rows) else 0)
    if block is not None:
        yield block
