"""Markdown through markdown-it-py: headings, lists, tables, code, front matter title, embedded HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.grid import Cell, table_block
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.decoding import decode
from ingest.parsers.text.joining import collapse, join_lines
from ingest.parsers.text.markdown_depth import depth_note, keep_what_is_too_deep
from ingest.parsers.text.text import damage_notes
from ingest.parsers.web.html import html_blocks
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*$", re.M | re.I)
_TABLE_TAG = re.compile(r"</?table\b", re.I)
_BRACKET = re.compile(r"[\[\]]")
_MAX_BRACKETS = 20
_PLAIN = "plain_paragraphs"
_INLINE_TAG = re.compile(r"<[^>]*>")
_BREAK_TAG = re.compile(r"<br\s*/?>", re.I)


def parse_markdown(
    path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET
) -> ParsedDocument:
    """Parse a Markdown file.

    Raises:
        NoTextError: no text besides markup.
        CorruptDocumentError: nested deeper than the parser's recursion bears.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    title, text, notes = _split_front_matter(decoded.text)
    try:
        blocks, read_notes = _read(text)
    except RecursionError as exc:
        raise CorruptDocumentError(f"{display_name}: the Markdown is nested too deeply") from exc
    if not blocks:
        raise NoTextError(f"{display_name}: the file has no text")
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="markdown",
        blocks=blocks,
        title=title or heading,
        encoding=decoded.encoding,
        notes=(*damage_notes(decoded), *notes, *read_notes),
    )


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Turn Markdown into blocks. Link targets are dropped, link texts and image descriptions stay."""
    return _read(text)[0]


def _read(text: str) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    """Return the blocks, and notes on what was read as plain text for the parser's sake."""
    parser = keep_what_is_too_deep(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]))
    parser.core.ruler.at("inline", _parse_inline)
    environment: dict[str, int] = {}
    blocks = _Reader(parser.parse(text, environment), text.split("\n")).read()
    return tuple(blocks), (*_plain_note(environment.get(_PLAIN, 0)), *depth_note(environment))


def _parse_inline(state: StateCore) -> None:
    """Parse inline markup; a paragraph with brackets nested beyond sense stays as it is written.

    Each open bracket costs the parser a tenth of a millisecond: 2 MB of them took it five minutes.
    """
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if _bracket_depth(token.content) <= _MAX_BRACKETS:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        else:
            token.children.append(Token("text", "", 0, content=token.content))
            state.env[_PLAIN] = int(state.env.get(_PLAIN, 0)) + 1


def _bracket_depth(text: str) -> int:
    """Return how many square brackets stand open at most; a closing one that closes nothing does not count."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket == "[" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _plain_note(count: int) -> tuple[str, ...]:
    return (f"{count} paragraphs with endless brackets were read as plain text",) if count else ()


def _split_front_matter(text: str) -> tuple[str, str, tuple[str, ...]]:
    match = _FRONT_MATTER.match(text)
    if match is None or ":" not in match.group(1):
        return "", text, ()
    title = _FRONT_TITLE.search(match.group(1))
    name = title.group(1).strip("\"'") if title else ""
    return name, text[match.end() :], ("of the front matter only the title was read",)


class _Reader:
    """Folds markdown-it's flat token list into blocks."""

    def __init__(self, tokens: Sequence[Token], lines: Sequence[str]) -> None:
        self._tokens, self._lines = tokens, lines
        self._blocks: list[Block] = []
        self._lists: list[int | None] = []
        """One per open list: the next number of an ordered list, None for a bullet list."""
        self._items: list[str] = []
        self._marker = ""

    def read(self) -> list[Block]:
        index = 0
        while index < len(self._tokens):
            index = self._take(index)
        return self._blocks

    def _take(self, index: int) -> int:
        token = self._tokens[index]
        match token.type:
            case "heading_open":
                text = _inline(self._tokens[index + 1]).replace("\n", " ")
                if self._lists:
                    self._add_item(text)
                elif text:
                    self._blocks.append(Block(kind="heading", text=text, level=int(token.tag[1:])))
                return index + 3
            case "table_open":
                return self._table(index)
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append(int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                if not self._lists:
                    self._flush_list()
            case "list_item_open":
                self._open_item()
            case "inline":
                self._paragraph(token)
            case "plain_lines":
                self._plain_lines(token.content)
            case "fence" | "code_block":
                self._code(token.content)
            case "html_block":
                return self._html(index)
            case _:
                pass
        return index + 1

    def _open_item(self) -> None:
        number = self._lists[-1]
        if number is None:
            self._marker = "- "
        else:
            self._marker = f"{number}. "
            self._lists[-1] = number + 1

    def _add_item(self, text: str) -> None:
        if text:
            indent = "  " * (len(self._lists) - 1)
            self._items.append(indent + (self._marker or "  ") + text.replace("\n", " "))
            self._marker = ""

    def _flush_list(self) -> None:
        if self._items:
            self._blocks.append(Block(kind="list", text="\n".join(self._items)))
        self._items = []

    def _paragraph(self, token: Token) -> None:
        text = _inline(token)
        if self._lists:
            self._add_item(text)
        elif text:
            self._blocks.append(Block(kind="paragraph", text=text))

    def _plain_lines(self, content: str) -> None:
        if self._lists:
            for line in content.split("\n"):
                self._add_item(line)
        elif content:
            self._blocks.append(Block(kind="paragraph", text=content))

    def _code(self, content: str) -> None:
        text = content.strip("\n").rstrip()
        if not text.strip():
            return
        self._flush_list()
        self._blocks.append(Block(kind="code", text=text))

    def _html(self, index: int) -> int:
        """Read embedded HTML; a table that blank lines cut into pieces is read from its source as a whole."""
        last, content = index, self._tokens[index].content
        if _open_tables(content) > 0:
            last = self._table_end(index)
            start, end = self._tokens[index].map, self._tokens[last].map
            if last > index and start is not None and end is not None:
                content = "\n".join(self._lines[start[0] : end[1]])
        blocks = html_blocks(content)
        if blocks:
            self._flush_list()
            self._blocks.extend(blocks)
        return last + 1

    def _table_end(self, index: int) -> int:
        """Return the token that closes the table opened at `index`; `index` itself where none does."""
        level = self._tokens[index].level
        open_tables = 0
        for at in range(index, len(self._tokens)):
            token = self._tokens[at]
            if token.level < level:
                break
            if token.type == "html_block" and token.level == level:
                open_tables += _open_tables(token.content)
                if open_tables <= 0:
                    return at
        return index

    def _table(self, index: int) -> int:
        rows: list[list[Cell]] = []
        index += 1
        while self._tokens[index].type != "table_close":
            token = self._tokens[index]
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(Cell(_inline(self._tokens[index + 1]), header=token.type == "th_open"))
            index += 1
        block = table_block(rows)
        if block is not None:
            self._flush_list()
            self._blocks.append(block)
        return index + 1


def _open_tables(markup: str) -> int:
    """Count the tables that a piece of HTML leaves open; negative where it closes more."""
    return sum(-1 if tag.startswith("</") else 1 for tag in _TABLE_TAG.findall(markup))


def _inline(token: Token) -> str:
    """Return the readable text of an inline token; only hard breaks make new lines."""
    lines = [[""]]
    for child in token.children or ():
        if child.type == "hardbreak" or (child.type == "html_inline" and _BREAK_TAG.match(child.content)):
            lines.append([""])
        elif child.type == "softbreak":
            lines[-1].append("")
        elif child.type == "image":
            lines[-1][-1] += _inline(child) or child.content
        elif child.type == "html_inline":
            lines[-1][-1] += _INLINE_TAG.sub("", child.content)
        else:
            lines[-1][-1] += child.content
    return "\n".join(filter(None, (collapse(join_lines(line)) for line in lines)))
