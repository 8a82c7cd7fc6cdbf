"""Search without an answer, with everything that explains it."""

from __future__ import annotations

from fastapi import APIRouter

from api.auth import Caller
from api.container import Wired
from api.models import CandidateView, SearchAnswer, SearchBody
from retrieval.filters import read_filter
from retrieval.labels import LabelBook

router = APIRouter(prefix="/v1/search", tags=["search"])


@router.post("")
async def search(body: SearchBody, caller: Caller, wired: Wired) -> SearchAnswer:
    """Return the best passages and how they were found."""
    query = wired.language.symbolise(body.query, tenant=caller.tenant).text
    filter = read_filter(body.filter, caller.tenant, wired.language)
    found = await wired.searcher.search(query, caller, book=LabelBook(), filter=filter, top_k=body.top_k)
    return SearchAnswer(
        query=query,
        passages=tuple(found.passages),
        candidates=tuple(CandidateView.of(c) for c in found.candidates),
        dropped={d.candidate.chunk.chunk_id: d.reason for d in found.dropped},
        latency_ms=found.latencies_ms,
        cached=found.cached,
        encoder=wired.encoder.info.name,
        reranker=wired.reranker.name,
    )
