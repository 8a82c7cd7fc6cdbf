"""From a reranked chunk to a passage: its confidence, and the fixed form in which the model reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from retrieval.confidence import UNFITTED, confidence_of
from retrieval.labels import format_tag
from retrieval.neutralise import neutralise, neutralise_line
from retrieval.period_match import match_periods
from retrieval.types import Chunk, Confidence, Passage

__all__ = ["confidence_of", "format_passage", "make_passage", "neutralise"]

_CONFIDENCE_ZH: Final[dict[Confidence, str]] = {"high": "高", "medium": "中", "low": "低"}


def make_passage(
    label: str, chunk: Chunk, score: float, asked: Sequence[str], stated: Sequence[str], *, low: float = UNFITTED
) -> Passage:
    """Make a passage of a chunk; `asked` and `stated` are normal forms of periods, `score` and `low` are 0 to 1."""
    period_match = match_periods(asked, stated)
    return Passage(
        label=label,
        chunk=chunk,
        score=score,
        confidence=confidence_of(chunk.authority, score, period_match, low),
        period_match=period_match,
        asked_periods=tuple(asked),
        stated_periods=tuple(stated),
    )


def format_passage(passage: Passage, language: Literal["zh", "en"]) -> str:
    """Return the one form in which a passage enters a prompt.

    The only tags in it are the passage's own and those of passages it disagrees with, whatever its
    document says of itself.
    """
    chunk = passage.chunk
    tag, text = format_tag(passage.label), neutralise(chunk.text)
    title, issuer = neutralise_line(chunk.title), neutralise_line(chunk.issuer)
    if language == "zh":
        source = f"《{title or '无标题'}》" + (f"（{issuer}）" if issuer else "") + _place_zh(chunk)
        return (
            f"【知识来源】{source}  {tag}\n【关键内容】{text}\n"
            f"{_context(passage, '【上下文】前文：', '【上下文】后文：')}"
            f"【置信度】{_CONFIDENCE_ZH[passage.confidence]}（{'，'.join(_reasons_zh(passage))}）"
            f"{_notes_zh(passage)}"
        )
    source = f'"{title or "Untitled"}"' + (f" ({issuer})" if issuer else "") + _place_en(chunk)
    return (
        f"[KNOWLEDGE SOURCE] {source}  {tag}\n[KEY CONTENT] {text}\n"
        f"{_context(passage, '[CONTEXT] before: ', '[CONTEXT] after: ')}"
        f"[CONFIDENCE] {passage.confidence} ({', '.join(_reasons_en(passage))})"
        f"{_notes_en(passage)}"
    )


def _context(passage: Passage, before: str, after: str) -> str:
    parts = ((before, passage.context_before), (after, passage.context_after))
    return "".join(f"{mark}{neutralise(text)}\n" for mark, text in parts if text)


def _notes_zh(passage: Passage) -> str:
    """Say which edition this is where it is not the newest, and which sources say otherwise."""
    notes = ""
    since = passage.chunk.effective_from
    if passage.superseded_from is not None:
        start = f"自 {since} 起，" if since else ""
        notes += f"\n【有效期】非最新版本：{start}至 {passage.superseded_from} 前有效，此后由新版本取代"
    if passage.conflicts_with:
        others = "、".join(format_tag(label) for label in passage.conflicts_with)
        own = f"{passage.chunk.authority}，{f'{since} 起生效' if since else '未注明生效日期'}"
        notes += f"\n【说法冲突】同一事项的数值与 {others} 不同；本来源：{own}"
    return notes


def _notes_en(passage: Passage) -> str:
    notes = ""
    since = passage.chunk.effective_from
    if passage.superseded_from is not None:
        start = f"from {since} " if since else ""
        notes += (
            f"\n[VALIDITY] not the newest edition: in force {start}until {passage.superseded_from}, replaced after that"
        )
    if passage.conflicts_with:
        others = ", ".join(format_tag(label) for label in passage.conflicts_with)
        own = f"{passage.chunk.authority}, {f'in force from {since}' if since else 'no date given'}"
        notes += f"\n[CONFLICT] {others} gives another value for the same thing; this source: {own}"
    return notes


def _place_zh(chunk: Chunk) -> str:
    if chunk.page_start is not None:
        return f"第 {_range(chunk.page_start, chunk.page_end)} 页"
    if chunk.start_s is not None:
        return f"{_clock(chunk.start_s)} 起" + (f"，{neutralise_line(chunk.speaker)} 发言" if chunk.speaker else "")
    return f"第 {chunk.section_number} 节" if chunk.section_number is not None else ""


def _place_en(chunk: Chunk) -> str:
    if chunk.page_start is not None:
        pages = _range(chunk.page_start, chunk.page_end)
        return f", page {pages}" if "–" not in pages else f", pages {pages}"
    if chunk.start_s is not None:
        return f", at {_clock(chunk.start_s)}" + (
            f", {neutralise_line(chunk.speaker)} speaking" if chunk.speaker else ""
        )
    return f", section {chunk.section_number}" if chunk.section_number is not None else ""


def _reasons_zh(passage: Passage) -> list[str]:
    asked, stated = _shown(passage.asked_periods, "、"), _shown(passage.stated_periods, "、")
    period = {
        "not_asked": [],
        "match": [f"期间匹配 {asked}"],
        "mismatch": [f"期间不符：所问 {asked}，本段为 {stated}"],
        "unknown": [f"期间未确认：所问 {asked}"],
    }
    return [passage.chunk.authority, f"重排分 {passage.score:.2f}", *period[passage.period_match]]


def _reasons_en(passage: Passage) -> list[str]:
    asked, stated = _shown(passage.asked_periods, ", "), _shown(passage.stated_periods, ", ")
    period = {
        "not_asked": [],
        "match": [f"period matches {asked}"],
        "mismatch": [f"other period: asked {asked}, the passage is about {stated}"],
        "unknown": [f"period not confirmed: asked {asked}"],
    }
    return [passage.chunk.authority, f"rerank score {passage.score:.2f}", *period[passage.period_match]]


def _shown(normals: Sequence[str], separator: str) -> str:
    """Write normal forms for people, at most four: `2024Q3` → `2024-Q3`."""
    shown = [re.sub(r"(?<=\d{4})(?=[QH]\d)", "-", normal) for normal in normals[:4]]
    return separator.join(shown + (["…"] if len(normals) > len(shown) else []))


def _range(first: int, last: int | None) -> str:
    return str(first) if last is None or last <= first else f"{first}–{last}"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute:02}:{second:02}"
