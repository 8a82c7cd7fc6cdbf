"""JSON and JSON Lines as something to read: headings from keys, `key: value` lines, tables from flat records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.errors import CorruptDocumentError, DocumentTooLargeError
from ingest.parsers.text.decoding import decode
from ingest.parsers.grid import MAX_COLUMNS, Cell, table_block
from ingest.parsers.data.json_values import Json, JsonObject, leaves, load_json, scalar_text, scalars_text
from ingest.parsers.text.lines import blocks_of_text
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_MAX_LEVEL = 6
_INLINE_LEAVES = 8
"""An object with so few values stays in the paragraph of its parent, under dotted names."""
_LONG = 200
"""A text longer than this is a paragraph of its own."""
_MAX_TABLE_KEYS = 64
_BATCH = 1000
"""Records that are turned into blocks at a time: a table grows no longer, and values are given up early."""
_MEMORY_FACTOR = 16
"""A parsed value takes about so many times its text."""


def parse_json(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse JSON; where the file is no single value, JSON Lines; where it is neither, its text.

    Raises:
        CorruptDocumentError: nested deeper than about a thousand levels.
        DocumentTooLargeError: a single value above a sixteenth of the memory limit.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    too_large = len(decoded.text) > limits.memory_mb * 1024 * 1024 // _MEMORY_FACTOR
    try:
        value = None if too_large else load_json(decoded.text)
    except ValueError:
        too_large, value = False, None
        whole = False
    except RecursionError as exc:
        raise CorruptDocumentError(f"{display_name}: the JSON is nested too deeply") from exc
    else:
        whole = not too_large
    if whole:
        blocks, notes = tuple(_document(value)), ()
    else:
        blocks, notes = _lines(decoded.text)
        if too_large and not notes and len(blocks) <= 1:
            raise DocumentTooLargeError(f"{display_name}: a JSON value of {len(decoded.text)} characters")
    return ParsedDocument(
        format="json",
        blocks=blocks,
        title=_title(value),
        encoding=decoded.encoding,
        notes=(*damage_notes(decoded), *notes),
    )


def json_blocks(value: Json) -> tuple[Block, ...]:
    """Turn a parsed value into blocks."""
    return tuple(_document(value))


def _title(value: Json) -> str:
    for key, member in value if isinstance(value, JsonObject) else ():
        if key.lower() in ("title", "name") and isinstance(member, str) and 0 < len(member) <= _LONG:
            return " ".join(member.split())
    return ""


def _lines(text: str) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    """Read JSON Lines, record by record; a file of which most lines are no JSON is plain text."""
    records: list[Json] = []
    blocks: list[Block] = []
    bad = 0
    lines = [line for line in text.split("\n") if line.strip()]
    for number, line in enumerate(lines, start=1):
        try:
            records.append(load_json(line))
        except (ValueError, RecursionError):
            records.append(line.strip())
            bad += 1
        if number % _BATCH == 0 or number == len(lines):
            blocks += _array(records, least=2 if number <= _BATCH else 1)
            records = []
    if bad * 2 >= len(lines):
        return blocks_of_text(text), ("the JSON is damaged; its text was read as it stands",)
    notes = (f"{bad} of {len(lines)} lines are no JSON; their text was read as it stands",) if bad else ()
    return tuple(blocks), notes


def _document(value: Json) -> Iterator[Block]:
    text = scalar_text(value)
    if text is not None:
        yield from _paragraphs([text])
    elif isinstance(value, JsonObject):
        yield from _object(value, 1)
    elif isinstance(value, list):
        yield from _array(value)


def _object(value: JsonObject, level: int) -> Iterator[Block]:
    lines: list[str] = []
    for key, member in value:
        small = _as_lines(key, member)
        if small is not None:
            lines += small
            continue
        yield from _paragraphs(lines)
        lines = []
        if level > _MAX_LEVEL:
            yield from _paragraphs(_dotted(member, (key,)))
            continue
        name = " ".join(key.split())
        if name:
            yield Block(kind="heading", text=name, level=level)
        if isinstance(member, JsonObject):
            yield from _object(member, level + 1)
        elif isinstance(member, list):
            yield from _array(member)
    yield from _paragraphs(lines)


def _as_lines(key: str, member: Json) -> list[str] | None:
    """Return `key: value` lines; None for what deserves a heading."""
    text = scalar_text(member)
    text = scalars_text(member) if text is None else text
    if text is not None and (not isinstance(member, list) or len(text) <= _LONG):
        return [f"{key}: {text}"]
    if isinstance(member, JsonObject):
        inner = list(leaves(member, _INLINE_LEAVES + 1))
        if len(inner) <= _INLINE_LEAVES and all(len(text) <= _LONG for _, text in inner):
            return _dotted(member, (key,))
    return None


def _dotted(value: Json, path: tuple[str, ...]) -> list[str]:
    return [f"{'.'.join((*path, *below))}: {text}" for below, text in leaves(value)]


def _array(items: Sequence[Json], least: int = 2) -> Iterator[Block]:
    """Yield an array's items; `least` records make a table."""
    texts = [scalar_text(item) for item in items]
    if all(text is not None for text in texts):
        yield from _list_of(text for text in texts if text is not None)
        return
    for at in range(0, len(items), _BATCH):
        batch = items[at : at + _BATCH]
        table = _table(batch) if len(batch) >= (1 if at else least) else None
        if table is not None:
            yield table
            continue
        for item in batch:
            text = scalar_text(item)
            yield from _paragraphs([text] if text is not None else _record(item))


def _record(item: Json) -> list[str]:
    if isinstance(item, JsonObject):
        return _dotted(item, ())
    text = scalars_text(item)
    return [text] if text is not None else _dotted(item, ())


def _list_of(texts: Iterator[str]) -> Iterator[Block]:
    kept = [text for text in texts if text.strip()]
    if any(len(text) > _LONG or "\n" in text for text in kept):
        yield from (Block(kind="paragraph", text=text.strip()) for text in kept)
    elif kept:
        yield Block(kind="list", text="\n".join(f"- {text.strip()}" for text in kept))


def _table(items: Sequence[Json]) -> Block | None:
    """Return records of short values, mostly with the same keys, as a table; so too rows of values."""
    arrays = [item for item in items if isinstance(item, list) and not isinstance(item, JsonObject)]
    if len(arrays) == len(items):
        grid = [[scalar_text(cell) for cell in item] for item in arrays]
        known = [[text for text in row if text is not None] for row in grid]
        wide = max(map(len, known)) > MAX_COLUMNS
        if wide or any(len(row) != len(full) for row, full in zip(known, grid, strict=True)):
            return None
        return table_block([[Cell(text) for text in row] for row in known]) if _short(known) else None
    records: list[dict[str, str]] = []
    for item in items:
        if not isinstance(item, JsonObject):
            return None
        cells = {key: text for key, member in item if (text := _cell(member)) is not None}
        if len(cells) != len(item):
            return None
        records.append(cells)
    keys = list(dict.fromkeys(key for record in records for key in record))
    if not 0 < len(keys) <= _MAX_TABLE_KEYS or sum(map(len, records)) * 2 < len(keys) * len(records):
        return None
    rows = [[record.get(key, "") for key in keys] for record in records]
    if not _short(rows):
        return None
    header = [Cell(key, header=True) for key in keys]
    return table_block([header, *([Cell(text) for text in row] for row in rows)], header_rows=1)


def _cell(value: Json) -> str | None:
    text = scalar_text(value)
    return scalars_text(value) if text is None else text


def _short(rows: Sequence[Sequence[str]]) -> bool:
    return all(len(text) <= _LONG for row in rows for text in row)


def _paragraphs(lines: Sequence[str]) -> Iterator[Block]:
    """Yield short lines together, and each long text by itself."""
    together: list[str] = []
    for line in lines:
        text = line.strip()
        if len(text) > _LONG:
            if together:
                yield Block(kind="paragraph", text="\n".join(together))
                together = []
            yield Block(kind="paragraph", text=text)
        elif text:
            together.append(text)
    if together:
        yield Block(kind="paragraph", text="\n".join(together))
