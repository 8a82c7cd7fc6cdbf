"""The extractive model's own words, in Chinese and English."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from retrieval.types import Value


class Wording(Value):
    """Fixed sentences of one language."""

    language: Literal["zh", "en"]
    searching: str
    answering: str
    nothing_found: str
    beside: str
    calculating: str
    only_from_documents: str
    not_in_documents: str
    nearest: str

    def place(self, title: str, page: int | None) -> str:
        """Name a document and, where its format has pages, the page."""
        if self.language == "zh":
            return f"《{title}》" + (f"第 {page} 页" if page is not None else "")
        return f"“{title}”" + (f", page {page}" if page is not None else "")

    def source(self, title: str, page: int | None) -> str:
        """Lead in a sentence taken from a document."""
        if self.language == "zh":
            return f"{self.place(title, page)}："
        page_text = f", page {page}" if page is not None else ""
        return f"{title}{page_text}: "

    def row(self, cells: Sequence[tuple[str, str]]) -> str:
        """Spell out a table row as one sentence."""
        if self.language == "zh":
            return "，".join(f"{header}：{cell}" if header else cell for header, cell in cells) + "。"
        return ", ".join(f"{header}: {cell}" if header else cell for header, cell in cells) + "."

    def quote(self, text: str) -> str:
        """Put a verbatim sentence in quotation marks."""
        return f"“{text}”"


_ZH = Wording(
    language="zh",
    searching="问题指向文档，先检索。",
    answering="已有相关段落，引用其中最有依据的句子。",
    nothing_found="没有可引用的段落。",
    beside="这个问题不是问文档的。",
    calculating="这是一道算术题，用计算工具算。",
    only_from_documents="我只根据您的文档回答，这个问题与文档无关，所以没有检索。",
    not_in_documents="您的文档中没有找到这个问题的答案。",
    nearest="最接近的来源：",
)
_EN = Wording(
    language="en",
    searching="The question is about the documents, so I search first.",
    answering="There are relevant passages; I quote the best-supported sentences.",
    nothing_found="There is no passage to quote.",
    beside="This question is not about the documents.",
    calculating="This is arithmetic, so I compute it.",
    only_from_documents="I only answer from your documents, and this question is not about them: nothing was searched.",
    not_in_documents="The answer to this question is not in your documents.",
    nearest="Nearest sources:",
)


def wording(language: Literal["zh", "en"]) -> Wording:
    """Return the fixed sentences of a language."""
    return _ZH if language == "zh" else _EN
