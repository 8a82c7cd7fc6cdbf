"""`attest chunks`: look at what a file is cut into, in the terminal or drawn over its pages."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from api.client import displayed
from api.commands.chunks_page import PagePicture, render_page
from api.commands.rendering import counted
from api.commands.session import Json, err, fail, guarded, out, password_given, print_json
from api.errors import EXIT_FAILED, EXIT_USAGE
from api.settings import Settings, load_settings
from ingest.cutting import SymbolicCutter
from ingest.errors import IngestError
from ingest.page_images import draw
from ingest.preview import Preview, preview
from ingest.sandbox import ParserPool
from retrieval.encoders.select import load_encoder
from retrieval.symbols.language import load_language
from retrieval.types import Chunk

_KEY = bytes(32)
"""Nothing is stored: the pseudonyms that are shown are nobody's."""
_DPI = 100
_DRAUGHTSMAN = "ingest.parsers.drawing:draw_page"


def register(app: typer.Typer, summary: str) -> None:
    """Add the command."""
    app.command("chunks", help=summary)(chunks)


def chunks(
    file: Annotated[Path, typer.Argument(help="The file; nothing of it is stored.")],
    html: Annotated[Path | None, typer.Option(help="Write a page with the boxes drawn over the pages.")] = None,
    pages: Annotated[int, typer.Option(help="At most so many pages in the HTML page.", min=1)] = 50,
    password_file: Annotated[Path | None, typer.Option(help="File whose first line opens the document.")] = None,
    json_output: Json = False,
) -> None:
    """Show the blocks a file is parsed into and the chunks it is cut into."""
    if not file.is_file():
        fail(f"{'not a regular file' if file.exists() else 'no such file'}: {file}", EXIT_USAGE)
    password = password_given(password_file, ask=False).get("password")
    settings = load_settings()
    shown, pictures = guarded(lambda: asyncio.run(_preview(settings, file, password, pages if html else 0)))
    if html is not None:
        html.write_text(render_page(displayed(file.name), shown, pictures), encoding="utf-8")
        err.print(f"wrote {html}", markup=False)
    if json_output:
        print_json(_as_json(shown))
    elif html is None:
        print_preview(shown)


def dry_run(files: list[Path], password: str | None, *, json_output: bool) -> int:
    """Show each file; one that fails is named with its reason. Returns the exit code."""
    settings = load_settings()
    shown, failed = guarded(lambda: asyncio.run(_preview_all(settings, files, password, json_output)))
    if json_output:
        print_json(shown)
    else:
        out.print(f"\n{len(files) - failed} of {counted(len(files), 'file')} could be taken in; nothing is stored")
    return EXIT_FAILED if failed else 0


async def _preview_all(
    settings: Settings, files: list[Path], password: str | None, json_output: bool
) -> tuple[list[dict[str, Any]], int]:
    parsers, cutter = ParserPool(settings.ingestion.parser), offline_cutter(settings)
    shown: list[dict[str, Any]] = []
    failed = 0
    try:
        for file in files:
            if not json_output:
                out.print(f"\n━━ {displayed(file)}", markup=False)
            try:
                with tempfile.TemporaryDirectory() as folder:
                    found = await preview(file, parsers, cutter, password=password, attachments=Path(folder))
            except IngestError as exc:
                failed += 1
                shown.append({"path": displayed(file), "error_code": exc.code, "error": str(exc)})
                if not json_output:
                    out.print(f"failed: {exc} ({exc.code})", markup=False)
                continue
            shown.append({"path": displayed(file), **_as_json(found)})
            if not json_output:
                print_preview(found)
    finally:
        await parsers.close()
    return shown, failed


def _as_json(shown: Preview) -> dict[str, Any]:
    return {
        "document": shown.parsed.model_dump(mode="json"),
        "chunks": [chunk.model_dump(mode="json") for chunk in shown.chunks],
        "report": shown.report.model_dump(mode="json"),
    }


async def _preview(
    settings: Settings, file: Path, password: str | None, pages: int
) -> tuple[Preview, list[PagePicture]]:
    parsers = ParserPool(settings.ingestion.parser)
    try:
        with tempfile.TemporaryDirectory() as folder:
            shown = await preview(file, parsers, offline_cutter(settings), password=password, attachments=Path(folder))
    finally:
        await parsers.close()
    wanted = min(pages, shown.parsed.page_count or 0) if shown.parsed.format in ("pdf", "image") else 0
    return shown, await _pictures(settings, file, password, wanted)


async def _pictures(settings: Settings, file: Path, password: str | None, count: int) -> list[PagePicture]:
    if not count:
        return []
    draughtsman = ParserPool(settings.ingestion.parser, handler=_DRAUGHTSMAN)
    pictures: list[PagePicture] = []
    try:
        for number in range(1, count + 1):
            with tempfile.TemporaryDirectory() as folder:
                instructions = {"page_number": number, "dpi": _DPI, "hides_secrets": False}
                png = await draw(draughtsman, file, file.name, Path(folder), instructions, password)
            pictures.append(PagePicture(number, png))
    finally:
        await draughtsman.close()
    return pictures


def offline_cutter(settings: Settings) -> SymbolicCutter:
    """Return the deployment's chunker and symboliser, with a key that is nobody's."""
    encoder = load_encoder(settings.models)
    language = load_language(_KEY, settings.symbols.folder)
    return SymbolicCutter(language, encoder.count_tokens, encoder.info.max_tokens, settings.chunk)


def print_preview(shown: Preview) -> None:
    """Print blocks and chunks in full."""
    parsed, report = shown.parsed, shown.report
    facts = [f"format {parsed.format}", f"title {shown.title!r}"]
    facts += [counted(parsed.page_count, "page")] if parsed.page_count is not None else []
    facts += [f"encoding {parsed.encoding}"] if parsed.encoding else []
    facts += [f"{counted(report.ocr_pages, 'page')} by OCR"] if report.ocr_pages else []
    out.print(" · ".join(facts), markup=False)
    for note in parsed.notes:
        out.print(f"note: {note}", markup=False)
    for inside in parsed.attachments:
        out.print(f"inside: {inside.name} ({inside.size_bytes} bytes)", markup=False)
    blocks = Table("#", "block", "level", "page", "text", box=None, title=counted(len(parsed.blocks), "block"))
    for number, block in enumerate(parsed.blocks):
        level, page = str(block.level or ""), str(block.page_number or "")
        blocks.add_row(str(number), block.kind, level, page, _short(block.text))
    out.print(blocks)
    out.print(
        f"\n{len(shown.chunks)} chunks, {report.tokens.median} tokens at the median, {report.tokens.largest} at most"
    )
    for chunk in shown.chunks:
        out.print(f"\n── {_head(chunk)}", markup=False)
        out.print(chunk.text, markup=False)


def _head(chunk: Chunk) -> str:
    parts = [f"chunk {chunk.ordinal}", chunk.kind, f"{chunk.token_count} tokens"]
    if chunk.page_start is not None:
        last = chunk.page_end or chunk.page_start
        parts.append(f"p. {chunk.page_start}" + (f"–{last}" if last != chunk.page_start else ""))
    if chunk.speaker:
        parts.append(chunk.speaker)
    if chunk.start_s is not None:
        parts.append(f"{chunk.start_s:g} s")
    if chunk.heading_path:
        parts.append(" > ".join(chunk.heading_path))
    return " · ".join(parts)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"
