"""What only the server store promises: whose client it closes, and which errors its callers see."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from qdrant_client import AsyncQdrantClient, models

from retrieval.encoder import EncoderInfo
from retrieval.errors import IndexMismatchError, StoreUnavailableError
from retrieval.settings import StoreSettings
from retrieval.stores.qdrant import QdrantStore
from retrieval.types import Principal, Scope

ENCODER = EncoderInfo(name="hash", revision="1", dim=2, max_tokens=512, sparse="bm25")
SCOPE = Scope.of(Principal(tenant="acme", user="ann"))


def settings(url: str) -> StoreSettings:
    return StoreSettings(store="qdrant", qdrant_url=url, qdrant_api_key=None, timeout_s=2)


@contextmanager
def server(status: int, body: bytes) -> Iterator[str]:
    """A server that gives one answer to everything."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()


async def test_qdrant_server_that_is_down_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(StoreUnavailableError, match="no answer"):
        await QdrantStore(settings(url)).open(ENCODER)


@pytest.mark.parametrize("status", [401, 500, 503])
async def test_qdrant_server_error_names_the_status_and_not_the_answer(status: int) -> None:
    answer = b'{"status":{"error":"point with text SECRET"}}'
    with server(status, answer) as url, pytest.raises(StoreUnavailableError, match=str(status)) as caught:
        await QdrantStore(settings(url)).open(ENCODER)
    assert "SECRET" not in str(caught.value)


async def test_qdrant_answer_that_is_none_of_its_own_is_unavailable() -> None:
    with server(200, b"<html>a proxy</html>") as url, pytest.raises(StoreUnavailableError, match="no answer"):
        await QdrantStore(settings(url)).open(ENCODER)


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
