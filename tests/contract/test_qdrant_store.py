"""What only the server store promises: set-up of the collection, retries, and which errors its callers see."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, models

from retrieval.encoder import EncoderInfo
from retrieval.errors import (
    CollectionMissingError,
    IndexMismatchError,
    RetrievalError,
    StoreRefusedError,
    StoreUnavailableError,
)
from retrieval.settings import StoreSettings
from retrieval.stores.payload import KEYWORD_FIELDS, NUMBER_FIELDS, TENANT
from retrieval.stores.qdrant import QdrantStore
from retrieval.types import Chunk, EncodedChunk, Principal, Scope, SearchFilter, SparseVector

ENCODER = EncoderInfo(name="hash", revision="1", dim=2, max_tokens=512, sparse="bm25")
SCOPE = Scope.of(Principal(tenant="acme", user="ann"))
DONE = {"operation_id": 1, "status": "completed"}
Answer = tuple[int, dict[str, str], bytes]


def settings(url: str, **fields: object) -> StoreSettings:
    return StoreSettings.model_validate({"store": "qdrant", "qdrant_url": url, "timeout_s": 2, **fields})


class FakeServer:
    """Answers like a Qdrant server that holds one empty collection at most; other answers go before, in order."""

    def __init__(self, *answers: Answer, version: str = "1.19.1", collection: dict[str, Any] | None = None) -> None:
        self.answers = list(answers)
        self.version, self.collection = version, collection
        self.asked: list[tuple[str, str, Any]] = []
        self.released = threading.Event()
        self.url = ""

    def sent(self, method: str, path: str) -> list[Any]:
        return [body for m, p, body in self.asked if (m, p.split("?")[0]) == (method, path)]

    def answer(self, method: str, path: str, body: Any) -> Answer:
        self.asked.append((method, path, body))
        if self.answers:
            return self.answers.pop(0)
        if path == "/":
            return 200, {}, json.dumps({"title": "qdrant", "version": self.version}).encode()
        return 200, {}, json.dumps({"result": self._result(method, path.split("?")[0], body), "status": "ok"}).encode()

    def _result(self, method: str, path: str, body: Any) -> Any:
        if path.endswith("/exists"):
            return {"exists": self.collection is not None}
        if path.endswith("/points/count"):
            return {"count": 3}
        if path.endswith("/index"):
            return DONE
        if method == "PUT":
            self.collection = made_of(body)
            return True
        return self.collection


def made_of(body: dict[str, Any]) -> dict[str, Any]:
    """What a server tells of a collection that was made so."""
    params = {
        "vectors": body["vectors"],
        "sparse_vectors": body["sparse_vectors"],
        "shard_number": body.get("shard_number") or 1,
        "replication_factor": body.get("replication_factor") or 1,
        "write_consistency_factor": body.get("write_consistency_factor") or 1,
        "on_disk_payload": body["on_disk_payload"],
    }
    graph = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000}
    graph |= {name: value for name, value in body["hnsw_config"].items() if value is not None}
    optimizer = {"deleted_threshold": 0.2, "vacuum_min_vector_number": 1000, "default_segment_number": 0}
    return {
        "status": "green",
        "optimizer_status": "ok",
        "segments_count": 1,
        "payload_schema": {},
        "config": {
            "params": params,
            "hnsw_config": graph,
            "optimizer_config": optimizer | {"flush_interval_sec": 5},
            "quantization_config": body.get("quantization_config"),
            "strict_mode_config": body["strict_mode_config"],
            "metadata": body["metadata"],
        },
    }


@contextmanager
def serving(server: FakeServer) -> Iterator[FakeServer]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, headers, content = server.answer(self.command, self.path, body)
            if status == 0:  # no answer until the test is over
                server.released.wait(30)
                return
            if status < 0:  # the connection breaks
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        server.url = f"http://127.0.0.1:{http.server_port}"
        try:
            yield server
        finally:
            server.released.set()
            http.shutdown()
            thread.join()


class Clock:
    """Sleeps no time, and remembers how long it should have."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def opened(server: FakeServer, clock: Clock | None = None, **fields: object) -> QdrantStore:
    store = QdrantStore(settings(server.url, **fields), sleep=(clock or Clock()).sleep)
    await store.open(ENCODER)
    return store


def failure(status: int, said: str = "point with text SECRET", **headers: str) -> Answer:
    return status, headers, json.dumps({"status": {"error": said}, "time": 0.1}).encode()


# ---- errors say what to do


async def test_qdrant_server_that_is_down_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    clock = Clock()
    with pytest.raises(StoreUnavailableError, match=r"no answer .*QDRANT_URL"):
        await QdrantStore(settings(url), sleep=clock.sleep).open(ENCODER)
    assert len(clock.slept) == 2


@pytest.mark.parametrize(
    ("status", "said", "error", "told"),
    [
        (401, "Must provide an API key", StoreRefusedError, "QDRANT_API_KEY"),
        (403, "Global access is required", StoreRefusedError, "does not allow this"),
        (404, "Collection not found", CollectionMissingError, "does not exist"),
        (400, "Format error in JSON body", StoreRefusedError, "1.19 or later"),
        (400, "Limit exceeded 1000 > 10. Help: reduce the limit SECRET", StoreRefusedError, "strict mode"),
        (403, "Index required but not found. Help: create an index", StoreRefusedError, "strict mode"),
        (413, "too large", StoreRefusedError, "too large"),
        (429, "quota", StoreUnavailableError, "429"),
        (500, "panicked", StoreUnavailableError, "500"),
        (503, "overloaded", StoreUnavailableError, "503"),
    ],
)
async def test_qdrant_error_says_what_to_do_and_not_what_the_server_said(
    status: int, said: str, error: type[RetrievalError], told: str
) -> None:
    with serving(FakeServer()) as server:
        store = await opened(server)
        server.answers += [failure(status, f"{said} SECRET") for _ in range(3)]
        with pytest.raises(error, match=told) as caught:
            await store.count(SCOPE)
        await store.close()
    assert "SECRET" not in str(caught.value)


async def test_qdrant_answer_that_is_none_of_its_own_is_unavailable() -> None:
    answer = (200, {}, b"<html>a proxy</html>")
    with serving(FakeServer(answer)) as server, pytest.raises(StoreUnavailableError, match="proxy"):
        await opened(server)


async def test_qdrant_server_that_does_not_answer_in_time_is_asked_once() -> None:
    with serving(FakeServer()) as server:
        store = await opened(server, timeout_s=1)
        server.answers.append((0, {}, b""))
        before = len(server.asked)
        with pytest.raises(StoreUnavailableError, match="within 1 s"):
            await store.count(SCOPE)
        assert len(server.asked) == before + 1
        await store.close()


async def test_qdrant_server_that_is_too_old_is_named_with_its_version() -> None:
    with serving(FakeServer(version="1.18.3")) as server:
        with pytest.raises(StoreRefusedError, match=r"Qdrant 1\.18\.3; upgrade it to 1\.19"):
            await opened(server)
        assert [path for _, path, _ in server.asked] == ["/"]


# ---- again, where that is safe


@pytest.mark.parametrize("passing", [failure(503), failure(502), failure(429), (-1, {}, b"")], ids=str)
async def test_qdrant_call_is_made_again_when_the_server_is_busy(passing: Answer) -> None:
    clock = Clock()
    with serving(FakeServer()) as server:
        store = await opened(server, clock)
        server.answers += [passing, passing]
        assert await store.count(SCOPE) == 3
        await store.close()
    assert len(clock.slept) == 2
    assert all(0 <= seconds <= 5 for seconds in clock.slept)


async def test_qdrant_call_waits_as_long_as_the_server_asks() -> None:
    clock = Clock()
    with serving(FakeServer()) as server:
        store = await opened(server, clock)
        server.answers += [failure(429, **{"Retry-After": "1"}), failure(503, **{"Retry-After": "2"})]
        assert await store.count(SCOPE) == 3
        await store.close()
    first, second = clock.slept
    assert 1 <= first <= 1.5
    assert 2 <= second <= 2.5


async def test_qdrant_call_does_not_wait_longer_than_a_caller_would() -> None:
    clock = Clock()
    with serving(FakeServer()) as server:
        store = await opened(server, clock)
        server.answers.append(failure(429, **{"Retry-After": "60"}))
        with pytest.raises(StoreUnavailableError, match="asks to wait 60 s"):
            await store.count(SCOPE)
        await store.close()
    assert clock.slept == []


async def test_qdrant_number_of_retries_is_a_setting() -> None:
    clock = Clock()
    with serving(FakeServer()) as server:
        store = await opened(server, clock, qdrant_retries=0)
        server.answers.append(failure(503))
        with pytest.raises(StoreUnavailableError):
            await store.count(SCOPE)
        await store.close()
    assert clock.slept == []


async def test_qdrant_creation_is_not_made_again() -> None:
    clock = Clock()
    exists = (200, {}, b'{"result": {"exists": false}, "status": "ok"}')
    version = (200, {}, b'{"title": "qdrant", "version": "1.19.1"}')
    with serving(FakeServer(version, exists, failure(503))) as server:
        with pytest.raises(StoreUnavailableError, match="503"):
            await opened(server, clock)
        assert len(server.sent("PUT", "/collections/attest")) == 1
    assert clock.slept == []


async def test_qdrant_collection_that_another_process_made_meanwhile_is_taken() -> None:
    with serving(FakeServer()) as server:
        await (await opened(server)).close()
        exists = (200, {}, b'{"result": {"exists": false}, "status": "ok"}')
        version = (200, {}, b'{"title": "qdrant", "version": "1.19.1"}')
        server.answers += [version, exists, failure(409)]
        await (await opened(server)).close()


# ---- chunks of former versions


async def test_qdrant_chunk_of_a_former_version_is_left_out_until_it_is_written_again() -> None:
    client = AsyncQdrantClient(location=":memory:")
    store = QdrantStore(settings(":memory:"), client)
    await store.open(ENCODER)
    chunk = Chunk(
        chunk_id="00000000-0000-0000-0000-000000000001",
        tenant="acme",
        document_id="d1",
        ordinal=0,
        text="Revenue of Q3 2024",
        index_text="Revenue of [PERIOD_2024Q3]",
        start_char=0,
        end_char=18,
    )
    words = SparseVector(np.asarray([7], dtype=np.uint32), np.asarray([1.0], dtype=np.float32))
    encoded = EncodedChunk(chunk, np.asarray([1, 0], dtype=np.float32), words)
    await store.write([encoded])
    await store.publish("acme", "d1")
    await client.delete_payload("attest", keys=["periods", "spans"], points=[chunk.chunk_id])
    cell, stretch = (
        Scope.of(Principal(tenant="acme", user="ann"), SearchFilter(period=period)) for period in ("2024", "2023/2024")
    )
    assert (await store.count(SCOPE), await store.count(cell), await store.count(stretch)) == (1, 0, 0)
    await store.write([encoded])
    assert (await store.count(SCOPE), await store.count(cell), await store.count(stretch)) == (1, 1, 1)
    await store.close()


# ---- the collection

PRODUCTION = {
    "qdrant_on_disk_vectors": True,
    "qdrant_quantization": "scalar",
    "qdrant_shards": 6,
    "qdrant_replicas": 2,
    "qdrant_write_consistency": 2,
    "qdrant_hnsw_m": 0,
    "qdrant_hnsw_payload_m": 24,
    "qdrant_hnsw_ef_construct": 200,
    "qdrant_strict_max_limit": 1500,
    "qdrant_strict_reads_per_minute": 6000,
}


async def test_qdrant_collection_is_made_as_the_settings_say() -> None:
    with serving(FakeServer()) as server:
        store = await opened(server, **PRODUCTION)
        [made] = server.sent("PUT", "/collections/attest")
        indexes = {body["field_name"]: body["field_schema"] for body in server.sent("PUT", "/collections/attest/index")}
        await store.close()
    assert made["vectors"]["dense"]["on_disk"] is True
    assert made["on_disk_payload"] is True
    assert made["quantization_config"]["scalar"] == {"type": "int8", "quantile": 0.99, "always_ram": True}
    assert (made["shard_number"], made["replication_factor"], made["write_consistency_factor"]) == (6, 2, 2)
    graph = made["hnsw_config"]
    assert (graph["m"], graph["payload_m"], graph["ef_construct"], graph["on_disk"]) == (0, 24, 200, True)
    strict = made["strict_mode_config"]
    assert strict["enabled"] is True
    assert strict["unindexed_filtering_retrieve"] is strict["unindexed_filtering_update"] is False
    assert (strict["max_query_limit"], strict["read_rate_limit"]) == (1500, 6000)
    assert made["metadata"]["encoder"]["name"] == "hash"
    assert indexes[TENANT]["is_tenant"] is True
    assert set(indexes) == {TENANT, *KEYWORD_FIELDS, *NUMBER_FIELDS}


async def test_qdrant_binary_quantization_is_set_up_and_queries_rescore() -> None:
    found = {"result": {"points": []}, "status": "ok"}
    with serving(FakeServer()) as server:
        store = await opened(server, qdrant_quantization="binary", qdrant_oversampling=3, qdrant_hnsw_ef=200)
        [made] = server.sent("PUT", "/collections/attest")
        assert made["quantization_config"]["binary"]["always_ram"] is True
        server.answers.append((200, {}, json.dumps(found).encode()))
        assert await store.dense(np.asarray([1, 0], dtype=np.float32), SCOPE, 5) == []
        [asked] = server.sent("POST", "/collections/attest/points/query")
        await store.close()
    assert asked["params"]["quantization"] == {"rescore": True, "oversampling": 3.0}
    assert asked["params"]["hnsw_ef"] == 200


async def test_qdrant_collection_made_otherwise_is_told_and_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    with serving(FakeServer()) as server:
        await (await opened(server)).close()
        server.asked.clear()
        with caplog.at_level(logging.WARNING, logger="retrieval.stores.qdrant"):
            store = await opened(server, **PRODUCTION)
        told = store.differences
        await store.close()
        changed = [path for method, path, _ in server.asked if method in {"PATCH", "DELETE"}]
        assert changed == server.sent("PUT", "/collections/attest") == []
    assert "qdrant_shards is 1, the settings say 6" in told
    assert "qdrant_quantization is none, the settings say scalar" in told
    assert "qdrant_on_disk_vectors is off, the settings say on" in told
    assert "strict mode's max_query_limit is 1000, the settings say 1500" in told
    assert all(each in caplog.text for each in told)


async def test_qdrant_collection_as_the_settings_say_is_not_complained_about() -> None:
    with serving(FakeServer()) as server:
        await (await opened(server, **PRODUCTION)).close()
        again = await opened(server, **PRODUCTION)
        assert again.differences == ()
        await again.close()


async def test_qdrant_key_is_sent_and_shown_nowhere() -> None:
    given = settings("https://qdrant.example", qdrant_api_key="a-secret-key")
    assert "a-secret-key" not in repr(given)
    assert "a-secret-key" not in repr(QdrantStore(given).__dict__)


async def test_qdrant_collection_without_a_record_is_refused() -> None:
    client = AsyncQdrantClient(location=":memory:")
    vectors = {"dense": models.VectorParams(size=2, distance=models.Distance.COSINE)}
    await client.create_collection("attest", vectors_config=vectors)
    with pytest.raises(IndexMismatchError, match="does not record which encoder"):
        await QdrantStore(settings(":memory:"), client).open(ENCODER)


async def test_qdrant_store_leaves_a_client_that_was_passed_in_open() -> None:
    client = AsyncQdrantClient(location=":memory:")
    store = QdrantStore(settings(":memory:"), client)
    await store.open(ENCODER)
    await store.close()
    assert (await client.count("attest")).count == 0
    with pytest.raises(StoreUnavailableError, match="not open"):
        await store.count(SCOPE)


async def test_qdrant_store_makes_and_closes_its_own_client() -> None:
    store = QdrantStore(settings(":memory:"))
    await store.open(ENCODER)
    assert await store.count(SCOPE) == 0
    await store.close()
    with pytest.raises(StoreUnavailableError, match="not open"):
        await store.count(SCOPE)
