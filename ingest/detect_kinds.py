"""What detection can see in a file: a format that a parser may read, and the words for a message."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.types import Format


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is. `format` is None for content that no parser will ever read."""

    format: Format | None
    words: str
    """With its article: `an EPUB book`."""

    @property
    def label(self) -> str:
        """The words without their article."""
        return self.words.removeprefix("a ").removeprefix("an ")


KINDS: dict[Format, Kind] = {
    kind.format: kind
    for kind in (
        Kind("pdf", "a PDF"),
        Kind("image", "an image"),
        Kind("docx", "a Word document (DOCX)"),
        Kind("doc", "a legacy Word document (DOC)"),
        Kind("rtf", "a rich text file (RTF)"),
        Kind("odt", "an OpenDocument text"),
        Kind("pptx", "a PowerPoint presentation (PPTX)"),
        Kind("ppt", "a legacy PowerPoint file (PPT)"),
        Kind("odp", "an OpenDocument presentation"),
        Kind("xlsx", "an Excel workbook (XLSX)"),
        Kind("xls", "a legacy Excel workbook (XLS)"),
        Kind("ods", "an OpenDocument spreadsheet"),
        Kind("csv", "a delimited table (CSV or TSV)"),
        Kind("html", "an HTML page"),
        Kind("epub", "an EPUB book"),
        Kind("feed", "an RSS or Atom feed"),
        Kind("xml", "XML"),
        Kind("eml", "an e-mail message (EML)"),
        Kind("msg", "an Outlook message (MSG)"),
        Kind("markdown", "Markdown"),
        Kind("rst", "reStructuredText"),
        Kind("org", "an Org document"),
        Kind("notebook", "a notebook"),
        Kind("text", "plain text"),
        Kind("json", "JSON"),
        Kind("sqlite", "a SQLite database"),
        Kind("srt", "SRT subtitles"),
        Kind("vtt", "WebVTT subtitles"),
        Kind("transcript", "a transcript"),
        Kind("archive", "an archive (ZIP or TAR)"),
    )
    if kind.format is not None
}
