"""Takes a folder of real files in and counts what becomes of each: `attest eval files`.

A file is parsed in the sandbox, cut and symbolised as in the product; encoding and storing would add
nothing to the question. The folder has a `MANIFEST.jsonl` that names its sources; next to them may lie
passwords, strings that must be found, and another parser's Markdown (`…/groundtruth/NAME.md`).
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ingest.errors import IngestError, ParserLimitError
from ingest.evaluation_report import ExpectedFailure, FileResult, FilesReport, Outcome, Recall, StringFault
from ingest.evaluation_text import StringCase, includes, read_string_cases, text_of, token_recall
from ingest.preview import unstored_document
from ingest.types import ParsedDocument
from ingest.work import Cutter, Parsers

FORMATS_READ = frozenset((
    *("pdf", "docx", "doc", "pptx", "ppt", "xlsx", "xlsm", "xls", "csv", "tsv", "odt", "ods", "odp"),
    *("html", "htm", "md", "txt", "rst", "org", "ipynb", "eml", "msg", "epub", "srt", "vtt"),
    *("json", "jsonl", "sqlite"),
))
"""Endings of the formats that are promised; a feed is named by its content, not by `.xml`."""


class FilesEvaluation:
    """One evaluation over one folder."""

    def __init__(
        self,
        folder: Path,
        *,
        parsers: Parsers,
        cutter: Cutter,
        expected: Iterable[ExpectedFailure] = (),
        at_once: int = 1,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        """Take the parts.

        Args:
            folder: with `MANIFEST.jsonl`.
            parsers: the parser processes.
            cutter: chunker and symboliser.
            expected: files that cannot become ready, each with its error and the reason.
            at_once: how many files are in work at a time.
            progress: told files done and files in all.
        """
        self._folder = folder
        self._parsers = parsers
        self._cutter = cutter
        self._slots = asyncio.Semaphore(at_once)
        self._progress = progress
        self._expected = {each.path: each for each in expected}
        self._done = 0
        self._passwords: dict[str, str] = _read_json(folder / "passwords.json")
        self._cases = _string_cases(folder)

    async def run(self, every: int = 1) -> FilesReport:
        """Take in every n-th source of the manifest, with those that have strings to find."""
        entries = _manifest(self._folder)
        chosen = [e for row, e in enumerate(entries) if row % every == 0 or e["path"] in self._cases]
        results = await asyncio.gather(*(self._one(entry, len(chosen)) for entry in chosen))
        return FilesReport(files=tuple(results))

    async def _one(self, entry: dict[str, Any], total: int) -> FileResult:
        async with self._slots:
            result = await self._take_in(entry)
        self._done += 1
        self._progress(self._done, total)
        return result

    async def _take_in(self, entry: dict[str, Any]) -> FileResult:
        name = str(entry["path"])
        path = self._folder / name
        result = FileResult(path=name, ending=path.suffix.lower().lstrip(".") or "none", textless=_is_textless(entry))
        if path.suffix.lower() == ".pdf":
            result = result.model_copy(update={"openable": _opens(entry, name in self._passwords)})
        elif path.suffix.lower().lstrip(".") not in FORMATS_READ:
            result = result.model_copy(update={"openable": False})
        began = time.perf_counter()
        try:
            parsed, chunks = await self._parse_and_cut(path, name)
        except IngestError as error:
            failed: dict[str, Any] = {"outcome": _outcome_of(error), "error_code": error.code, "error": str(error)}
            exception = self._expected.get(name)
            if exception is not None and exception.code == error.code and failed["outcome"] == "failed":
                failed["expected"] = exception.reason
            elif result.openable:
                failed |= self._strings(name, "")
            return result.model_copy(update={**failed, "seconds": time.perf_counter() - began})
        text = text_of(parsed)
        return result.model_copy(
            update={
                "outcome": "ready" if chunks and text.strip() else "silent_empty",
                "seconds": time.perf_counter() - began,
                "format": parsed.format,
                "pages": parsed.page_count,
                "ocr_pages": sum(page.ocr for page in parsed.pages),
                "blocks": len(parsed.blocks),
                "chunks": chunks,
                "characters": len(text),
                "attachments": len(parsed.attachments),
                "recall": self._recall(path, text),
                **self._strings(name, text),
            }
        )

    async def _parse_and_cut(self, path: Path, name: str) -> tuple[ParsedDocument, int]:
        with tempfile.TemporaryDirectory() as folder:
            parsed = await self._parsers.parse(
                path, path.name, password=self._passwords.get(name), attachments=Path(folder)
            )
        cut = await asyncio.to_thread(self._cutter.cut, parsed, unstored_document(path.name, parsed))
        return parsed, len(cut.chunks)

    def _recall(self, path: Path, text: str) -> Recall | None:
        reference = _reference(path)
        if reference is None:
            return None
        found, wanted = token_recall(text, reference.read_text(encoding="utf-8"))
        return Recall(found=found, wanted=wanted) if wanted else None

    def _strings(self, name: str, text: str) -> dict[str, object]:
        case = self._cases.get(name)
        if case is None:
            return {}
        faults = [StringFault(kind="missing", text=each) for each in case.must_include if not includes(text, each)]
        faults += [StringFault(kind="forbidden", text=each) for each in case.must_not_include if includes(text, each)]
        return {
            "must_include": len(case.must_include),
            "must_not_include": len(case.must_not_include),
            "string_faults": tuple(faults),
        }


def _outcome_of(error: IngestError) -> Outcome:
    message = str(error)
    if isinstance(error, ParserLimitError) and "stopped after" in message:
        return "hung"
    if "crashed (signal" in message or "ended unexpectedly" in message or "the parser failed on it" in message:
        return "crashed"
    return "failed"


def read_expected(file: Path) -> list[ExpectedFailure]:
    """Read a TOML file of `[[failure]]` tables with `path`, `code` and `reason`."""
    raw = tomllib.loads(file.read_text(encoding="utf-8"))
    return [ExpectedFailure.model_validate(each) for each in raw.get("failure", ())]


def default_expected() -> Path:
    """Return the project's own list: in a checkout below `data`, else in the shared data of the environment."""
    checkout = Path(__file__).resolve().parents[1] / "data" / "evaluation"
    folder = checkout if checkout.is_dir() else Path(sys.prefix) / "share" / "attest" / "evaluation"
    return folder / "files.toml"


def _manifest(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def _read_json(file: Path) -> dict[str, str]:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _string_cases(folder: Path) -> dict[str, StringCase]:
    cases: dict[str, StringCase] = {}
    for file in sorted(folder.glob("*/must_include_plain.jsonl")):
        for case in read_string_cases(file):
            cases[f"{file.parent.name}/{case.filename}"] = case
    return cases


def _reference(path: Path) -> Path | None:
    for folder in (path.parent, path.parent.parent):
        for name in (f"{path.name}.md", f"{path.stem}.md"):
            file = folder / "groundtruth" / name
            if file.is_file():
                return file
    return None


def _opens(entry: dict[str, Any], has_password: bool) -> bool:
    """Tell whether the reader that made the manifest opened this PDF, or somebody gave a password for it."""
    return bool(entry.get("pages")) or has_password


def _is_textless(entry: dict[str, Any]) -> bool:
    """Tell whether that reader found neither a character nor a picture: there is nothing to find."""
    return entry.get("pages", 0) > 0 and entry.get("chars") == 0 and entry.get("images") == 0
