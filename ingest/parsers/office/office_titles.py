"""Whether a title in a file's properties is one: programs write their own words there."""

from __future__ import annotations

import re

_EMPTY_TITLE = re.compile(
    r"(?:microsoft\s+(?:word|powerpoint|office\s+word)\s*[-–]\s.*"
    r"|(?:word|powerpoint|microsoft\s+word)[\s-]*(?:document|presentation|slides)"
    r"|(?:power\s?point|word)\s*(?:演示文稿|簡報|文档|文件)|演示文稿\s*\d*|幻灯片\s*\d+|投影片\s*\d+"
    r"|slide\s*\d+|(?:pptx?|word)?\s*template|document\s*\d*|presentation\s*\d*|untitled(?:\s*\d+)?|无标题|文档\s*\d+"
    r"|.*\.(?:docx?|pptx?|odt|odp|rtf|dotx?|potx?|tmp))",
    re.I,
)


def own_title(title: str | None) -> str:
    """Return a title from a file's properties; empty where the program wrote it (`PowerPoint Presentation`)."""
    text = " ".join((title or "").split())
    return "" if _EMPTY_TITLE.fullmatch(text) else text
