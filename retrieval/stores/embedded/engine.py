"""Qdrant's engine on one folder (qdrant-edge-py): the only file that imports qdrant_edge. Runs in its own process.

Every public method is a command of `process.EngineProcess.call`. They take and return plain
values only (`wire`), since both cross a pipe; nothing of ours is imported that takes long to load.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import log
from pathlib import Path
from typing import Any, Final

import qdrant_edge as qdrant

from retrieval.stores.embedded.words import Words

# What a point's payload is called must not differ from `retrieval.stores.payload`, which takes long to import.
DENSE, SPARSE, SYMBOL = "dense", "sparse", "symbol"
TENANT, DOCUMENT, STATE, ACCESS, CHUNK = "tenant", "document_id", "state", "access", "chunk"

Terms = tuple[bytes, bytes]
"""A sparse vector: indices as uint32, weights as float32."""
Condition = tuple[str, tuple[str, ...]] | tuple[str, int | None, int | None] | tuple[str, str, str, tuple[int, int]]
"""`AnyOf` (field, values), `MissingOr` (field, at most, above), `SpanWithin` (field, its two keys, bounds)."""
Conditions = Sequence[Condition]
WirePoint = tuple[str, bytes, Terms, Terms | None, dict[str, Any]]
"""Id, dense vector as float32, term weights, symbol terms and payload."""
Search = tuple[str, Any, Conditions, int, tuple[str, list[str], Conditions] | None]
"""Vector name, vector, conditions, limit; for BM25 whose statistics count: tenant, access, conditions."""

_NOBODY: Final = qdrant.IdfParams(qdrant.Filter(must=[qdrant.FieldCondition(TENANT, match=qdrant.MatchAny(["\0"]))]))
_IDF_OF_NOTHING: Final = log(2)
"""The engine's IDF of any term over no points: the same for all, so that our own can take its place."""
_TEXTS_KEPT: Final = 4096
_WRITTEN_STATES: Final = [TENANT, DOCUMENT, STATE, ACCESS]


class Engine:
    """One shard, opened by `open`, and what is known of its words."""

    def __init__(self) -> None:
        self._held: qdrant.EdgeShard | None = None
        self._words: Words | None = None
        self._texts: dict[str, str] = {}
        self._ef: int | None = None

    def open(self, path: str, schema: dict[str, Any]) -> dict[str, int]:
        """Load the shard of a folder, or create it there; return its sizes."""
        if (Path(path) / "edge_config.json").exists():
            self._held = qdrant.EdgeShard.load(path)
        else:
            Path(path).mkdir(exist_ok=True)
            self._held = qdrant.EdgeShard.create(path, _config(schema))
        # Creating an index that exists does nothing; so a kill between the two is mended here.
        tenant = qdrant.KeywordIndexParams(is_tenant=True)
        self._update(qdrant.UpdateOperation.create_field_index(TENANT, tenant))
        for field in schema["keywords"]:
            self._update(qdrant.UpdateOperation.create_field_index(field, qdrant.PayloadSchemaType.Keyword))
        for field in schema["numbers"]:
            self._update(qdrant.UpdateOperation.create_field_index(field, qdrant.PayloadSchemaType.Integer))
        self._ef = schema["ef"]
        self._words = Words() if schema["bm25"] else None
        return self.sizes()

    def sizes(self) -> dict[str, int]:
        """Return how many points there are, and how many of them no graph leads to."""
        info = self._shard.info()
        with_symbols = self._shard.count(
            qdrant.CountRequest(exact=True, filter=qdrant.Filter(must=[qdrant.HasVectorCondition(SYMBOL)]))
        )
        # Vectors of terms and symbols always count as indexed; each point has the former.
        in_graph = info.indexed_vectors_count - info.points_count - with_symbols
        return {"points": info.points_count, "plain": max(info.points_count - max(in_graph, 0), 0)}

    def flush(self) -> None:
        """Write everything to the files of the shard."""
        self._shard.flush()

    def optimise(self) -> bool:
        """Build graphs, merge segments and drop deleted points; return whether there was anything to do."""
        changed = self._shard.optimize()
        self._shard.flush()
        return changed

    def close(self) -> None:
        """Write everything and let go of the folder."""
        shard, self._held = self._shard, None
        shard.flush()
        shard.close()

    # ---- writing

    def owners(self, ids: list[str]) -> dict[str, tuple[str, str, str]]:
        """Return tenant, document and state of those points that exist."""
        found = self._shard.retrieve([*ids], with_payload=[TENANT, DOCUMENT, STATE], with_vector=False)
        payloads = ((str(record.id), record.payload or {}) for record in found)
        return {key: (payload[TENANT], payload[DOCUMENT], payload[STATE]) for key, payload in payloads}

    def upsert(self, points: list[WirePoint]) -> None:
        """Write points, in the place of those with the same id."""
        self._forget([point[0] for point in points])
        self._update(qdrant.UpdateOperation.upsert_points([_point(point) for point in points]))
        for key, _, (indices, _), _, payload in points:
            self._learn(key, payload, indices)

    def publish(self, document: Conditions) -> int:
        """Set the state of a document's points; return how many it has."""
        count = self.count(document)
        if count:
            staged = [*document, (STATE, ("staged",))]
            new = list(self._words_of(staged)) if self._words is not None else []
            self._update(qdrant.UpdateOperation.set_payload_by_filter(_filter(document), {STATE: "published"}))
            for key, payload, indices in new:
                self._learn(key, payload | {STATE: "published"}, indices)
        return count

    def delete(self, ids: list[str]) -> None:
        """Delete points."""
        self._forget(ids)
        self._update(qdrant.UpdateOperation.delete_points([*ids]))

    # ---- reading

    def count(self, conditions: Conditions) -> int:
        """Count the points that meet all conditions."""
        return self._shard.count(qdrant.CountRequest(exact=True, filter=_filter(conditions)))

    def ids(self, conditions: Conditions) -> list[str]:
        """Return the ids of the points that meet all conditions."""
        request: dict[str, Any] = {"filter": _filter(conditions), "with_payload": False, "with_vector": False}
        return [str(record.id) for record in self._all(request, 1000)]

    def chunks(self, conditions: Conditions, limit: int, offset: str | None) -> tuple[list[str], str | None]:
        """Return chunks that meet all conditions as JSON, by id from `offset` on, and where to go on."""
        request = qdrant.ScrollRequest(
            offset=offset, limit=limit, filter=_filter(conditions), with_payload=[CHUNK], with_vector=False
        )
        records, after = self._shard.scroll(request)
        return [_payload(record)[CHUNK] for record in records], None if after is None else str(after)

    def encodings(self, lookups: list[Conditions]) -> list[tuple[bytes, Terms] | None]:
        """Return dense and term vectors of one point each that meets the conditions."""
        found: list[tuple[bytes, Terms] | None] = []
        for conditions in lookups:
            request = qdrant.ScrollRequest(
                limit=1, filter=_filter(conditions), with_payload=False, with_vector=[DENSE, SPARSE]
            )
            vectors: list[Any] = [record.vector for record in self._shard.scroll(request)[0]]
            found.append((_bytes(vectors[0][DENSE]), _terms(vectors[0][SPARSE])) if vectors else None)
        return found

    def search(self, searches: list[Search]) -> tuple[list[list[tuple[str, float]]], dict[str, str]]:
        """Answer searches in one go: ids and scores for each, and each found chunk's JSON once.

        Payloads are fetched afterwards: asked for in the query itself they cost four times as much.
        """
        requests = [self._request(*each) for each in searches]
        answers = self._shard.query_batch(qdrant.QueryBatchRequest(requests))
        found = [[(str(point.id), point.score) for point in points] for points in answers]
        return found, self._chunk_texts({key for points in found for key, _ in points})

    def _chunk_texts(self, ids: set[str]) -> dict[str, str]:
        """Return chunks as JSON; those that were found since the last change are kept."""
        if unknown := [key for key in ids if key not in self._texts]:
            if len(self._texts) + len(unknown) > _TEXTS_KEPT:
                self._texts.clear()
                unknown = list(ids)
            records = self._shard.retrieve([*unknown], with_payload=[CHUNK], with_vector=False)
            self._texts.update((str(record.id), _payload(record)[CHUNK]) for record in records)
        return {key: self._texts[key] for key in ids if key in self._texts}

    def _request(
        self,
        using: str,
        vector: Any,
        conditions: Conditions,
        limit: int,
        readers: tuple[str, list[str], Conditions] | None,
    ) -> qdrant.QueryRequest:
        params = qdrant.SearchParams(hnsw_ef=max(self._ef, limit) if self._ef else None)
        if using == DENSE:
            query: Any = _floats(vector)
        else:
            indices, weights = _integers(vector[0]), _floats(vector[1])
            if readers is not None:
                weights, params = self._weighed(indices, weights, *readers)
            query = qdrant.SparseVector(indices, weights)
        return qdrant.QueryRequest(
            limit=limit, query=qdrant.Query.Nearest(query, using=using), filter=_filter(conditions), params=params
        )

    def _weighed(
        self, indices: list[int], weights: list[float], tenant: str, access: list[str], visible: Conditions
    ) -> tuple[list[float], qdrant.SearchParams]:
        """Weigh terms by their rarity in what the asker may see."""
        if self._words is None or not self._words.complete:
            return weights, qdrant.SearchParams(idf=qdrant.IdfParams(_filter(visible)))
        idf = self._words.idf(tenant, frozenset(access), indices)
        weighed = [weight * rare / _IDF_OF_NOTHING for weight, rare in zip(weights, idf, strict=True)]
        return weighed, qdrant.SearchParams(idf=_NOBODY)

    # ---- words

    def learn(self, limit: int) -> bool:
        """Learn the words of so many more points; return whether all are known."""
        if self._words is None or self._words.complete:
            return True
        request = qdrant.ScrollRequest(
            offset=self._words.reached, limit=limit, with_payload=_WRITTEN_STATES, with_vector=[SPARSE]
        )
        records, after = self._shard.scroll(request)
        for record in records:
            self._count_in(_payload(record), _integers(_indices(record)), 1)
        self._words.reach(None if after is None else str(after))
        return self._words.complete

    def _learn(self, key: str, payload: dict[str, Any], indices: bytes) -> None:
        if self._words is not None and self._words.covers(key):
            self._count_in(payload, _integers(indices), 1)

    def _forget(self, ids: Sequence[str]) -> None:
        """Count out what these points hold, before they change or go."""
        if self._words is None or not (known := [key for key in ids if self._words.covers(key)]):
            return
        for record in self._shard.retrieve([*known], with_payload=_WRITTEN_STATES, with_vector=[SPARSE]):
            self._count_in(_payload(record), _integers(_indices(record)), -1)

    def _count_in(self, payload: dict[str, Any], indices: Iterable[int], by: int) -> None:
        if self._words is not None and payload[STATE] == "published":
            self._words.add(payload[TENANT], payload[ACCESS], indices, by)

    def _words_of(self, conditions: Conditions) -> Iterable[tuple[str, dict[str, Any], bytes]]:
        request = {"filter": _filter(conditions), "with_payload": _WRITTEN_STATES, "with_vector": [SPARSE]}
        for record in self._all(request, 256):
            yield str(record.id), _payload(record), _indices(record)

    # ---- from one shard to another

    def export(self, limit: int, offset: str | None) -> tuple[list[WirePoint], str | None]:
        """Return points by id from `offset` on, whole, and where to go on."""
        request = qdrant.ScrollRequest(offset=offset, limit=limit, with_payload=True, with_vector=True)
        records, after = self._shard.scroll(request)
        return [_exported(record) for record in records], None if after is None else str(after)

    def export_ids(self, ids: list[str]) -> list[WirePoint]:
        """Return those of the points that exist, whole."""
        return [_exported(each) for each in self._shard.retrieve([*ids], with_payload=True, with_vector=True)]

    @property
    def _shard(self) -> qdrant.EdgeShard:
        if self._held is None:
            raise ValueError("no shard is open")
        return self._held

    def _update(self, operation: qdrant.UpdateOperation) -> None:
        self._texts.clear()
        self._shard.update(operation)

    def _all(self, request: dict[str, Any], batch: int) -> Iterable[qdrant.Record]:
        offset: Any = None
        while True:
            records, offset = self._shard.scroll(qdrant.ScrollRequest(offset=offset, limit=batch, **request))
            yield from records
            if offset is None:
                return


def _config(schema: dict[str, Any]) -> qdrant.EdgeConfig:
    modifier = qdrant.Modifier.Idf if schema["bm25"] else None
    return qdrant.EdgeConfig(
        vectors={DENSE: qdrant.EdgeVectorParams(size=schema["dim"], distance=qdrant.Distance.Cosine)},
        sparse_vectors={
            SPARSE: qdrant.EdgeSparseVectorParams(modifier=modifier),
            SYMBOL: qdrant.EdgeSparseVectorParams(),
        },
        wal_enabled=True,  # without it acknowledged points were lost at a kill
    )


def _filter(conditions: Conditions) -> qdrant.Filter:
    return qdrant.Filter(must=[_condition(condition) for condition in conditions])


def _condition(condition: Condition) -> qdrant.FieldCondition | qdrant.Filter:
    if len(condition) == 4:
        return _span_within(*condition)
    if len(condition) == 2:
        field, values = condition
        return qdrant.FieldCondition(field, match=qdrant.MatchAny([*values]))
    field, at_most, above = condition
    bound = qdrant.RangeFloat(lte=at_most, gt=above)
    return qdrant.Filter(should=[qdrant.IsEmptyCondition(field), qdrant.FieldCondition(field, range=bound)])


def _span_within(field: str, first: str, last: str, bounds: tuple[int, int]) -> qdrant.Filter:
    """One object of the list lies within the bounds.

    The nested condition reads the payload of every point it is asked about; the two that the indexes answer
    leave it few.
    """
    within = qdrant.RangeFloat(gte=bounds[0], lte=bounds[1])
    both = qdrant.Filter(must=[qdrant.FieldCondition(key, range=within) for key in (first, last)])
    indexed = [qdrant.FieldCondition(f"{field}[].{key}", range=within) for key in (first, last)]
    return qdrant.Filter(must=[*indexed, qdrant.NestedCondition(field, both)])


def _point(point: WirePoint) -> qdrant.Point:
    key, dense, terms, symbols, payload = point
    vectors: dict[str, Any] = {DENSE: _floats(dense), SPARSE: _sparse(terms)}
    if symbols is not None:
        vectors[SYMBOL] = _sparse(symbols)
    return qdrant.Point(key, vectors, payload)


def _exported(record: qdrant.Record) -> WirePoint:
    vectors: Any = record.vector
    symbols = _terms(vectors[SYMBOL]) if SYMBOL in vectors else None
    return str(record.id), _bytes(vectors[DENSE]), _terms(vectors[SPARSE]), symbols, _payload(record)


def _payload(record: qdrant.Record) -> dict[str, Any]:
    assert record.payload is not None, "asked for with payload"
    return record.payload


def _indices(record: qdrant.Record) -> bytes:
    vectors: Any = record.vector
    return _terms(vectors[SPARSE])[0]


def _sparse(terms: Terms) -> qdrant.SparseVector:
    return qdrant.SparseVector(_integers(terms[0]), _floats(terms[1]))


def _terms(vector: Any) -> Terms:
    return array("I", vector.indices).tobytes(), array("f", vector.values).tobytes()


def _bytes(vector: Any) -> bytes:
    return array("f", vector).tobytes()


def _floats(content: bytes) -> list[float]:
    return array("f", content).tolist()


def _integers(content: bytes) -> list[int]:
    return array("I", content).tolist()
