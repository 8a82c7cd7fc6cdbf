"""ZIP and TAR archives: a listing of the members as text, and the members handed on as documents of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ingest.detect_archive import is_tar
from ingest.errors import DocumentTooLargeError
from ingest.parsers.archives.members import Member, UnreadMemberError
from ingest.parsers.archives.tar import tar_members
from ingest.parsers.archives.zip import zip_members
from ingest.parsers.grid import Cell, table_block
from ingest.parsers.session import QUIET, ParseSession
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_MAX_MEMBERS = 20_000
_MAX_RATIO = 200
"""Logs and XML pack to about a thirtieth; deflate's own limit is about a thousandth."""
_RATIO_FREE_BYTES = 64 * 1024 * 1024
_ROWS = 200
"""Members in one table of the listing."""
_HEAD = 64 * 1024
_JUNK = frozenset({".ds_store", "thumbs.db", "desktop.ini", "__macosx"})


def parse_archive(
    path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET
) -> ParsedDocument:
    """Read an archive: one table of paths and sizes, and an attachment for each member that is a file.

    Raises:
        EncryptedDocumentError: members need a password, or another one.
        DocumentTooLargeError: too many members, too many bytes, or packed as only a bomb is.
        CorruptDocumentError: it is damaged.
    """
    with path.open("rb") as file:
        tar = is_tar(file.read(_HEAD))
    packed = path.stat().st_size
    read = tar_members if tar else zip_members
    bounded = _bounded(read(path, display_name, limits, session.password), packed, display_name, limits)
    rows: list[tuple[str, int]] = []
    left_out: Counter[str] = Counter()
    for member in bounded:
        reason = _why_not(member, limits)
        if reason in {"", "empty", "too large"}:
            rows.append((member.name, member.size_bytes))
        if not reason:
            reason = _hand_on(member, session)
        if reason:
            left_out[reason] += 1
    return ParsedDocument(format="archive", blocks=tuple(_listing(rows)), notes=tuple(_notes(left_out)))


def _hand_on(member: Member, session: ParseSession) -> str:
    try:
        return "" if session.attach(member.name, member.pieces()) else "not opened"
    except UnreadMemberError:
        return "unread"


def _why_not(member: Member, limits: ParserSettings) -> str:
    """Say why a member is no document; empty for one that is."""
    parts = [part.lower() for part in member.name.split("/")]
    if member.kind == "link":
        return "links"
    if any(part in _JUNK or part.startswith("._") for part in parts):
        return "system files"
    if any(part.startswith((".", "~$")) for part in parts if part not in {".", ".."}):
        return "hidden"
    if not member.size_bytes:
        return "empty"
    return "too large" if member.size_bytes > limits.max_bytes else ""


def _bounded(members: Iterable[Member], packed: int, display_name: str, limits: ParserSettings) -> Iterator[Member]:
    """Pass members on until the archive turns out to be a bomb."""
    total = 0
    for number, member in enumerate(members, 1):
        total += member.size_bytes
        if number > _MAX_MEMBERS:
            raise DocumentTooLargeError(f"{display_name}: the archive has more than {_MAX_MEMBERS} members")
        above = ""
        if total > limits.max_attachments_bytes:
            above = f"the limit of {limits.max_attachments_bytes} bytes"
        elif total > _RATIO_FREE_BYTES and total > packed * _MAX_RATIO:
            above = f"{_MAX_RATIO} times its size, which no archive of documents reaches"
        if above:
            raise DocumentTooLargeError(
                f"{display_name}: the archive of {packed} bytes unpacks to {total} bytes or more; that is above {above}"
            )
        yield member


def _listing(rows: list[tuple[str, int]]) -> Iterator[Block]:
    head = [Cell("File", header=True), Cell("Bytes", header=True)]
    for start in range(0, len(rows), _ROWS):
        lines = [[Cell(name), Cell(str(size))] for name, size in rows[start : start + _ROWS]]
        block = table_block([head, *lines], header_rows=1)
        if block is not None:
            yield block


def _notes(left_out: Counter[str]) -> Iterator[str]:
    words = {
        "links": "links and special files are left out",
        "system files": "system files (__MACOSX, .DS_Store, Thumbs.db) are left out",
        "hidden": "hidden and temporary files are left out",
        "empty": "empty files are listed only",
        "too large": "files above the size limit of a document are listed only",
        "unread": "members that are damaged, or packed in a way that is not known, are listed only",
        "not opened": "members are listed only: nested too deep, or not asked for",
    }
    for reason, number in left_out.items():
        yield f"{words[reason]} ({number})"
