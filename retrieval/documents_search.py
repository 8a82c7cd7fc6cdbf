"""Which documents fit a question: the reranked passages, grouped by document. Pure functions on a search result."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.types import Authority, Passage, Value


class FoundDocument(Value):
    """A document that holds passages for a question."""

    document_id: str
    title: str
    issuer: str = ""
    authority: Authority = "unknown"
    score: float
    """Of its best passage."""
    passages: tuple[Passage, ...]
    """Best first."""


def by_document(passages: Sequence[Passage], limit: int, *, each: int = 3) -> list[FoundDocument]:
    """Group passages by document, the document with the best passage first; at most `each` passages of one.

    Equal scores keep the order in which search gave them.
    """
    groups: dict[str, list[Passage]] = {}
    for passage in sorted(passages, key=lambda p: -p.score):
        groups.setdefault(passage.chunk.document_id, []).append(passage)
    return [
        FoundDocument(
            document_id=document_id,
            title=group[0].chunk.title,
            issuer=group[0].chunk.issuer,
            authority=group[0].chunk.authority,
            score=group[0].score,
            passages=tuple(group[:each]),
        )
        for document_id, group in list(groups.items())[:limit]
    ]
