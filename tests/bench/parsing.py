"""Pages a second of parsing, beside other parsers on the same files; each contender in a process of its own.

OCR is off for all: it costs seconds a page and would hide the rest.

Run as a script it is one contender: `parsing.py NAME FILES.json` prints its figures as JSON.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

CONTENDERS = ("attest", "attest, parse only", "get_text(dict)", "pymupdf4llm", "pdfplumber")


def measure(reports: int, pages: int, contenders: list[str]) -> None:
    """Measure every contender on real PDFs and on made reports; print two tables."""
    data = Path(os.environ.get("ATTEST_EVAL_DATA", ""))
    if not (data / "files").is_dir():
        print("ATTEST_EVAL_DATA names no evaluation data: nothing to parse.\n")
        return
    import reports as maker

    with tempfile.TemporaryDirectory() as scratch:
        made = maker.write_reports(data / "tatqa" / "dev_contexts.jsonl", Path(scratch), reports, pages)
        _compare("reports made of TAT-QA", made, contenders)
        _compare("real PDFs of the evaluation files", _real(data / "files"), contenders)


def _real(folder: Path) -> list[Path]:
    entries = [json.loads(line) for line in (folder / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()]
    return [
        folder / e["path"] for e in entries if e["path"].endswith(".pdf") and e.get("chars") and not e.get("encrypted")
    ]


def _compare(name: str, files: list[Path], contenders: list[str]) -> None:
    results: dict[str, dict[str, float]] = {}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listing:
        json.dump([str(file) for file in files], listing)
        listing.flush()
        for contender in contenders:
            done = subprocess.run(
                [sys.executable, __file__, contender, listing.name], capture_output=True, text=True, check=False
            )
            if done.returncode == 0:
                results[contender] = json.loads(done.stdout.splitlines()[-1])
            else:
                print(f"{contender}: {done.stderr.strip().splitlines()[-1] if done.stderr else done.returncode}")
    ours = results.get("attest", {})
    tables = f"{100 * ours.get('table_pages', 0) / max(ours.get('pages', 1), 1):.0f} % of the pages have a table"
    print(f"{name}: {len(files)} files, {tables}\n")
    print("| parser | pages | CPU s | pages/s and core | attest is … times | peak MB | failed |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rate = ours.get("pages", 0) / ours.get("cpu_s", 1)
    for contender, r in results.items():
        own = r["pages"] / r["cpu_s"]
        times = f"{rate / own:.2f}" if own else "–"
        print(
            f"| {contender} | {r['pages']:.0f} | {r['cpu_s']:.1f} | {own:.1f} | {times} | "
            f"{r['peak_mb']:.0f} | {r['failed']:.0f} |"
        )
    print()


# ---- one contender


def _attest(cut: bool) -> Callable[[Path], tuple[int, int]]:
    from ingest.cutting import SymbolicCutter
    from ingest.errors import IngestError
    from ingest.parsers.registry import parse
    from ingest.settings import ChunkSettings, ParserSettings
    from ingest.types import Document, DocumentMeta
    from retrieval.encoders.embedded import EmbeddedEncoder
    from retrieval.symbols.language import load_language

    encoder = EmbeddedEncoder()
    cutter = SymbolicCutter(load_language(bytes(32)), encoder.count_tokens, encoder.info.max_tokens, ChunkSettings())
    limits = ParserSettings(ocr="off")
    document = Document(
        document_id="0" * 32,
        tenant="bench",
        source="bench.pdf",
        version=1,
        state="pending",
        meta=DocumentMeta(),
        title="bench",
        size_bytes=0,
        created_by="bench",
        created_at=datetime(2024, 1, 1, tzinfo=UTC),
    )

    def work(path: Path) -> tuple[int, int]:
        try:
            parsed = parse(path, "pdf", path.name, limits)
        except IngestError as exc:
            raise RuntimeError(str(exc)) from exc
        if cut:
            cutter.cut(parsed, document)
        tables = {
            page
            for block in parsed.blocks
            if block.kind == "table" and block.page_number
            for page in range(block.page_number, (block.page_end or block.page_number) + 1)
        }
        return parsed.page_count or 0, len(tables)

    return work


def _plain(path: Path) -> tuple[int, int]:
    import pymupdf

    with pymupdf.open(path) as document:
        for page in document:
            page.get_text("dict")
        return len(document), 0


def _markdown(path: Path) -> tuple[int, int]:
    import pymupdf
    import pymupdf4llm

    with pymupdf.open(path) as document:
        pages = len(document)
    pymupdf4llm.to_markdown(str(path), show_progress=False, use_ocr=False)
    return pages, 0


def _plumber(path: Path) -> tuple[int, int]:
    import pdfplumber

    with pdfplumber.open(path) as document:
        for page in document.pages:
            page.extract_text()
            page.extract_tables()
            page.close()
        return len(document.pages), 0


def _contender(name: str) -> Callable[[Path], tuple[int, int]]:
    if name.startswith("attest"):
        return _attest(cut=name == "attest")
    return {"get_text(dict)": _plain, "pymupdf4llm": _markdown, "pdfplumber": _plumber}[name]


def _run(name: str, listing: Path) -> None:
    work = _contender(name)
    files = [Path(file) for file in json.loads(listing.read_text(encoding="utf-8"))]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        work(files[0])  # what is imported and loaded once counts for no page
    pages = tables = failed = 0
    before = _cpu()
    began = time.perf_counter()
    for file in files:
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                done, with_table = work(file)
            except Exception:
                failed += 1
                continue
        pages += done
        tables += with_table
    print(
        json.dumps({
            "pages": pages,
            "table_pages": tables,
            "failed": failed,
            "cpu_s": _cpu() - before,
            "wall_s": time.perf_counter() - began,
            "peak_mb": _peak_mb(),
        })
    )


def _peak_mb() -> float:
    """Return the highest resident memory of this process; `ru_maxrss` would begin at its parent's."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def is_installed(name: str) -> bool:
    """Tell whether a contender's package is there."""
    package = {"pymupdf4llm": "pymupdf4llm", "pdfplumber": "pdfplumber"}.get(name)
    return package is None or importlib.util.find_spec(package) is not None


if __name__ == "__main__":
    _run(sys.argv[1], Path(sys.argv[2]))
