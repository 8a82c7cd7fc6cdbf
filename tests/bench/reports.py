"""Makes report-like PDFs: headings, paragraphs in running text, and a real table on most pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf

_WIDTH, _HEIGHT, _MARGIN, _LINE, _SIZE = 595.0, 842.0, 56.0, 12.5, 9.5


class _Sheet:
    """Writes from the top of a page to its bottom, then goes on on the next."""

    def __init__(self) -> None:
        self.document = pymupdf.open()
        self.regular, self.bold = pymupdf.Font("helv"), pymupdf.Font("hebo")
        self._turn()

    def _turn(self) -> None:
        self.page = self.document.new_page(width=_WIDTH, height=_HEIGHT)
        self.y = _MARGIN + 20
        number = len(self.document)
        self.line(_MARGIN, 30, "Annual report 2024", self.regular, 8)
        self.line(_WIDTH / 2, _HEIGHT - 28, str(number), self.regular, 8)

    def line(self, x: float, y: float, text: str, font: pymupdf.Font, size: float) -> None:
        writer = pymupdf.TextWriter(self.page.rect)
        writer.append((x, y), text, font, size)
        writer.write_text(self.page)

    def need(self, height: float) -> None:
        if self.y + height > _HEIGHT - _MARGIN:
            self._turn()

    def heading(self, text: str) -> None:
        self.need(60)
        self.y += 14
        self.line(_MARGIN, self.y, text[:80], self.bold, 13)
        self.y += 10

    def paragraph(self, text: str) -> None:
        for part in _wrapped(text, self.regular, _SIZE, _WIDTH - 2 * _MARGIN):
            self.need(_LINE)
            self.y += _LINE
            self.line(_MARGIN, self.y, part, self.regular, _SIZE)
        self.y += 6

    def table(self, rows: list[list[str]], *, ruled: bool) -> None:
        columns = max(len(row) for row in rows)
        first = 190.0
        other = (_WIDTH - 2 * _MARGIN - first) / max(columns - 1, 1)
        self.y += 6
        for row in rows:
            cells = [
                _wrapped(" ".join(c.split()), self.regular, 8, (other if i else first) - 8) for i, c in enumerate(row)
            ]
            height = max(len(cell) for cell in cells) * 10 + 6
            self.need(height)
            x = _MARGIN
            for column, cell in enumerate(cells):
                width = other if column else first
                if ruled:
                    self.page.draw_rect((x, self.y, x + width, self.y + height), width=0.5)
                for number, part in enumerate(cell):
                    shift = width - 8 - self.regular.text_length(part, 8) if column else 0
                    self.line(x + 4 + shift, self.y + 10 + number * 10, part, self.regular, 8)
                x += width
            self.y += height
        self.y += 10


def write_reports(contexts: Path, folder: Path, count: int, pages: int) -> list[Path]:
    """Write `count` PDFs of at least `pages` pages each out of TAT-QA's contexts, every second table ruled."""
    source = _endless(contexts)
    paths: list[Path] = []
    for number in range(count):
        sheet = _Sheet()
        section = 0
        while len(sheet.document) < pages:
            context = next(source)
            section += 1
            sheet.heading(f"{section}. {context['paragraphs'][0]['text'].split('.')[0]}")
            for paragraph in context["paragraphs"]:
                sheet.paragraph(paragraph["text"])
            sheet.table(context["table"], ruled=section % 2 == 0)
        path = folder / f"report-{number}.pdf"
        sheet.document.save(str(path), deflate=True)
        sheet.document.close()
        paths.append(path)
    return paths


def _endless(contexts: Path) -> Iterator[dict[str, Any]]:
    records = [json.loads(line) for line in contexts.read_text(encoding="utf-8").splitlines()]
    while True:
        yield from records


def _wrapped(text: str, font: pymupdf.Font, size: float, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and font.text_length(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]
