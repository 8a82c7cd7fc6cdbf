"""Databases that the operator named, as documents: a snapshot of the schema is taken once and kept as the original.

So a resumed or repeated ingestion needs no connection, the snapshot is encrypted like every original, and
one that did not change is the same bytes. That a document is such a snapshot stands in its row from the
start, never in what an uploaded file says of itself.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from ingest.errors import CorruptDocumentError
from ingest.parsers.data.database import parse_database
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument


def take_snapshot(url: str, name: str, limits: ParserSettings) -> bytes:
    """Reflect a database and return the bytes that are kept for it.

    It needs the network, so it does not run in the parser processes; it reads a schema, not a file.

    Raises:
        UnsupportedDocumentError: the driver is not installed.
        SourceUnavailableError: it cannot be reached just now.
        NoTextError: it has no tables.
    """
    return parse_database(url, name, limits).model_dump_json().encode()


def read_snapshot(path: Path, display_name: str) -> ParsedDocument:
    """Read back what `take_snapshot` gave.

    Raises:
        CorruptDocumentError: another version of the program wrote it.
    """
    try:
        return ParsedDocument.model_validate_json(path.read_bytes())
    except ValidationError as exc:
        raise CorruptDocumentError(
            f"{display_name}: the snapshot of the database cannot be read any more; take it again"
        ) from exc
