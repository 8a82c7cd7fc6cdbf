"""No result of any way of asking ever violates a filter, in any store; what a filter admits is all there.

What a filter means is written here once more, from its description and on days, not on the stores' conditions.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from uuid import NAMESPACE_URL, uuid4, uuid5

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import AsyncQdrantClient, QdrantClient

from retrieval.encoder import EncoderInfo
from retrieval.errors import UnscopedQueryError
from retrieval.settings import StoreSettings
from retrieval.store import VectorStore
from retrieval.stores.edge import EdgeStore
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.stores.qdrant import QdrantStore
from retrieval.types import Chunk, EncodedChunk, Principal, Scope, SearchFilter, SparseVector, Symbol

ENCODER = EncoderInfo(name="hash", revision="1", dim=2, max_tokens=512, sparse="bm25")
DIRECTION = np.asarray([1, 0], dtype=np.float32)
WORD = SparseVector(np.asarray([7], dtype=np.uint32), np.asarray([1.0], dtype=np.float32))
NUMBERS = count()

PERIODS = {
    "2023": (date(2023, 1, 1), date(2023, 12, 31)),
    "2023Q3": (date(2023, 7, 1), date(2023, 9, 30)),
    "2024": (date(2024, 1, 1), date(2024, 12, 31)),
    "2024H2": (date(2024, 7, 1), date(2024, 12, 31)),
    "2024Q3": (date(2024, 7, 1), date(2024, 9, 30)),
    "2024-02": (date(2024, 2, 1), date(2024, 2, 29)),
    "2024-07": (date(2024, 7, 1), date(2024, 7, 31)),
    "2024-02-29": (date(2024, 2, 29), date(2024, 2, 29)),
    "2024-07-15": (date(2024, 7, 15), date(2024, 7, 15)),
    "2023/2024": (date(2023, 1, 1), date(2024, 12, 31)),
    "2024-01/2024-09": (date(2024, 1, 1), date(2024, 9, 30)),
    "2023-10/2024-03": (date(2023, 10, 1), date(2024, 3, 31)),
    "2024-06-15/2024-07-20": (date(2024, 6, 15), date(2024, 7, 20)),
}
"""What each normal form means, first and last day."""


@dataclass
class Running:
    """A store that is open for all examples; each has tenants of its own beside those of the others."""

    store: VectorStore
    runner: asyncio.Runner


@pytest.fixture(scope="module", params=["memory", "edge", "qdrant", "server"])
def running(request: pytest.FixtureRequest, scratch: Path | None) -> Iterator[Running]:
    with tempfile.TemporaryDirectory(dir=scratch) as folder, asyncio.Runner() as runner:
        url = os.environ.get("ATTEST_TEST_QDRANT_URL", "")
        there = StoreSettings(store="qdrant", qdrant_url=url or ":memory:", collection=f"test-{uuid4()}")
        if request.param == "edge":
            store: VectorStore = EdgeStore(Path(folder), StoreSettings())
        elif request.param == "memory":
            store = InMemoryVectorStore()
        elif request.param == "qdrant":
            local = there.model_copy(update={"qdrant_url": ":memory:"})
            store = QdrantStore(local, AsyncQdrantClient(location=":memory:"))
        elif url:
            store = QdrantStore(there)
        else:
            pytest.skip("ATTEST_TEST_QDRANT_URL names no Qdrant server")
        runner.run(store.open(ENCODER))
        try:
            yield Running(store, runner)
        finally:
            runner.run(store.close())
            if request.param == "server":
                QdrantClient(url).delete_collection(there.collection)


def made(tenant: str, ordinal: int, spec: dict[str, object]) -> Chunk:
    stated = [_symbol("period", name, f"[PERIOD_{name}]") for name in spec["periods"]]  # type: ignore[attr-defined]
    carried = [_symbol("risk", token, token) for token in (*spec["symbols"], "[ALL]")]  # type: ignore[misc]
    heading = "".join(f"[PERIOD_{name}] > " for name in spec["above"])  # type: ignore[attr-defined]
    return Chunk(
        chunk_id=str(uuid5(NAMESPACE_URL, f"{tenant}/{ordinal}")),
        tenant=tenant,
        document_id=f"{tenant}-{spec['document']}",
        ordinal=ordinal,
        text="text",
        index_text=f"{heading}text",
        start_char=0,
        end_char=4,
        symbols=(*stated, *carried),
        **{
            name: spec[name] for name in ("labels", "access", "language", "authority", "effective_from", "effective_to")
        },  # type: ignore[arg-type]
    )


def _symbol(kind: str, normal: str, token: str) -> Symbol:
    return Symbol(cls="value", kind=kind, normal=normal, token=token, start=0, end=1, surface="x")


NAMES = st.sampled_from(["a", "b"])
TOKENS = st.frozensets(st.sampled_from(["[RISK_C1]", "[PHONE_k3f9a2mq7x4tw]", "[CNY_238000000]"]), max_size=2)
# Entries and names that only look like others: no reading of colons, case or characters may join them.
ENTRIES = st.frozensets(
    st.sampled_from([
        *("everyone", "Everyone", "user:a", "user:A", "user:а", "user:group:a", "group:a", "group:everyone"),
        *("group:user:a", "user:everyone", "group:b", "group:a' OR '1'='1"),
    ]),
    max_size=3,
)
DAYS = st.none() | st.sampled_from([date(2023, 1, 1), date(2024, 1, 1), date(2025, 1, 1)])
SPECS = st.lists(
    st.fixed_dictionaries({
        "tenant": NAMES,
        "document": NAMES,
        "labels": st.frozensets(NAMES),
        "access": ENTRIES,
        "language": st.sampled_from(["zh", "en"]),
        "authority": st.sampled_from(["official", "draft"]),
        "effective_from": DAYS,
        "effective_to": DAYS,
        "periods": st.lists(st.sampled_from(sorted(PERIODS)), max_size=2),
        "above": st.lists(st.sampled_from(sorted(PERIODS)), max_size=1),
        "symbols": TOKENS,
    }),
    max_size=12,
)
WHO = st.tuples(
    NAMES,
    st.sampled_from(["a", "A", "b", "everyone", "group:a"]),
    st.frozensets(st.sampled_from(["a", "b", "everyone", "user:a", "a' OR '1'='1"])),
)
WANTED = st.fixed_dictionaries({
    "labels": st.frozensets(NAMES),
    "documents": st.none() | st.frozensets(st.sampled_from(["a", "b", "' OR 1=1 --"])),
    "language": st.none() | st.sampled_from(["zh", "en"]),
    "authority": st.none() | st.sampled_from(["official", "draft"]),
    "as_of": DAYS,
    "period": st.none() | st.sampled_from(sorted(PERIODS)),
    "symbols": st.just(frozenset[str]()) | TOKENS,
})


def days(period: str) -> set[date]:
    first, last = PERIODS[period]
    return {first + timedelta(days=n) for n in range((last - first).days + 1)}


def admitted(spec: dict[str, object], who: tuple[str, str, frozenset[str]], wanted: dict[str, object]) -> bool:
    tenant, user, groups = who
    entries = ["everyone", "user:" + user] + ["group:" + group for group in groups]
    if spec["tenant"] != tenant or not any(entry in spec["access"] for entry in entries):  # type: ignore[operator]
        return False
    if any(label not in spec["labels"] for label in wanted["labels"]):  # type: ignore[attr-defined, operator]
        return False
    if wanted["documents"] is not None and spec["document"] not in wanted["documents"]:  # type: ignore[operator]
        return False
    if any(wanted[field] is not None and spec[field] != wanted[field] for field in ("language", "authority")):
        return False
    if any(token not in spec["symbols"] for token in wanted["symbols"]):  # type: ignore[attr-defined, operator]
        return False
    if (day := wanted["as_of"]) is not None:
        begins, ends = spec["effective_from"], spec["effective_to"]
        if (begins is not None and day < begins) or (ends is not None and day >= ends):  # type: ignore[operator]
            return False
    if wanted["period"] is None:
        return True
    asked = days(wanted["period"])  # type: ignore[arg-type]
    return any(days(stated) <= asked for stated in [*spec["periods"], *spec["above"]])  # type: ignore[misc]


def scope_of(example: int, who: tuple[str, str, frozenset[str]], wanted: dict[str, object]) -> Scope:
    tenant = f"{who[0]}{example}"
    fields = {name: value for name, value in wanted.items() if name != "documents"}
    if wanted["documents"] is not None:
        fields["document_ids"] = frozenset(f"{tenant}-{name}" for name in wanted["documents"])  # type: ignore[attr-defined]
    return Scope.of(Principal(tenant=tenant, user=who[1], groups=who[2]), SearchFilter.model_validate(fields))


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(specs=SPECS, staged=NAMES, questions=st.lists(st.tuples(WHO, WANTED), min_size=1, max_size=6))
def test_store_every_way_of_asking_finds_exactly_what_the_filter_admits(
    running: Running,
    specs: list[dict[str, object]],
    staged: str,
    questions: list[tuple[tuple[str, str, frozenset[str]], dict[str, object]]],
) -> None:
    example, store = next(NUMBERS), running.store
    chunks = [made(f"{spec['tenant']}{example}", n, spec) for n, spec in enumerate(specs)]

    async def ask() -> None:
        await store.write([EncodedChunk(chunk, DIRECTION, WORD) for chunk in chunks])
        for tenant, document_id in {(c.tenant, c.document_id) for c in chunks if not c.document_id.endswith(staged)}:
            await store.publish(tenant, document_id)
        for who, wanted in questions:
            within = scope_of(example, who, wanted)
            expected = {
                chunk.chunk_id
                for chunk, spec in zip(chunks, specs, strict=True)
                if spec["document"] != staged and admitted(spec, who, wanted)
            }
            found = {
                "dense": {hit.chunk.chunk_id for hit in await store.dense(DIRECTION, within, 100)},
                "sparse": {hit.chunk.chunk_id for hit in await store.sparse(WORD, within, 100)},
                "symbols": {hit.chunk.chunk_id for hit in await store.symbols(frozenset({"[ALL]"}), within, 100)},
                "places": {
                    chunk.chunk_id
                    for chunk in await store.at_places([(c.document_id, c.ordinal) for c in chunks], within)
                },
                "scan": {chunk.chunk_id async for batch in store.scan(within, batch=2) for chunk in batch},
                "documents": {
                    chunk.chunk_id
                    for document_id in sorted({c.document_id for c in chunks})
                    for chunk in await store.document_chunks(document_id, within)
                },
            }
            assert found == dict.fromkeys(found, expected)
            assert await store.count(within) == len(expected)

    running.runner.run(ask())


# ---- no query without a tenant

WHOLE = Scope.of(Principal(tenant="acme", user="ann"))
BROKEN = {
    "no tenant": Scope.model_construct(access=frozenset({"everyone"}), filter=SearchFilter()),
    "empty tenant": WHOLE.model_copy(update={"tenant": ""}),
    "tenant of nothing": WHOLE.model_copy(update={"tenant": None}),
    "pattern for a tenant": WHOLE.model_copy(update={"tenant": "*"}),
    "list of tenants": WHOLE.model_copy(update={"tenant": ["acme", "rival"]}),
    "nobody": WHOLE.model_copy(update={"access": frozenset()}),
    "no access": WHOLE.model_copy(update={"access": None}),
    "empty entry": WHOLE.model_copy(update={"access": frozenset({""})}),
    "no filter": WHOLE.model_copy(update={"filter": None}),
    "filter of another kind": WHOLE.model_copy(update={"filter": {"labels": ["hr"]}}),
    "filter with a field of none": WHOLE.model_copy(
        update={"filter": SearchFilter.model_construct(labels=None, document_ids=frozenset())}
    ),
    "period as written": WHOLE.model_copy(update={"filter": SearchFilter(period="Q3 2024")}),
    "period that ends before it begins": WHOLE.model_copy(update={"filter": SearchFilter(period="2024/2023")}),
}


@pytest.mark.parametrize("scope", BROKEN.values(), ids=BROKEN.keys())
def test_store_refuses_a_scope_built_past_its_checks(running: Running, scope: Scope) -> None:
    store = running.store

    async def scan() -> None:
        async for _ in store.scan(scope):
            raise AssertionError("something was shown")

    ways = {
        "dense": lambda: store.dense(DIRECTION, scope, 5),
        "sparse": lambda: store.sparse(WORD, scope, 5),
        "symbols": lambda: store.symbols(frozenset({"[ALL]"}), scope, 5),
        "documents": lambda: store.document_chunks("d1", scope),
        "places": lambda: store.at_places([("d1", 0)], scope),
        "count": lambda: store.count(scope),
        "scan": scan,
    }
    for way in ways.values():
        with pytest.raises(UnscopedQueryError):
            running.runner.run(way())


@pytest.mark.parametrize("tenant", ["", "*", "acme' OR '1'='1", None])
def test_store_refuses_to_change_or_lend_without_a_tenant(running: Running, tenant: str) -> None:
    store = running.store
    ways = (
        lambda: store.publish(tenant, "d1"),
        lambda: store.chunk_ids(tenant, "d1"),
        lambda: store.encodings(tenant, ["text"]),
        lambda: store.prune(tenant, "d1", set()),
        lambda: store.delete(tenant, "d1"),
    )
    for way in ways:
        with pytest.raises(UnscopedQueryError):
            running.runner.run(way())
