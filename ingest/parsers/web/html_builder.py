"""Folds the walk over an HTML tree into blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from ingest.parsers.grid import table_block
from ingest.parsers.text.joining import collapse
from ingest.parsers.web.html_dom import BLOCKS, HEADINGS, inline_mark, walk
from ingest.parsers.web.html_tables import caption_of, table_rows
from ingest.types import Block, BlockKind

_LISTS = frozenset({"ul", "ol", "menu", "dl"})
_MAX_INDENT = 9
_MAX_LAYOUT = 20


def blocks_under(root: LexborNode) -> tuple[Block, ...]:
    """Return the blocks of the readable part of a tree."""
    builder = _Builder()
    builder.build(root)
    return tuple(builder.blocks)


@dataclass
class _Builder:
    blocks: list[Block] = field(default_factory=list[Block])
    _words: list[str] = field(default_factory=list[str])
    _items: list[str] = field(default_factory=list[str])
    _counters: list[int | None] = field(default_factory=list[int | None])
    """One per open list: the last number of an ordered list, None for another one."""
    _marker: str = ""
    _pre_depth: int = 0
    _layout_depth: int = 0
    """Layout tables that are open; looking through nested ones costs a walk for each level."""

    def build(self, root: LexborNode) -> None:
        table: LexborNode | None = None
        for event, node in walk(root):
            if table is not None:
                if event == "leave" and node.mem_id == table.mem_id:
                    table = None
            elif event == "text":
                text = node.text_content or ""
                self._words.append(text if self._pre_depth else text.replace("\n", " "))
            elif event == "leave":
                self._leave(node.tag or "")
            elif node.tag == "table" and self._add_table(node):
                table = node
            else:
                self._enter(node, node.tag or "")
        self._flush("paragraph")
        self._flush_list()

    def _enter(self, node: LexborNode, tag: str) -> None:
        if tag not in BLOCKS:
            self._words.append(inline_mark(node, self._words[-1] if self._words else ""))
            return
        if self._pre_depth:
            return
        self._flush("paragraph")
        if tag in _LISTS:
            self._counters.append(_first_number(node) - 1 if tag == "ol" else None)
        elif tag == "li":
            self._open_item(node)
        elif tag == "dt":
            self._marker = "- "
        elif tag == "dd":
            self._marker = ""
        elif tag == "pre":
            self._pre_depth += 1

    def _leave(self, tag: str) -> None:
        if tag == "table":
            self._layout_depth -= 1
        if tag == "pre":
            self._flush("code")
            self._pre_depth = 0
        elif self._pre_depth:
            if tag in ("div", "p", "li", "tr"):
                self._words.append("\n")
        elif tag in HEADINGS:
            self._flush("heading", HEADINGS[tag])
        elif tag in ("figcaption", "caption"):
            self._flush("caption")
        elif tag in BLOCKS:
            self._flush("paragraph")
            if tag in _LISTS and self._counters:
                self._counters.pop()
                if not self._counters:
                    self._flush_list()

    def _open_item(self, node: LexborNode) -> None:
        count = self._counters[-1] if self._counters else None
        if count is None:
            self._marker = "- "
            return
        value = (node.attributes.get("value") or "").strip()
        count = int(value) if re.fullmatch(r"-?\d{1,6}", value) else count + 1
        self._counters[-1] = count
        self._marker = f"{count}. "

    def _flush(self, kind: BlockKind, level: int = 0) -> None:
        raw = "".join(self._words)
        self._words.clear()
        if kind == "code" or self._pre_depth:
            self._add_code(raw)
            return
        text = "\n".join(filter(None, (collapse(line) for line in raw.split("\n"))))
        if not text:
            return
        if (self._counters or self._marker) and kind in ("paragraph", "heading"):
            self._add_item(text)
            return
        self._flush_list()
        text = text.replace("\n", " ") if kind == "heading" else text
        self.blocks.append(Block(kind=kind, text=text, level=level))

    def _add_code(self, raw: str) -> None:
        text = raw.strip("\n").rstrip()
        if text.strip():
            self._flush_list()
            self.blocks.append(Block(kind="code", text=text))

    def _add_item(self, text: str) -> None:
        depth = max(0, min(len(self._counters) - 1, _MAX_INDENT))
        self._items.append("  " * depth + (self._marker or "  ") + text.replace("\n", " "))
        self._marker = ""
        if not self._counters:
            self._flush_list()

    def _flush_list(self) -> None:
        if self._items:
            self.blocks.append(Block(kind="list", text="\n".join(self._items)))
            self._items.clear()

    def _add_table(self, node: LexborNode) -> bool:
        """Read a data table whole; False for one that only lays out the page, whose content is then walked."""
        rows = None if self._pre_depth or self._layout_depth >= _MAX_LAYOUT else table_rows(node)
        if rows is None:
            self._layout_depth += 1
            return False
        self._flush("paragraph")
        self._flush_list()
        caption = caption_of(node)
        if caption:
            self.blocks.append(Block(kind="caption", text=caption))
        block = table_block(rows)
        if block is not None:
            self.blocks.append(block)
        return True


def _first_number(node: LexborNode) -> int:
    start = (node.attributes.get("start") or "1").strip()
    return int(start) if re.fullmatch(r"-?\d{1,6}", start) else 1
