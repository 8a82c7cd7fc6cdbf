"""HTML: main content, headings, lists, tables with spans expanded, through selectolax's lexbor.

The tree is walked with a stack, never by recursion: nesting depth is the author's choice, not ours.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.decoding import DecodedText, decode
from ingest.parsers.grid import Cell, table_block
from ingest.parsers.joining import collapse
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, BlockKind, ParsedDocument

# fmt: off
_SKIPPED = frozenset({
    "script", "style", "nav", "noscript", "template", "svg", "head", "title", "iframe", "object", "embed", "canvas",
    "button", "select", "textarea", "input", "dialog",
})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html",
    "legend", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
    "tr", "ul",
})
# fmt: on
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TAGS = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_MAY_STAY_OPEN = frozenset({
    "p",
    "li",
    "dt",
    "dd",
    "td",
    "th",
    "tr",
    "option",
    "br",
    "img",
    "hr",
    "input",
    "meta",
    "link",
})
_MAX_DEPTH = 5000
_CELLS = frozenset({"td", "th"})
_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.I)
_XML_CHARSET = re.compile(rb"^\s*<\?xml[^>]+encoding\s*=\s*[\"']([A-Za-z0-9_:.-]+)", re.I)
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso8859-1": "cp1252",
    "ascii": "utf-8",
    "shift_jis": "cp932",
}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)

_Event = tuple[Literal["enter", "leave", "text"], LexborNode]


def parse_html(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse an HTML file.

    Raises:
        NoTextError: nothing readable outside scripts and navigation.
        CorruptDocumentError: no tree could be built.
        UnsupportedDocumentError: binary content.
    """
    decoded = _decode_html(path.read_bytes(), display_name)
    _refuse_deep_nesting(decoded.text, display_name)
    try:
        tree = LexborHTMLParser(decoded.text)
        body, title_node = tree.body or tree.root, tree.css_first("title")
    except (ValueError, RuntimeError) as exc:
        raise CorruptDocumentError(f"{display_name}: the HTML cannot be parsed") from exc
    builder = _Builder()
    main = _main_content(tree, body)
    if main is not None:
        builder.build(main)
    if not builder.blocks:
        raise NoTextError(f"{display_name}: the page has no text outside scripts and navigation")
    title = collapse(title_node.text()) if title_node is not None else ""
    heading = next((block.text for block in builder.blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="html",
        blocks=tuple(builder.blocks),
        title=title or heading,
        encoding=decoded.encoding,
        notes=(*damage_notes(decoded), *(("only the main element was read",) if main is not body else ())),
    )


def html_blocks(markup: str) -> tuple[Block, ...]:
    """Turn an HTML fragment, as Markdown files contain them, into blocks."""
    tree = LexborHTMLParser(markup)
    root = tree.body or tree.root
    builder = _Builder()
    if root is not None:
        builder.build(root)
    return tuple(builder.blocks)


def _refuse_deep_nesting(markup: str, display_name: str) -> None:
    """Lexbor's time grows with the square of the nesting depth: 100,000 open elements took it six minutes."""
    depth: Counter[str] = Counter()
    for closing, name in _TAGS.findall(markup):
        tag = name.lower()
        if tag in _MAY_STAY_OPEN:
            continue
        depth[tag] += -1 if closing else 1
        if depth[tag] > _MAX_DEPTH:
            raise CorruptDocumentError(f"{display_name}: more than {_MAX_DEPTH} <{tag}> elements are left open")


def _decode_html(raw: bytes, display_name: str) -> DecodedText:
    declared = _XML_CHARSET.search(raw[:1024]) or _META_CHARSET.search(raw[:8192])
    has_mark = raw.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if declared is not None and not has_mark:
        try:
            name = codecs.lookup(declared.group(1).decode("ascii")).name
            name = _WIDER.get(name, name)
            if not name.startswith(("utf-16", "utf-32")):
                return DecodedText(raw.decode(name).replace("\x00", ""), name)
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(raw, display_name)


def _main_content(tree: LexborHTMLParser, body: LexborNode | None) -> LexborNode | None:
    """Prefer `<main>` where it holds most of the page's text; a page without one is read whole."""
    if body is None:
        return None
    candidates = tree.css("main, [role=main]")
    if len(candidates) != 1:
        return body
    inside, whole = (sum(len(text) for text in _texts(node)) for node in (candidates[0], body))
    return candidates[0] if inside * 2 >= whole else body


def _texts(root: LexborNode) -> Iterator[str]:
    for event, node in _walk(root):
        if event == "text":
            yield node.text_content or ""


def _walk(root: LexborNode) -> Iterator[_Event]:
    stack: list[_Event] = [("enter", root)]
    while stack:
        event, node = stack.pop()
        if event == "leave":
            yield event, node
        elif node.is_text_node:
            yield "text", node
        elif node.is_element_node and not _is_skipped(node):
            yield "enter", node
            stack.append(("leave", node))
            children: list[_Event] = [("enter", child) for child in node.iter(include_text=True)]
            stack.extend(reversed(children))


def _is_skipped(node: LexborNode) -> bool:
    if node.tag in _SKIPPED:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    return (
        "hidden" in attributes
        or attributes.get("role") == "navigation"
        or (attributes.get("style") is not None and _HIDDEN.search(attributes["style"] or "") is not None)
    )


@dataclass
class _Builder:
    """Folds the walk's events into blocks."""

    blocks: list[Block] = field(default_factory=list[Block])
    _words: list[str] = field(default_factory=list[str])
    _items: list[str] = field(default_factory=list[str])
    _counters: list[int | None] = field(default_factory=list[int | None])
    """One per open list: the last number of an ordered list, None for an unordered one."""
    _marker: str = ""
    _pre_depth: int = 0

    def build(self, root: LexborNode) -> None:
        table: LexborNode | None = None
        for event, node in _walk(root):
            if table is not None:
                if event == "leave" and node.mem_id == table.mem_id:
                    table = None
                continue
            if event == "text":
                text = node.text_content or ""
                self._words.append(text if self._pre_depth else text.replace("\n", " "))
            elif event == "enter":
                if node.tag == "table" and self._add_table(node):
                    table = node
                else:
                    self._enter(node)
            else:
                self._leave(node)
        self._flush("paragraph")
        self._flush_list()

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "br":
            self._words.append("\n")
        elif tag == "img":
            self._words.append(f" {node.attributes.get('alt') or ''} ")
        elif tag in _BLOCKS:
            self._flush("paragraph")
            if tag in ("ul", "ol"):
                self._counters.append(_first_number(node) - 1 if tag == "ol" else None)
            elif tag == "li":
                self._open_item()
            elif tag == "pre":
                self._pre_depth += 1
        elif tag == "td" or tag == "th":
            self._words.append(" ")

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._flush("heading", _HEADINGS[tag])
        elif tag in ("figcaption", "caption"):
            self._flush("caption")
        elif tag == "pre":
            self._flush("code")
            self._pre_depth = max(0, self._pre_depth - 1)
        elif tag in _BLOCKS:
            self._flush("paragraph")
            if tag in ("ul", "ol") and self._counters:
                self._counters.pop()
                if not self._counters:
                    self._flush_list()

    def _open_item(self) -> None:
        if not self._counters:
            self._marker = "- "
            return
        count = self._counters[-1]
        if count is None:
            self._marker = "- "
        else:
            self._counters[-1] = count + 1
            self._marker = f"{count + 1}. "

    def _flush(self, kind: BlockKind, level: int = 0) -> None:
        raw = "".join(self._words)
        self._words.clear()
        if kind == "code" or self._pre_depth:
            text = raw.strip("\n").rstrip()
            if text.strip():
                self._flush_list()
                self.blocks.append(Block(kind="code", text=text))
            return
        text = "\n".join(filter(None, (collapse(line) for line in raw.split("\n"))))
        if not text:
            return
        if kind == "paragraph" and (self._counters or self._marker):
            depth = max(0, min(len(self._counters), 10) - 1)
            self._items.append("  " * depth + (self._marker or "  ") + text.replace("\n", " "))
            self._marker = ""
            if not self._counters:
                self._flush_list()
            return
        self._flush_list()
        text = text.replace("\n", " ") if kind == "heading" else text
        self.blocks.append(Block(kind=kind, text=text, level=level))

    def _flush_list(self) -> None:
        if self._items:
            self.blocks.append(Block(kind="list", text="\n".join(self._items)))
            self._items.clear()

    def _add_table(self, node: LexborNode) -> bool:
        """Read a data table whole; False for a layout table, whose content is read as if it were not there."""
        rows = _table_rows(node)
        if rows is None:
            return False
        self._flush("paragraph")
        self._flush_list()
        caption = next((child for child in node.iter() if child.tag == "caption"), None)
        caption_text = collapse("".join(_texts(caption))) if caption is not None else ""
        if caption_text:
            self.blocks.append(Block(kind="caption", text=caption_text))
        block = table_block(rows)
        if block is not None:
            self.blocks.append(block)
        return True


def _first_number(node: LexborNode) -> int:
    start = (node.attributes.get("start") or "1").strip()
    return int(start) if re.fullmatch(r"-?\d{1,6}", start) else 1


def _span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "1").strip()
    return int(value) if re.fullmatch(r"\d{1,5}", value) else 1


def _table_rows(table: LexborNode) -> list[list[Cell]] | None:
    """Return the cells by row, or None where the table only lays out a page: nested tables, headings, one column."""
    rows: list[list[Cell]] = []
    words: list[str] | None = None
    in_head = False
    for event, node in _walk(table):
        tag = node.tag
        if event == "text":
            if words is not None:
                words.append(node.text_content or "")
        elif event == "enter":
            if (tag == "table" and node.mem_id != table.mem_id) or tag in _HEADINGS or tag == "pre":
                return None
            in_head = in_head or tag == "thead"
            if tag == "tr":
                rows.append([])
            elif tag in _CELLS:
                words = []
            elif words is not None:
                words.append(
                    f" {node.attributes.get('alt') or ''} "
                    if tag == "img"
                    else " "
                    if tag in _BLOCKS or tag == "br"
                    else ""
                )
        elif tag == "thead":
            in_head = False
        elif tag in _CELLS and words is not None:
            if not rows:
                rows.append([])
            height = _span(node, "rowspan") or len(rows) + 65534
            rows[-1].append(Cell("".join(words), max(1, _span(node, "colspan")), height, header=in_head or tag == "th"))
            words = None
    width = max((sum(cell.columns for cell in row) for row in rows), default=0)
    return rows if width > 1 else None
