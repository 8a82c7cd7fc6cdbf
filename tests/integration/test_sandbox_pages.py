"""The sandbox's stream: progress by page, pages that are left out, documents found inside and their limits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, NoTextError, ParserLimitError
from ingest.sandbox import ParserPool
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

PAGED = """
import ctypes, json, os, sys, time
from pathlib import Path
from ingest.errors import CorruptDocumentError, NoTextError
from ingest.types import Block, PageYield, ParsedDocument

def misbehave(what):
    if what == "hang":
        time.sleep(600)
    if what == "crash":
        ctypes.string_at(0)
    if what == "memory":
        raise MemoryError
    if what == "corrupt":
        raise CorruptDocumentError("x: corrupt")
    if what == "forge":
        # As if the process had been taken over: its pipe is the only other one that can be written to.
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"\\x01\\x00\\x00\\x00\\x00" * 2)
            except OSError:
                pass

def pieces(sizes):
    for size in sizes:
        if size < 0:
            raise CorruptDocumentError("x: a damaged member")
        yield bytes(size)

def parse(path, name, limits, session):
    plan = json.loads(Path(path).read_text())
    total = plan.get("pages")
    blocks, yields = [], []
    if total is not None:
        session.page_done(0, total)
    for page in range(1, (total or 0) + 1):
        if not session.skips(page) or plan.get("stubborn"):
            misbehave(plan.get("at", {}).get(str(page)))
            text = f"page {page} " + "x" * plan.get("padding", 0)
            blocks.append(Block(kind="paragraph", text=text, page_number=page))
        yields.append(PageYield(page_number=page, characters=1))
        session.page_done(page, total)
    for attached, sizes in plan.get("attach", []):
        try:
            taken = session.attach(attached, pieces(sizes))
        except CorruptDocumentError:
            taken = "damaged"
        blocks.append(Block(kind="paragraph", text=f"taken: {taken}"))
    misbehave(plan.get("end"))
    if not blocks:
        raise NoTextError(f"{name}: nothing")
    return ParsedDocument(format="text", blocks=tuple(blocks), page_count=total, pages=tuple(yields), notes=("own",))
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ParserPool]:
    folder = tmp_path_factory.mktemp("paged")
    (folder / "paged_parser.py").write_text(PAGED, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        settings = ParserSettings(
            timeout_s=20, page_timeout_s=0.5, memory_mb=256, max_attachments=3, max_attachments_bytes=500_000
        )
        pool = ParserPool(settings, handler="paged_parser:parse")
        yield pool
        asyncio.run(pool.close())


class Told:
    """Parses a plan and remembers what it was told of pages."""

    def __init__(self, pool: ParserPool, folder: Path) -> None:
        self._pool = pool
        self._folder = folder
        self.attachments = folder / "attachments"
        self.progress: list[tuple[int, int | None]] = []

    async def parse(self, plan: str, *, attach: bool = False) -> ParsedDocument:
        path = self._folder / "plan.json"
        path.write_text(plan, encoding="utf-8")
        if attach:
            self.attachments.mkdir(exist_ok=True)
        return await self._pool.parse(
            path,
            "x",
            attachments=self.attachments if attach else None,
            on_page=lambda done, total: self.progress.append((done, total)),
        )

    def files(self) -> dict[str, int]:
        return {file.name: file.stat().st_size for file in sorted(self.attachments.iterdir())}


@pytest.fixture
def told(pool: ParserPool, tmp_path: Path) -> Told:
    return Told(pool, tmp_path)


def texts(document: ParsedDocument) -> list[str]:
    return [block.text.strip() for block in document.blocks]


async def test_sandbox_tells_of_pages_as_they_are_done(told: Told) -> None:
    document = await told.parse('{"pages": 3}')
    assert told.progress == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert document.page_count == 3
    assert [page.page_number for page in document.pages] == [1, 2, 3]
    assert document.notes == ("own",)


async def test_sandbox_gives_many_large_blocks_in_order(told: Told) -> None:
    document = await told.parse('{"pages": 40, "padding": 50000}')
    assert [block.page_number for block in document.blocks] == list(range(1, 41))
    assert {len(block.text) for block in document.blocks} == {50_007, 50_008}


async def test_sandbox_leaves_out_pages_that_hang_or_crash_and_says_so(told: Told) -> None:
    document = await told.parse('{"pages": 5, "at": {"2": "hang", "4": "crash", "5": "memory"}}')
    assert texts(document) == ["page 1", "page 3"]
    assert len(document.pages) == 5
    assert document.notes == (
        "own",
        "page 2 was left out: stopped after 0.5 s",
        "page 4 was left out: the parser process crashed (signal 11)",
        "page 5 was left out: parsing needs more than 256 MB",
    )


async def test_sandbox_fails_a_document_that_loses_more_than_three_pages(told: Told) -> None:
    at = ", ".join(f'"{page}": "crash"' for page in range(2, 6))
    with pytest.raises(ParserLimitError, match=r"page 2: .*page 5: "):
        await told.parse(f'{{"pages": 9, "at": {{{at}}}}}')
    assert texts(await told.parse('{"pages": 1}')) == ["page 1"]


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ('{"pages": 1, "at": {"1": "crash"}}', "page 1: .*signal 11"),
        ('{"pages": 2, "stubborn": true, "at": {"2": "crash"}}', "page 2: .*signal 11"),
        ('{"pages": 2, "end": "crash"}', "x: the parser process crashed"),
        ('{"pages": 2, "end": "forge"}', "nonsense"),
        ('{"end": "memory"}', "256 MB"),
    ],
)
async def test_sandbox_fails_a_document_where_no_page_can_be_spared(told: Told, plan: str, reason: str) -> None:
    with pytest.raises(ParserLimitError, match=reason):
        await told.parse(plan)


async def test_sandbox_does_not_begin_again_for_what_the_parser_found_wrong(told: Told) -> None:
    with pytest.raises(CorruptDocumentError):
        await told.parse('{"pages": 3, "at": {"2": "corrupt"}}')
    assert told.progress == [(0, 3), (1, 3)]
    with pytest.raises(NoTextError):
        await told.parse("{}")


async def test_sandbox_writes_what_is_found_inside_under_names_of_its_own(told: Told) -> None:
    document = await told.parse(
        '{"attach": [["../../etc/\\u0000passwd\\u202e", [10, 300000]], ["", []], ["\\ud800.pdf", [1]]]}', attach=True
    )
    names = [file.name for file in document.attachments]
    assert [name.split("~")[0] for name in names] == ["../../etc/_passwd_", "attachment 2", "_"]
    assert names[2].endswith(".pdf")
    assert [(file.file, file.size_bytes) for file in document.attachments] == [
        ("0001", 300_010),
        ("0002", 0),
        ("0003", 1),
    ]
    assert told.files() == {"0001": 300_010, "0002": 0, "0003": 1}


async def test_sandbox_takes_back_an_attachment_that_breaks_off(told: Told) -> None:
    document = await told.parse('{"attach": [["a", [9, -1]], ["b", [5]]]}', attach=True)
    assert texts(document) == ["taken: damaged", "taken: True"]
    assert [(file.name, file.file) for file in document.attachments] == [("b", "0002")]
    assert told.files() == {"0002": 5}


async def test_sandbox_without_a_folder_takes_no_attachments(told: Told) -> None:
    document = await told.parse('{"attach": [["a", [9]]]}')
    assert texts(document) == ["taken: False"]
    assert document.attachments == ()


@pytest.mark.parametrize(
    ("attach", "reason"),
    [
        ('[["a", [1]], ["b", [1]], ["c", [1]], ["d", [1]]]', "more than 3 documents"),
        ('[["a", [300000]], ["b", [300000]]]', "more than 500000 bytes"),
    ],
)
async def test_sandbox_refuses_too_many_attachments_and_keeps_none(told: Told, attach: str, reason: str) -> None:
    with pytest.raises(DocumentTooLargeError, match=reason):
        await told.parse(f'{{"attach": {attach}}}', attach=True)
    assert told.files() == {}


async def test_sandbox_begins_the_attachments_again_with_the_document(told: Told) -> None:
    document = await told.parse('{"pages": 2, "at": {"2": "crash"}, "attach": [["a", [7]]]}', attach=True)
    assert told.files() == {"0001": 7}
    assert len(document.attachments) == 1


async def test_sandbox_passes_on_what_the_callback_raises(pool: ParserPool, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    plan.write_text('{"pages": 2}', encoding="utf-8")

    def cancelled(done: int, total: int | None) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        await pool.parse(plan, "x", on_page=cancelled)
    assert (await pool.parse(plan, "x")).page_count == 2
