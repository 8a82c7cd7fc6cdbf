"""A passage made of plain text: what evaluation and tests audit against."""

from __future__ import annotations

from retrieval.language_id import language_of
from retrieval.types import Chunk, Passage, PeriodMatch


def plain_passage(
    label: str,
    text: str,
    *,
    title: str = "",
    heading_path: tuple[str, ...] = (),
    period_match: PeriodMatch = "not_asked",
    tenant: str = "plain",
) -> Passage:
    """Return `text` as the passage that `label` names."""
    chunk = Chunk(
        chunk_id=label,
        tenant=tenant,
        document_id="plain",
        ordinal=0,
        text=text,
        index_text=text,
        heading_path=heading_path,
        section_number=1,
        start_char=0,
        end_char=len(text),
        language=language_of(text),
        title=title,
    )
    return Passage(label=label, chunk=chunk, score=1.0, confidence="high", period_match=period_match)
