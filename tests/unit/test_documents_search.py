from __future__ import annotations

from retrieval.documents_search import by_document
from retrieval.passages import make_passage
from retrieval.types import Chunk, Passage


def passage(document_id: str, n: int, score: float) -> Passage:
    chunk = Chunk(
        chunk_id=f"{document_id}-{n}",
        tenant="t",
        document_id=document_id,
        ordinal=n,
        text="text",
        index_text="text",
        start_char=0,
        end_char=4,
        title=f"Title {document_id}",
        issuer="Finance",
        authority="approved",
    )
    return make_passage(f"doc_{document_id}_s{n}", chunk, score, (), ())


def test_documents_are_ordered_by_their_best_passage_and_hold_a_few_of_them() -> None:
    passages = [passage("aaaa", 1, 0.4), passage("bbbb", 1, 0.9), passage("aaaa", 2, 0.8), passage("cccc", 1, 0.1)]
    passages += [passage("bbbb", n, 0.2) for n in range(2, 6)]
    first, second = by_document(passages, 2)
    assert (first.document_id, first.title, first.issuer, first.authority) == (
        "bbbb",
        "Title bbbb",
        "Finance",
        "approved",
    )
    assert (first.score, second.score) == (0.9, 0.8)
    assert [p.label for p in second.passages] == ["doc_aaaa_s2", "doc_aaaa_s1"]
    assert len(first.passages) == 3


def test_no_passages_make_no_documents() -> None:
    assert by_document([], 10) == []
