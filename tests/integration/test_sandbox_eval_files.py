"""Real files of other projects' test suites: each ends in blocks or in one of our errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.errors import (
    CorruptDocumentError,
    EncryptedDocumentError,
    IngestError,
    NoTextError,
    UnsupportedDocumentError,
)
from ingest.sandbox import ParserPool
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

pytestmark = pytest.mark.eval
_TEXT_LIKE = ("md", "html", "txt", "srt", "vtt", "docx")


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    pool = ParserPool(ParserSettings(timeout_s=60))
    yield pool
    asyncio.run(pool.close())


def manifest(eval_data: Path) -> list[dict[str, object]]:
    lines = (eval_data / "files" / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def check(document: ParsedDocument) -> None:
    assert any(block.text.strip() for block in document.blocks)
    for block in document.blocks:
        if document.page_count is None:
            assert block.page_number is None
            continue
        assert block.page_number is not None
        assert block.page_end is not None
        assert 1 <= block.page_number <= block.page_end <= document.page_count
        assert {box.page_number for box in block.boxes} <= set(range(block.page_number, block.page_end + 1))


async def test_real_files_end_in_blocks_or_in_our_errors(eval_data: Path, pool: ParserPool) -> None:
    entries = manifest(eval_data)
    small = [entry for entry in entries if str(entry["path"]).rsplit(".", 1)[-1] in _TEXT_LIKE][::3]
    pdfs = [entry for entry in entries if str(entry["path"]).endswith(".pdf")][::5]
    failed: dict[str, str] = {}
    for entry in small + pdfs:
        path = eval_data / "files" / str(entry["path"])
        try:
            check(await pool.parse(path, path.name))
        except IngestError as error:
            failed[str(entry["path"])] = str(error)
    assert all(Path(path).name in message for path, message in failed.items())
    assert len(failed.keys() - {entry["path"] for entry in pdfs}) <= 0.1 * len(small)
    # What another PDF reader found text in must not fail here.
    assert [entry["path"] for entry in pdfs if entry.get("chars") and entry["path"] in failed] == []


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("pdfjs/bitmap-symbol.pdf", NoTextError),
        ("pdfjs/issue3371.pdf", EncryptedDocumentError),
        ("pdfjs/REDHAT-1531897-0.pdf", CorruptDocumentError),
        ("unstructured/fake-text-all-whitespace.txt", NoTextError),
        ("markitdown/test.mp3", UnsupportedDocumentError),
    ],
)
async def test_real_files_fail_with_the_right_reason(
    eval_data: Path, pool: ParserPool, path: str, error: type[IngestError]
) -> None:
    with pytest.raises(error):
        await pool.parse(eval_data / "files" / path, Path(path).name)


@pytest.mark.parametrize(
    ("path", "encoding"),
    [("made/gbk.txt", "gb18030"), ("made/utf16.md", "utf-16-le"), ("made/meeting_gbk.srt", "gb18030")],
)
async def test_real_files_in_legacy_encodings_are_read(
    eval_data: Path, pool: ParserPool, path: str, encoding: str
) -> None:
    document = await pool.parse(eval_data / "files" / path, Path(path).name)
    assert document.encoding == encoding
    assert not any("\ufffd" in block.text for block in document.blocks)


async def test_real_files_keep_the_strings_they_must(eval_data: Path, pool: ParserPool) -> None:
    folder = eval_data / "files" / "markitdown"
    checked = 0
    for line in (folder / "must_include_plain.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        path = folder / case["filename"]
        if path.suffix not in (".pdf", ".docx", ".html") or not path.exists():
            continue
        document = await pool.parse(path, path.name)
        text = "".join("".join(block.text.split()) for block in document.blocks)
        assert [piece for piece in case["must_include"] if "".join(piece.split()) not in text] == []
        assert [piece for piece in case["must_not_include"] if "".join(piece.split()) in text] == []
        checked += 1
    assert checked >= 3
