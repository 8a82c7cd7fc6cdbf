"""What the parent takes from a parser process that was taken over by its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.errors import DocumentTooLargeError
from ingest.frames import Frame, FrameKind
from ingest.sandbox_result import NonsenseError, Result
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

LIMITS = ParserSettings(memory_mb=256)
MEGABYTE = 1024 * 1024


def result(attachments: Path | None = None) -> Result:
    return Result(Path("/plain/a"), "a.pdf", LIMITS, attachments, lambda done, total: None)


def frame_of(item: bytes, kind: FrameKind) -> Frame:
    """Return a frame of a quarter megabyte, as large as a parser sends."""
    return Frame(kind, b"[" + b",".join([item] * (MEGABYTE // 4 // len(item))) + b"]")


def take_often(taking: Result, frame: Frame, times: int) -> None:
    for _ in range(times):
        taking.take(frame)


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (b'{"kind":"paragraph","text":"a"}', FrameKind.BLOCKS),
        (b'{ "kind" : "paragraph","text":"a"}', FrameKind.BLOCKS),
        (b'{"page_number":1,"characters":1}', FrameKind.PAGES),
    ],
)
def test_result_counts_what_many_small_parts_take_in_memory(item: bytes, kind: FrameKind) -> None:
    taking = result()
    frame = frame_of(item, kind)
    for _ in range(5):
        taking.take(frame)
    with pytest.raises(DocumentTooLargeError):
        take_often(taking, frame, 75)  # 20 MB of JSON in all, where 256 MB are allowed


def test_result_counts_cells_before_it_reads_them() -> None:
    body = json.dumps([{"kind": "table", "text": "t", "rows": [["aa"] * 5_000_000]}], separators=(",", ":"))
    with pytest.raises(DocumentTooLargeError):
        result().take(Frame(FrameKind.BLOCKS, body.encode()))


def test_result_counts_blocks_of_the_last_frame_too() -> None:
    document = b'{"format":"pdf","blocks":[' + b",".join([b'{"kind":"paragraph","text":"a"}'] * 300_000) + b"]}"
    with pytest.raises(DocumentTooLargeError):
        result().take(Frame(FrameKind.DOCUMENT, document))


def test_result_takes_much_text_of_quotation_marks_and_braces() -> None:
    block = Block(kind="code", text='{"a": {"b": "c", "d": "e"}}\n' * 400_000)
    document = ParsedDocument(format="text", blocks=())
    taking = result()
    taking.take(Frame(FrameKind.BLOCKS, b"[" + block.model_dump_json().encode() + b"]"))
    taking.take(Frame(FrameKind.DOCUMENT, document.model_dump_json().encode()))
    assert taking.document is not None
    assert taking.document.blocks == (block,)


@pytest.mark.parametrize("kind", list(FrameKind))
def test_result_of_endless_nesting_is_nonsense(kind: FrameKind, tmp_path: Path) -> None:
    taking = result(tmp_path)
    with pytest.raises(NonsenseError):
        taking.take(Frame(kind, b"[" * 1_000_000))
    taking.discard()
