"""The contract of `VectorStore`, on the fake, the in-process engine and qdrant-client.

A Qdrant server takes part when ATTEST_TEST_QDRANT_URL names one.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from pathlib import Path
from uuid import NAMESPACE_URL, uuid4, uuid5

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, QdrantClient

from retrieval.encoder import EncoderInfo
from retrieval.errors import IndexMismatchError, StoreUnavailableError
from retrieval.settings import StoreSettings
from retrieval.store import VectorStore
from retrieval.stores.edge import EdgeStore
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.stores.qdrant import QdrantStore
from retrieval.types import Chunk, EncodedChunk, Principal, Scope, SearchFilter, SparseVector, Symbol

ENCODER = EncoderInfo(name="hash", revision="1", dim=4, max_tokens=512, sparse="bm25")
LEXICAL = EncoderInfo(name="lexical", revision="1", dim=1, max_tokens=512, sparse="bm25", dense_searchable=False)
PLAIN_WEIGHTS = ENCODER.model_copy(update={"sparse": "lexical_weights"})

KINDS = ["memory", "edge", "qdrant", "server"]
Stores = Callable[[], VectorStore]
"""Makes a store on the same data each time it is called."""


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, folder: Path) -> Iterator[Stores]:
    with store_factory(request.param, folder) as factory:
        yield factory


@contextmanager
def store_factory(kind: str, folder: Path) -> Iterator[Stores]:
    if kind == "edge":
        yield lambda: EdgeStore(folder, StoreSettings())
    elif kind == "memory":
        memory = InMemoryVectorStore()
        yield lambda: memory
    elif kind == "qdrant":
        local = StoreSettings(store="qdrant", qdrant_url=":memory:")
        client = AsyncQdrantClient(location=":memory:")
        yield lambda: QdrantStore(local, client)
    else:
        url = os.environ.get("ATTEST_TEST_QDRANT_URL")
        if not url:
            pytest.skip("ATTEST_TEST_QDRANT_URL names no Qdrant server")
        there = StoreSettings(store="qdrant", qdrant_url=url, collection=f"test-{uuid4()}")
        yield lambda: QdrantStore(there)
        QdrantClient(url).delete_collection(there.collection)


@asynccontextmanager
async def opened(stores: Stores, encoder: EncoderInfo = ENCODER) -> AsyncIterator[VectorStore]:
    store = stores()
    await store.open(encoder)
    try:
        yield store
    finally:
        await store.close()


def chunk(document_id: str = "d1", ordinal: int = 0, tenant: str = "acme", **fields: object) -> Chunk:
    values: dict[str, object] = {
        "chunk_id": str(uuid5(NAMESPACE_URL, f"{tenant}/{document_id}/{ordinal}")),
        "tenant": tenant,
        "document_id": document_id,
        "ordinal": ordinal,
        "text": f"text {ordinal} of {document_id}",
        "index_text": f"index text {ordinal} of {document_id}",
        "start_char": 0,
        "end_char": 10,
    }
    return Chunk.model_validate(values | fields)


def encoded(chunk: Chunk, dense: Sequence[float] = (1, 0, 0, 0), terms: dict[int, float] | None = None) -> EncodedChunk:
    return EncodedChunk(chunk, np.asarray(dense, dtype=np.float32), sparse(terms or {7: 1.0}))


def sparse(terms: dict[int, float]) -> SparseVector:
    return SparseVector(np.asarray(list(terms), dtype=np.uint32), np.asarray(list(terms.values()), dtype=np.float32))


def symbol(token: str) -> Symbol:
    return Symbol(cls="code", kind="risk", normal=token, token=token, start=0, end=2, surface="C1")


def scope(tenant: str = "acme", user: str = "ann", groups: Sequence[str] = (), **narrow: object) -> Scope:
    principal = Principal(tenant=tenant, user=user, groups=frozenset(groups))
    return Scope.of(principal, SearchFilter.model_validate(narrow))


async def publish(store: VectorStore, *chunks: EncodedChunk) -> None:
    await store.write(chunks)
    for tenant, document_id in {(c.chunk.tenant, c.chunk.document_id) for c in chunks}:
        await store.publish(tenant, document_id)


async def seen_everywhere(store: VectorStore, within: Scope) -> list[set[str]]:
    """Ids that each way of asking finds; all ways ask for what every test chunk has."""
    dense = await store.dense(np.asarray([1, 1, 1, 1], dtype=np.float32), within, 100)
    by_sparse = await store.sparse(sparse({7: 1.0}), within, 100)
    symbols = await store.symbols(frozenset({"[ALL]"}), within, 100)
    scanned = [c async for batch in store.scan(within, batch=2) for c in batch]
    return [
        {hit.chunk.chunk_id for hit in dense},
        {hit.chunk.chunk_id for hit in by_sparse},
        {hit.chunk.chunk_id for hit in symbols},
        {c.chunk_id for c in scanned},
    ]


# ---- writing


async def test_store_staged_chunks_are_invisible_until_published(stores: Stores) -> None:
    async with opened(stores) as store:
        await store.write([encoded(chunk(symbols=(symbol("[ALL]"),)))])
        assert await seen_everywhere(store, scope()) == [set()] * 4
        assert await store.count(scope()) == 0
        assert await store.document_chunks("d1", scope()) == []
        assert await store.chunk_ids("acme", "d1") == {chunk().chunk_id}
        assert await store.publish("acme", "d1") == 1
        assert await seen_everywhere(store, scope()) == [{chunk().chunk_id}] * 4
        assert await store.count(scope()) == 1


async def test_store_writing_twice_doubles_nothing_and_keeps_the_last(stores: Stores) -> None:
    async with opened(stores) as store:
        await store.write([encoded(chunk()), encoded(chunk(text="second"))])
        await store.write([encoded(chunk(text="third"))])
        await store.publish("acme", "d1")
        assert [c.text for c in await store.document_chunks("d1", scope())] == ["third"]


async def test_store_rewriting_a_published_chunk_keeps_it_published_with_new_content(stores: Stores) -> None:
    old = chunk(effective_to=date(2020, 1, 1), labels={"old"})
    async with opened(stores) as store:
        await publish(store, encoded(old, dense=(1, 0, 0, 0), terms={7: 1.0}))
        new = old.model_copy(update={"effective_to": None, "labels": frozenset({"new"})})
        await store.write([encoded(new, dense=(0, 1, 0, 0), terms={8: 1.0}), encoded(chunk(ordinal=1))])
        assert await store.document_chunks("d1", scope()) == [new]
        assert await store.count(scope(labels={"old"})) == 0
        assert await store.count(scope(labels={"new"}, as_of=date(2024, 1, 1))) == 1
        [hit] = await store.dense(np.asarray([0, 1, 0, 0], dtype=np.float32), scope(), 5)
        assert hit.score == pytest.approx(1.0, abs=1e-5)
        assert await store.sparse(sparse({7: 1.0}), scope(), 5) == []
        assert len(await store.sparse(sparse({8: 1.0}), scope(), 5)) == 1


async def test_store_writes_more_than_one_batch(stores: Stores) -> None:
    async with opened(stores) as store:
        await store.write([encoded(chunk(ordinal=n)) for n in range(150)])
        assert len(await store.chunk_ids("acme", "d1")) == 150
        assert await store.publish("acme", "d1") == 150
        assert [c.ordinal for c in await store.document_chunks("d1", scope())] == list(range(150))


async def test_store_accepts_an_empty_write(stores: Stores) -> None:
    async with opened(stores) as store:
        await store.write([])
        assert await store.count(scope()) == 0
        assert await store.publish("acme", "d1") == 0


async def test_store_refuses_a_chunk_id_of_another_document(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(store, encoded(chunk()))
        foreign = chunk(tenant="other").model_copy(update={"chunk_id": chunk().chunk_id})
        with pytest.raises(ValueError, match="another document"):
            await store.write([encoded(foreign)])
        assert await store.document_chunks("d1", scope()) == [chunk()]


async def test_store_refuses_vectors_of_another_dimension(stores: Stores) -> None:
    async with opened(stores) as store:
        with pytest.raises(ValueError, match="3 dimensions"):
            await store.write([encoded(chunk(), dense=(1, 0, 0))])
        with pytest.raises(ValueError, match="3 dimensions"):
            await store.dense(np.ones(3, dtype=np.float32), scope(), 3)


async def test_store_gives_back_the_whole_chunk(stores: Stores) -> None:
    whole = chunk(
        text="客户 [PHONE_k3f9a2mq7x4tw] 的金额为 2.38 亿元",
        heading_path=("一、概述", "Summary"),
        page_start=5,
        page_end=6,
        boxes=({"page_number": 5, "x0": 1.5, "y0": 2, "x1": 3, "y1": 4},),
        language="zh",
        symbols=(symbol("[RISK_C1]"), symbol("[CNY_238000000]")),
        token_count=12,
        kind="table",
        title="2024 年 Q3 财务简报",
        issuer="财务部",
        authority="official",
        effective_from=date(2024, 7, 1),
        effective_to=date(2024, 9, 30),
        labels={"finance", "q3"},
        access={"group:finance"},
    )
    async with opened(stores) as store:
        await publish(store, encoded(whole))
        assert await store.document_chunks("d1", scope(groups=["finance"])) == [whole]


# ---- taking away


async def test_store_prune_deletes_only_what_is_not_kept(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(store, *(encoded(chunk(ordinal=n)) for n in range(3)), encoded(chunk("d2")))
        keep = {chunk(ordinal=1).chunk_id, str(uuid4())}
        assert await store.prune("acme", "d1", keep) == 2
        assert await store.prune("acme", "d1", keep) == 0
        assert await store.chunk_ids("acme", "d1") == {chunk(ordinal=1).chunk_id}
        assert await store.count(scope()) == 2


async def test_store_delete_counts_staged_and_published_chunks_of_one_tenant(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(store, encoded(chunk()), encoded(chunk(tenant="other")))
        await store.write([encoded(chunk(ordinal=1))])
        assert await store.delete("acme", "d1") == 2
        assert await store.delete("acme", "d1") == 0
        assert await store.chunk_ids("acme", "d1") == set()
        assert await store.count(scope("other")) == 1


# ---- asking


async def test_store_shows_nothing_of_another_tenant(stores: Stores) -> None:
    mark = (symbol("[ALL]"),)
    async with opened(stores) as store:
        await publish(store, encoded(chunk(symbols=mark)), encoded(chunk(tenant="other", symbols=mark)))
        assert await seen_everywhere(store, scope("other")) == [{chunk(tenant="other").chunk_id}] * 4
        assert await seen_everywhere(store, scope("nobody")) == [set()] * 4


async def test_store_access_list_decides_who_sees(stores: Stores) -> None:
    mark = (symbol("[ALL]"),)
    lists = [{"everyone"}, {"user:ann"}, {"group:hr", "user:bob"}, set()]
    chunks = [chunk(ordinal=n, access=access, symbols=mark) for n, access in enumerate(lists)]
    async with opened(stores) as store:
        await publish(store, *map(encoded, chunks))
        for within, ordinals in [
            (scope(user="ann"), {0, 1}),
            (scope(user="bob"), {0, 2}),
            (scope(user="eve", groups=["hr"]), {0, 2}),
            (scope(user="eve"), {0}),
        ]:
            expected = {chunks[n].chunk_id for n in ordinals}
            assert await seen_everywhere(store, within) == [expected] * 4
            assert await store.count(within) == len(expected)
            assert {c.chunk_id for c in await store.document_chunks("d1", within)} == expected


async def test_store_labels_are_anded_and_ownership_never_widens_them(stores: Stores) -> None:
    mark = (symbol("[ALL]"),)
    async with opened(stores) as store:
        await publish(
            store,
            encoded(chunk("d1", labels={"hr"}, access={"user:ann"}, symbols=mark)),
            encoded(chunk("d2", labels={"finance"}, access={"user:ann"}, symbols=mark)),
            encoded(chunk("d3", labels={"hr", "finance"}, access={"user:ann"}, symbols=mark)),
        )
        both, one = scope(labels={"hr", "finance"}), scope(labels={"hr"})
        assert await seen_everywhere(store, both) == [{chunk("d3").chunk_id}] * 4
        assert await seen_everywhere(store, one) == [{chunk("d1").chunk_id, chunk("d3").chunk_id}] * 4
        assert await seen_everywhere(store, scope(labels={"hr"}, document_ids={"d2"})) == [set()] * 4


async def test_store_an_empty_set_of_documents_matches_nothing(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(store, encoded(chunk(symbols=(symbol("[ALL]"),))))
        nothing = scope(document_ids=frozenset())
        assert await seen_everywhere(store, nothing) == [set()] * 4
        assert await store.count(nothing) == 0
        assert await store.document_chunks("d1", nothing) == []
        assert await store.document_chunks("d1", scope(document_ids={"d2"})) == []


async def test_store_filters_language_and_authority(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(
            store,
            encoded(chunk("d1", language="zh", authority="official")),
            encoded(chunk("d2", language="en", authority="official")),
            encoded(chunk("d3", language="zh")),
        )
        assert await store.count(scope(language="zh")) == 2
        assert await store.count(scope(authority="official")) == 2
        assert await store.count(scope(language="zh", authority="official")) == 1


@pytest.mark.parametrize(
    ("day", "documents"),
    [
        (date(2023, 12, 31), {"always", "old"}),
        (date(2024, 1, 1), {"always", "new"}),
        (date(2024, 12, 31), {"always", "new"}),
        (date(2025, 1, 1), {"always"}),
    ],
)
async def test_store_as_of_finds_what_was_valid_that_day(stores: Stores, day: date, documents: set[str]) -> None:
    async with opened(stores) as store:
        await publish(
            store,
            encoded(chunk("always")),
            encoded(chunk("old", effective_to=date(2024, 1, 1))),
            encoded(chunk("new", effective_from=date(2024, 1, 1), effective_to=date(2025, 1, 1))),
        )
        found = [c.document_id async for batch in store.scan(scope(as_of=day)) for c in batch]
        assert set(found) == documents


async def test_store_dense_ranks_by_cosine(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(
            store,
            encoded(chunk("far"), dense=(0, 0, 1, 0)),
            encoded(chunk("near"), dense=(1, 0, 0, 0)),
            encoded(chunk("between"), dense=(0.6, 0.8, 0, 0)),
        )
        hits = await store.dense(np.asarray([2, 0, 0, 0], dtype=np.float32), scope(), 2)
        assert [hit.chunk.document_id for hit in hits] == ["near", "between"]
        assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6], abs=1e-5)


async def test_store_dense_finds_nothing_where_the_encoder_has_no_dense_side(stores: Stores) -> None:
    async with opened(stores, LEXICAL) as store:
        await publish(store, encoded(chunk(), dense=(1,)))
        assert await store.dense(np.ones(1, dtype=np.float32), scope(), 5) == []
        assert len(await store.sparse(sparse({7: 1.0}), scope(), 5)) == 1


async def test_store_sparse_weighs_rare_terms_more_with_bm25(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(
            store,
            *(encoded(chunk(f"common{n}"), terms={1: 1.0}) for n in range(5)),
            encoded(chunk("rare"), terms={2: 0.9}),
            encoded(chunk("neither"), terms={3: 1.0}),
        )
        hits = await store.sparse(sparse({1: 1.0, 2: 1.0}), scope(), 10)
        assert hits[0].chunk.document_id == "rare"
        assert {hit.chunk.document_id for hit in hits[1:]} == {f"common{n}" for n in range(5)}
        assert await store.sparse(sparse({}), scope(), 10) == []


async def test_store_sparse_is_the_plain_dot_product_with_lexical_weights(stores: Stores) -> None:
    async with opened(stores, PLAIN_WEIGHTS) as store:
        await publish(
            store,
            *(encoded(chunk(f"common{n}"), terms={1: 1.0}) for n in range(2)),
            encoded(chunk("rare"), terms={2: 0.9}),
        )
        hits = await store.sparse(sparse({1: 1.0, 2: 1.0}), scope(), 10)
        assert [hit.score for hit in hits] == pytest.approx([1.0, 1.0, 0.9])


async def test_store_word_statistics_are_of_what_the_asker_sees(stores: Stores) -> None:
    query = sparse({1: 1.0})
    async with opened(stores) as store:
        await publish(store, *(encoded(chunk(ordinal=n), terms={1: 1.0, n + 10: 1.0}) for n in range(3)))
        before = await store.sparse(query, scope(), 10)
        hidden = (encoded(chunk("hidden", n, access={"user:bob"}), terms={5: 1.0}) for n in range(5))
        foreign = (encoded(chunk("d9", n, tenant="other"), terms={1: 1.0}) for n in range(5))
        await publish(store, *hidden, *foreign)
        assert await store.sparse(query, scope(), 10) == before


async def test_store_symbols_count_the_tokens_a_chunk_carries(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(
            store,
            encoded(chunk("one", symbols=(symbol("[RISK_C1]"), symbol("[RISK_C1]")))),
            encoded(chunk("both", symbols=(symbol("[RISK_C1]"), symbol("[PERIOD_2024Q3]")))),
            encoded(chunk("other", symbols=(symbol("[RISK_C2]"),))),
            encoded(chunk("none")),
        )
        tokens = frozenset({"[RISK_C1]", "[PERIOD_2024Q3]"})
        hits = await store.symbols(tokens, scope(), 10)
        assert [(hit.chunk.document_id, hit.score) for hit in hits] == [("both", 2.0), ("one", 1.0)]
        assert [hit.chunk.document_id for hit in await store.symbols(tokens, scope(), 1)] == ["both"]
        assert await store.symbols(frozenset(), scope(), 10) == []


async def test_store_equal_scores_come_in_one_order(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(store, *(encoded(chunk(ordinal=n)) for n in range(5)))
        hits = await store.dense(np.asarray([1, 0, 0, 0], dtype=np.float32), scope(), 5)
        assert [hit.chunk.chunk_id for hit in hits] == sorted(hit.chunk.chunk_id for hit in hits)


# ---- opening


@pytest.mark.parametrize(
    "change",
    [{"name": "bge-m3"}, {"revision": "2"}, {"dim": 8}, {"sparse": "lexical_weights"}],
    ids=lambda change: next(iter(change)),
)
async def test_store_refuses_another_encoder_and_names_both(stores: Stores, change: dict[str, object]) -> None:
    async with opened(stores) as store:
        await publish(store, encoded(chunk()))
        other = ENCODER.model_copy(update=change)
        if isinstance(store, EdgeStore):
            await store.close()
        with pytest.raises(IndexMismatchError) as caught:
            await stores().open(other)
        message = str(caught.value)
        for info in (ENCODER, other):
            assert f"{info.name} (revision {info.revision}, {info.dim} dimensions, sparse {info.sparse})" in message
        assert "empty ATTEST_HOME" in message


async def test_store_keeps_its_data_when_it_is_opened_again(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(store, encoded(chunk()))
        await store.write([encoded(chunk(ordinal=1))])
    async with opened(stores, ENCODER.model_copy(update={"max_tokens": 100})) as store:
        assert await store.document_chunks("d1", scope()) == [chunk()]
        assert len(await store.chunk_ids("acme", "d1")) == 2


async def test_store_that_is_not_open_says_so(stores: Stores) -> None:
    store = stores()
    with pytest.raises(StoreUnavailableError, match="not open"):
        await store.count(scope())
    await store.open(ENCODER)
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailableError):
        await store.dense(np.ones(4, dtype=np.float32), scope(), 3)


# ---- equal text is encoded once


async def test_store_lends_the_vectors_of_equal_text_within_a_tenant(stores: Stores) -> None:
    text = "rates > 2024\n一年期利率为 [PERCENT_3.45]"
    async with opened(stores) as store:
        await publish(
            store, encoded(chunk(index_text=text), dense=(0, 0.6, 0.8, 0), terms={7: 1.0, 4_000_000_000: 0.5})
        )
        await store.write([encoded(chunk("staged", index_text="b"), dense=(0, 1, 0, 0))])
        await store.write([encoded(chunk("other", tenant="eve", index_text="c"))])
        found = await store.encodings("acme", [text, "b", "c", "rates", text])
        assert sorted(found) == sorted([text, "b"])
        assert found[text].dense == pytest.approx([0, 0.6, 0.8, 0])
        assert found[text].dense.dtype == np.float32
        lent = dict(zip(found[text].sparse.indices.tolist(), found[text].sparse.values.tolist(), strict=True))
        assert lent == {7: 1.0, 4_000_000_000: 0.5}
        assert await store.encodings("acme", []) == {}


async def test_store_lends_text_that_many_chunks_share_and_more_texts_than_one_batch(stores: Stores) -> None:
    texts = [f"text {n}" for n in range(70)]
    async with opened(stores) as store:
        await store.write([encoded(chunk(f"d{n}", index_text="same")) for n in range(30)])
        await store.write([encoded(chunk("many", n, index_text=text)) for n, text in enumerate(texts)])
        assert set(await store.encodings("acme", [*texts, "same", "missing"])) == {*texts, "same"}


async def test_store_lends_nothing_of_what_was_deleted_or_replaced(stores: Stores) -> None:
    async with opened(stores) as store:
        await publish(store, *[encoded(chunk("gone", n, index_text=f"gone {n}")) for n in range(2)])
        await publish(store, encoded(chunk("kept", index_text="before")))
        await store.write([encoded(chunk("kept", index_text="after"), dense=(0, 1, 0, 0), terms={9: 2.0})])
        await store.delete("acme", "gone")
        found = await store.encodings("acme", ["gone 0", "gone 1", "before", "after"])
        assert list(found) == ["after"]
        assert found["after"].dense == pytest.approx([0, 1, 0, 0])
        assert found["after"].sparse.indices.tolist() == [9]


async def test_store_lends_a_vector_without_terms(stores: Stores) -> None:
    blank = EncodedChunk(chunk(index_text="—"), np.asarray([1, 0, 0, 0], dtype=np.float32), sparse({}))
    async with opened(stores) as store:
        await store.write([blank])
        assert len((await store.encodings("acme", ["—"]))["—"].sparse.indices) == 0


async def test_store_lends_no_vectors_made_under_another_token_limit(stores: Stores) -> None:
    async with opened(stores) as store:
        await store.write([encoded(chunk(index_text="long"))])
    async with opened(stores, ENCODER.model_copy(update={"max_tokens": 1024})) as store:
        assert await store.encodings("acme", ["long"]) == {}
        await store.write([encoded(chunk("new", index_text="long"))])
        assert list(await store.encodings("acme", ["long"])) == ["long"]


# ---- later


async def test_store_answers_the_same_after_it_was_optimised(stores: Stores) -> None:
    async with opened(stores) as store:
        chunks = [chunk(ordinal=n) for n in range(5)]
        await store.write([encoded(each) for each in chunks])
        await store.publish("acme", "d1")
        before = await store.document_chunks("d1", scope())
        await store.optimise()
        assert await store.document_chunks("d1", scope()) == before == chunks


async def test_store_gives_chunks_at_places_within_the_scope(stores: Stores) -> None:
    async with opened(stores) as store:
        own = [chunk(ordinal=n) for n in range(4)]
        private = [chunk(ordinal=n, document_id="d2", access={"user:bob"}) for n in range(2)]
        foreign = chunk(ordinal=1, tenant="other")
        await store.write([encoded(each) for each in (*own, *private, foreign)])
        for tenant, document_id in (("acme", "d1"), ("acme", "d2"), ("other", "d1")):
            await store.publish(tenant, document_id)
        wanted = {("d1", 1), ("d1", 3), ("d1", 9), ("d2", 0)}
        assert await store.at_places(wanted, scope()) == [own[1], own[3]]
        assert await store.at_places(wanted, scope(document_ids={"d2"})) == []
        assert await store.at_places(set(), scope()) == []


async def test_store_gives_no_staged_chunk_at_a_place(stores: Stores) -> None:
    async with opened(stores) as store:
        await store.write([encoded(chunk(ordinal=0))])
        assert await store.at_places({("d1", 0)}, scope()) == []
