"""Notebooks: Markdown cells through the Markdown parser, code, and what it printed. Pictures are left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import nbformat
from nbformat.validator import NotebookValidationError

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.text.decoding import decode
from ingest.parsers.web.html import html_blocks
from ingest.parsers.text.markdown import markdown_blocks
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_MAX_OUTPUT = 4000
"""Characters kept of one output: logs and progress bars are no knowledge."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def parse_notebook(
    path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET
) -> ParsedDocument:
    """Parse a Jupyter notebook of any version that nbformat knows.

    Raises:
        CorruptDocumentError: no notebook, or nested too deeply.
        NoTextError: cells, but none with text.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    reader = _Reader()
    try:
        notebook = _load(decoded.text)
        blocks = tuple(block for cell in notebook["cells"] for block in reader.read(cell))
        title = str(notebook.get("metadata", {}).get("title") or "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, NotebookValidationError) as exc:
        raise CorruptDocumentError(f"{display_name}: the notebook cannot be read") from exc
    if not blocks:
        raise NoTextError(f"{display_name}: the notebook has no text")
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return ParsedDocument(
        format="notebook",
        blocks=blocks,
        title=title or heading,
        encoding=decoded.encoding,
        notes=(*damage_notes(decoded), *reader.notes()),
    )


def _load(text: str) -> dict[str, Any]:
    """Bring the notebook to version 4. Its schema is not enforced: a wrong cell id loses nobody's text."""
    raw: dict[str, Any] = json.loads(text)
    if raw.get("nbformat") == 4:
        return raw
    converted = nbformat.convert(nbformat.from_dict(raw), 4)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return cast("dict[str, Any]", converted)


class _Reader:
    """Reads cells and counts what it leaves out."""

    def __init__(self) -> None:
        self._pictures = self._cut = 0

    def read(self, cell: dict[str, Any]) -> Iterator[Block]:
        source = _joined(cell.get("source", ""))
        kind = cell.get("cell_type")
        if kind == "markdown":
            yield from markdown_blocks(source)
        elif kind == "code":
            yield from _code(source)
            for output in cell.get("outputs", ()):
                yield from self._output(output)
        else:
            yield from _code(source)

    def notes(self) -> tuple[str, ...]:
        found = ((self._pictures, "pictures and widgets were left out"), (self._cut, "long outputs were cut"))
        return tuple(f"{count} {words}" for count, words in found if count)

    def _output(self, output: dict[str, Any]) -> Iterator[Block]:
        if output.get("output_type") == "error":
            yield from self._text(f"{output.get('ename', '')}: {output.get('evalue', '')}")
            return
        if "text" in output:
            yield from self._text(_joined(output["text"]))
            return
        bundle: dict[str, Any] = output.get("data", {})
        if "text/markdown" in bundle:
            yield from markdown_blocks(_joined(bundle["text/markdown"])[:_MAX_OUTPUT])
        elif "<table" in _joined(bundle.get("text/html", "")):
            yield from html_blocks(_joined(bundle["text/html"])[: 16 * _MAX_OUTPUT])
        elif "text/plain" in bundle and not any(kind.startswith(("image/", "video/")) for kind in bundle):
            yield from self._text(_joined(bundle["text/plain"]))
        else:
            self._pictures += bool(bundle)

    def _text(self, text: str) -> Iterator[Block]:
        text = _ANSI.sub("", text)
        self._cut += len(text) > _MAX_OUTPUT
        yield from _code(text[:_MAX_OUTPUT])


def _joined(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _code(source: str) -> Iterator[Block]:
    text = source.strip("\n").rstrip()
    if text.strip():
        yield Block(kind="code", text=text)
