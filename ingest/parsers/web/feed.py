"""RSS, Atom and RDF feeds: the channel, then each entry with its date and its content read as HTML."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import feedparser

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.joining import collapse, squeeze
from ingest.parsers.web.html import html_blocks
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_SHORT_SUMMARY = 100
"""Blocks; a longer one is compared with nothing, so that the time stays linear."""
_Entry = Mapping[str, object]


def parse_feed(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse a feed. Nothing that it refers to is fetched.

    Raises:
        NoTextError: neither the channel nor an entry has text.
        CorruptDocumentError: no feed can be made of it.
    """
    feed = _read(path.read_bytes(), display_name)
    channel = dict(cast("_Entry", feed["feed"]))
    title = _plain(channel, "title", display_name)
    blocks = [Block(kind="heading", level=1, text=title)] if title else []
    blocks.extend(_about_channel(channel, display_name))
    for entry in cast("Sequence[_Entry]", feed["entries"]):
        # As plain dicts: feedparser's own ones answer for a missing field with another one, and a warning.
        blocks.extend(_entry_blocks(dict(entry), display_name))
    if not blocks:
        raise NoTextError(f"{display_name}: the feed has no text")
    encoding = feed.get("encoding")
    notes = ("the feed is not well-formed; what could be read was",) if feed.get("bozo") else ()
    return ParsedDocument(
        format="feed",
        blocks=tuple(blocks),
        title=title,
        encoding=encoding if isinstance(encoding, str) else None,
        notes=notes,
    )


def _read(raw: bytes, display_name: str) -> _Entry:
    """Give feedparser a stream: strings it would open as addresses.

    Cleaning markup is left out, because only the text of it is kept.
    """
    try:
        return cast("_Entry", feedparser.parse(io.BytesIO(raw), resolve_relative_uris=False, sanitize_html=False))  # pyright: ignore[reportUnknownMemberType]
    except (ValueError, LookupError, AttributeError, TypeError, AssertionError, RecursionError) as exc:
        raise CorruptDocumentError(f"{display_name}: the feed cannot be read") from exc


def _about_channel(channel: _Entry, display_name: str) -> Iterator[Block]:
    subtitle = _plain(channel, "subtitle", display_name)
    if subtitle:
        yield Block(kind="paragraph", text=subtitle)
    lines = [_line("Published by", channel, "author", display_name), _line("Updated", channel, "updated", display_name)]
    if any(lines):
        yield Block(kind="paragraph", text="\n".join(filter(None, lines)))


def _entry_blocks(entry: _Entry, display_name: str) -> Iterator[Block]:
    title = _plain(entry, "title", display_name)
    if title:
        yield Block(kind="heading", level=2, text=title)
    tags = cast("Sequence[_Entry]", entry.get("tags") or ())
    terms = list(dict.fromkeys(collapse(str(tag.get("label") or tag.get("term") or "")) for tag in tags))
    lines = [
        _line("Date", entry, "published", display_name) or _line("Date", entry, "updated", display_name),
        _line("Author", entry, "author", display_name),
        _line("Link", entry, "link", display_name),
        f"Tags: {', '.join(filter(None, terms))}" if any(terms) else "",
    ]
    if any(lines):
        yield Block(kind="paragraph", text="\n".join(filter(None, lines)))
    yield from _content_blocks(entry, title, display_name)


def _content_blocks(entry: _Entry, title: str, display_name: str) -> Iterator[Block]:
    """Yield the summary where it is no part of the full content, then the content, below the entry's heading."""
    contents = [_markup(part) for part in cast("Sequence[_Entry]", entry.get("content") or ())]
    full = [block for markup in dict.fromkeys(contents) for block in html_blocks(markup, display_name)]
    summary = html_blocks(str(entry.get("summary") or ""), display_name)
    said = squeeze(" ".join(block.text for block in full)) if len(summary) <= _SHORT_SUMMARY else ""
    fresh = (block for block in summary if _says_more(squeeze(block.text), said, squeeze(title)))
    for block in (*fresh, *full):
        level = min(6, block.level + 2) if block.kind == "heading" else 0
        yield block.model_copy(update={"level": level})


def _says_more(text: str, said: str, title: str) -> bool:
    return text != title and text.rstrip("…[.]") not in said


def _markup(part: _Entry) -> str:
    """Return a content's markup; plain text, where it is declared as such, with its signs escaped."""
    value = str(part.get("value") or "")
    if part.get("type") == "text/plain":
        return value.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>")
    return value


def _line(label: str, entry: _Entry, name: str, display_name: str) -> str:
    text = _plain(entry, name, display_name)
    return f"{label}: {text}" if text else ""


def _plain(entry: _Entry, name: str, display_name: str) -> str:
    """Return a field as one line; titles have markup in many feeds."""
    value = entry.get(name)
    if not isinstance(value, str):
        return ""
    if "<" in value or "&" in value:
        value = " ".join(block.text for block in html_blocks(value, display_name))
    return collapse(value)
