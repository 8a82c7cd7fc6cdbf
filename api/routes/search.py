"""Search without an answer, with everything that explains it."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter

from api.auth import Caller
from api.container import Container, Wired
from api.models import AddedView, CandidateView, FoundDocuments, SearchAnswer, SearchBody
from retrieval.documents_search import by_document
from retrieval.filters import read_filter
from retrieval.labels import LabelBook
from retrieval.search_result import SearchResult
from retrieval.types import Principal

router = APIRouter(prefix="/v1/search", tags=["search"])


_DOCUMENTS = 10
_PASSAGES = 50
"""Looked at to find documents."""


@router.post("")
async def search(body: SearchBody, caller: Caller, wired: Wired) -> SearchAnswer:
    """Return the best passages and how they were found."""
    query, found = await _found(body, caller, wired, body.top_k)
    return SearchAnswer(
        query=query,
        passages=tuple(found.passages),
        candidates=tuple(CandidateView.of(c) for c in found.candidates),
        dropped={d.candidate.chunk.chunk_id: d.reason for d in found.dropped},
        added=tuple(AddedView(chunk_id=a.chunk_id, reason=a.reason, of=a.of) for a in found.added),
        latency_ms=found.latencies_ms,
        cached=found.cached,
        encoder=wired.encoder.info.name,
        reranker=wired.reranker.name,
    )


@router.post("/documents")
async def search_documents(body: SearchBody, caller: Caller, wired: Wired) -> FoundDocuments:
    """Return the documents that fit a question, each with its best passages; `top_k` counts documents."""
    query, found = await _found(body, caller, wired, _PASSAGES)
    return FoundDocuments(query=query, documents=tuple(by_document(found.passages, body.top_k or _DOCUMENTS)))


async def _found(body: SearchBody, caller: Principal, wired: Container, top_k: int | None) -> tuple[str, SearchResult]:
    query, *also = (wired.language.symbolise(text, tenant=caller.tenant).text for text in (body.query, *body.queries))
    found = await wired.searcher.search(
        query,
        caller,
        book=LabelBook(),
        filter=read_filter(body.filter, caller.tenant, wired.language),
        top_k=top_k,
        base_date=body.base_date or datetime.now(UTC).date(),
        also=tuple(also),
    )
    return query, found
