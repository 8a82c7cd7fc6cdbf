"""The same chunks and questions in the pipelines of two frameworks, on qdrant-client's local mode.

Hybrid search (dense and sparse, fused by the framework) for as many candidates as the product's
channels fetch, restricted to the tenant and to what staff may see, with the vectors given: neither
encodes anything. Only tests/bench/stores.py imports this; extra `bench`.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from made_up import DIM, TENANT, Question

from retrieval.lexical import query_weights
from retrieval.types import EncodedChunk

_WARM_UP = 3
_QUESTIONS = 50
"""At 10,000 chunks each takes a second or more."""


def measure(
    chunks: Sequence[EncodedChunk], questions: Sequence[Question], top_k: int
) -> Iterator[tuple[str, list[float]]]:
    """Yield each framework's name and the milliseconds of each question."""
    warnings.simplefilter("ignore")
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"
    for name, make in (("LlamaIndex", _llama_index), ("Haystack", _haystack)):
        ask = make(chunks, top_k)
        for question in questions[:_WARM_UP]:
            assert ask(question), "the pipeline finds something"
        times: list[float] = []
        for question in questions[:_QUESTIONS]:
            began = time.perf_counter()
            ask(question)
            times.append((time.perf_counter() - began) * 1e3)
        yield name, times


def _llama_index(chunks: Sequence[EncodedChunk], top_k: int) -> Callable[[Question], Sequence[Any]]:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.retrievers import VectorIndexRetriever
    from llama_index.core.schema import QueryBundle, TextNode
    from llama_index.core.vector_stores.types import (
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
        VectorStoreQueryMode,
    )
    from llama_index.vector_stores.qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient

    written = {encoded.chunk.index_text: encoded.sparse for encoded in chunks}

    def of_documents(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
        found = [written[text] for text in texts]
        return [each.indices.tolist() for each in found], [each.values.tolist() for each in found]

    def of_queries(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
        found = [query_weights(text) for text in texts]
        return [each.indices.tolist() for each in found], [each.values.tolist() for each in found]

    store = QdrantVectorStore(
        "bench",
        client=QdrantClient(":memory:"),
        enable_hybrid=True,
        sparse_doc_fn=of_documents,
        sparse_query_fn=of_queries,
    )
    store.add([
        TextNode(
            id_=encoded.chunk.chunk_id,
            text=encoded.chunk.index_text,
            embedding=encoded.dense.tolist(),
            metadata={"tenant": encoded.chunk.tenant, "access": sorted(encoded.chunk.access)[0]},
            excluded_embed_metadata_keys=["tenant", "access"],
        )
        for encoded in chunks
    ])
    retriever = VectorIndexRetriever(
        VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(embed_dim=DIM)),
        similarity_top_k=top_k,
        sparse_top_k=top_k,
        hybrid_top_k=top_k,
        vector_store_query_mode=VectorStoreQueryMode.HYBRID,
        filters=MetadataFilters(
            filters=[
                MetadataFilter(key="tenant", value=TENANT),
                MetadataFilter(key="access", value=["everyone"], operator=FilterOperator.IN),
            ]
        ),
    )
    return lambda question: retriever.retrieve(QueryBundle(question.text, embedding=question.dense.tolist()))


def _haystack(chunks: Sequence[EncodedChunk], top_k: int) -> Callable[[Question], Sequence[Any]]:
    from haystack import Document, Pipeline
    from haystack.dataclasses import SparseEmbedding
    from haystack_integrations.components.retrievers.qdrant import QdrantHybridRetriever
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    store = QdrantDocumentStore(":memory:", embedding_dim=DIM, use_sparse_embeddings=True, progress_bar=False)
    store.write_documents([
        Document(
            id=encoded.chunk.chunk_id,
            content=encoded.chunk.index_text,
            embedding=encoded.dense.tolist(),
            sparse_embedding=SparseEmbedding(encoded.sparse.indices.tolist(), encoded.sparse.values.tolist()),
            meta={"tenant": encoded.chunk.tenant, "access": sorted(encoded.chunk.access)},
        )
        for encoded in chunks
    ])
    filters = {
        "operator": "AND",
        "conditions": [
            {"field": "meta.tenant", "operator": "==", "value": TENANT},
            {"field": "meta.access", "operator": "in", "value": ["everyone"]},
        ],
    }
    pipeline = Pipeline()
    pipeline.add_component("retriever", QdrantHybridRetriever(store, filters=filters, top_k=top_k))

    def ask(question: Question) -> Sequence[Any]:
        terms = query_weights(question.text)
        sparse = SparseEmbedding(terms.indices.tolist(), terms.values.tolist())
        found = pipeline.run({
            "retriever": {"query_embedding": question.dense.tolist(), "query_sparse_embedding": sparse}
        })
        return found["retriever"]["documents"]

    return ask
