"""Secrets in names of attachments and in notes give way to pseudonyms; endings stay."""

from __future__ import annotations

import pytest

from ingest.cutting import SymbolicCutter
from ingest.hiding import hide_names
from ingest.settings import ChunkSettings
from ingest.types import Attachment, ParsedDocument
from retrieval.symbols.language import load_language
from retrieval.symbols.pseudonyms import PSEUDONYM

CUTTER = SymbolicCutter(load_language(bytes(range(32))), len, 100, ChunkSettings())


def hidden(*names: str, notes: tuple[str, ...] = ()) -> tuple[ParsedDocument, dict[str, str]]:
    attachments = tuple(Attachment(name=name, file=str(at), size_bytes=1) for at, name in enumerate(names))
    parsed = ParsedDocument(format="archive", blocks=(), attachments=attachments, notes=notes)
    return hide_names(parsed, "acme", CUTTER)


@pytest.mark.parametrize(
    ("name", "shape", "values"),
    [
        ("13800138000 ann@acme.com.txt", "* *.txt", ["13800138000", "ann@acme.com"]),
        ("2024/ann@acme.com/report.pdf", "2024/*/report.pdf", ["ann@acme.com"]),
        ("ann@acme.com", "*", ["ann@acme.com"]),
        ("客户 13800138000.xlsx", "客户 *.xlsx", ["13800138000"]),
        ("Q3 2024 report v2.docx", "Q3 2024 report v2.docx", []),
        ("IMG_20240131_101500.jpg", "IMG_20240131_101500.jpg", []),
        ("no ending", "no ending", []),
    ],
)
def test_hiding_takes_secrets_out_of_names_and_leaves_their_endings(name: str, shape: str, values: list[str]) -> None:
    parsed, secrets = hidden(name)
    (attachment,) = parsed.attachments
    assert PSEUDONYM.sub("*", attachment.name) == shape
    assert sorted(secrets.values()) == sorted(values)
    assert set(PSEUDONYM.findall(attachment.name)) == {each[1:].split("_")[0] for each in secrets}
    again, none = hide_names(parsed, "acme", CUTTER)
    assert (again, none) == (parsed, {})


def test_hiding_takes_secrets_out_of_notes() -> None:
    notes = ("the sheet 'zhou.yutong@example.com' is hidden", "page 3 was left out: 12345 bytes")
    parsed, secrets = hidden(notes=notes)
    assert PSEUDONYM.sub("*", parsed.notes[0]) == "the sheet '*' is hidden"
    assert parsed.notes[1] == notes[1]
    assert list(secrets.values()) == ["zhou.yutong@example.com"]
