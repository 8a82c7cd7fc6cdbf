"""A person's data as one JSON object, written while it is read: it may be larger than the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ingest.persons import ExportedDocument, ExportedValue, ExportPart, RunMention
from ingest.reveals import Reveal

_SECTIONS: tuple[tuple[str, type[ExportPart]], ...] = (
    ("values", ExportedValue),
    ("documents", ExportedDocument),
    ("runs", RunMention),
    ("reveals", Reveal),
)


async def as_json(parts: AsyncIterator[ExportPart]) -> AsyncIterator[bytes]:
    """Yield the JSON of an export, whose parts come section by section; sections without parts are empty lists.

    An export that breaks off is no valid JSON, so that nobody takes it for a whole one.
    """
    section = 0
    first = True
    yield _opening(0)
    async for part in parts:
        while not isinstance(part, _SECTIONS[section][1]):
            section += 1
            first = True
            yield b"]," + _opening(section)
        yield (b"" if first else b",") + part.model_dump_json().encode()
        first = False
    for rest in range(section + 1, len(_SECTIONS)):
        yield b"]," + _opening(rest)
    yield b"]}"


def _opening(section: int) -> bytes:
    return (b"{" if section == 0 else b"") + f'"{_SECTIONS[section][0]}":['.encode()
