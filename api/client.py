"""How the command line reaches attest: always over HTTP.

A server that owns ATTEST_HOME is used where one runs; otherwise the same application
is started inside this process. So every command is written once.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from httpx_sse import aconnect_sse
from pydantic import BaseModel, ValidationError

from api.errors import ApiError, ServerUnreachableError, SettingsError
from api.loopback import is_loopback
from api.settings import Settings

INSTANCE_HEADER = "attest-instance"
_PAGE = 500
_NAMES = 100
_NAMES_BYTES = 100_000
_TIMEOUT = httpx.Timeout(30.0, read=600.0)


class ServerFile(BaseModel):
    """What a running server writes into ATTEST_HOME, so that the command line finds it."""

    url: str
    pid: int
    instance: str
    home: str
    """The resolved ATTEST_HOME it serves: a copied home must not lead to the original's server."""
    """Random name of this start."""


class ProblemError(ApiError):
    """The server answered with a problem."""

    def __init__(self, code: str, detail: str, status: int) -> None:
        super().__init__(detail)
        self.problem_code = code
        self.status = status


class AttestClient:
    """The HTTP calls that commands make; answers are plain JSON values."""

    def __init__(self, http: httpx.AsyncClient, *, in_process: bool) -> None:
        self._http = http
        self.in_process = in_process
        """True: work that this client started ends when it closes, and goes on at the next start."""

    async def get(self, path: str, **params: str | int) -> Any:
        """GET a resource."""
        return _body(await self._http.get(path, params=params))

    async def every(self, path: str, key: str, **params: str | int) -> list[Any]:
        """GET all pages of a list; `key` is the field that holds it."""
        found: list[Any] = []
        while True:
            page = (await self.get(path, limit=_PAGE, offset=len(found), **params))[key]
            found += page
            if len(page) < _PAGE:
                return found

    async def kept_names(self, sources: Sequence[str]) -> list[str]:
        """Return under which names uploads of these names are kept, in order."""
        kept: list[str] = []
        for some in _in_parts(sources):
            kept += (await self.post("/v1/documents/names", {"names": some}))["names"]
        return kept

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """POST a JSON body."""
        return _body(await self._http.post(path, json=body))

    async def download(self, path: str, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """POST and yield the bytes of the answer as they come."""
        async with self._http.stream("POST", path, json=body) as response:
            if response.status_code >= 400:
                await response.aread()
                _body(response)
            async for piece in response.aiter_bytes():
                yield piece

    async def delete(self, path: str) -> Any:
        """DELETE a resource."""
        return _body(await self._http.delete(path))

    async def upload(self, path: Path, source: str, fields: dict[str, Any]) -> Any:
        """Upload a file and return its job."""
        file_name = displayed(path.name)
        with path.open("rb") as file:
            response = await self._http.post(
                "/v1/documents",
                data={"source": displayed(source), **fields},
                files={"file": (file_name, file)},
            )
        return _body(response)

    async def stream(self, path: str, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """POST and yield the events of the answer."""
        async with aconnect_sse(self._http, "POST", path, json=body) as source:
            if source.response.status_code >= 400:
                await source.response.aread()
                _body(source.response)
            async for event in source.aiter_sse():
                if event.data:
                    yield json.loads(event.data)


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncGenerator[AttestClient, None]:
    """Connect to the server that owns ATTEST_HOME, or start the application in this process."""
    headers = {"Authorization": f"Bearer {settings.api.key}"} if settings.api.key else {}
    url = settings.api.url or await _running_server(settings.home)
    async with AsyncExitStack() as stack:
        if url is not None:
            http = await stack.enter_async_context(_http_client(url, headers))
            await _greet(http, url)
            yield AttestClient(http, in_process=False)
            return
        from api.app import create_app  # heavy: not wanted when a server answers
        from api.inprocess import InProcessTransport

        app = create_app(settings, local_owner=True)
        await stack.enter_async_context(app.router.lifespan_context(app))
        http = httpx.AsyncClient(
            transport=InProcessTransport(app), base_url="http://localhost", headers=headers, timeout=_TIMEOUT
        )
        await stack.enter_async_context(http)
        yield AttestClient(http, in_process=True)


def _in_parts(names: Sequence[str]) -> Iterator[list[str]]:
    """Divide names so that each part fits a request's body, however long its names are."""
    some: list[str] = []
    size = 0
    for name in names:
        length = len(json.dumps(name))
        if some and (len(some) == _NAMES or size + length > _NAMES_BYTES):
            yield some
            some, size = [], 0
        some.append(name)
        size += length
    if some:
        yield some


def displayed(name: str | Path) -> str:
    r"""Return a file's name with what is no UTF-8 in it escaped (`\xff`): so it can be sent and printed."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def server_file(home: Path) -> Path:
    """Return where a running server leaves its address."""
    return home / "server.json"


def _http_client(url: str, headers: dict[str, str]) -> httpx.AsyncClient:
    try:
        local = is_loopback(httpx.URL(url).host)
    except httpx.InvalidURL as exc:
        raise SettingsError(f"ATTEST_API_URL: {url!r} is not a URL ({exc})") from exc
    # A proxy that the environment names knows no way to this machine's loopback.
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=_TIMEOUT, trust_env=not local)


async def _greet(http: httpx.AsyncClient, url: str) -> None:
    try:
        answer = await http.get("/healthz")
    except httpx.TransportError as exc:
        raise ServerUnreachableError(f"no attest server answers at {url} ({type(exc).__name__})") from exc
    if INSTANCE_HEADER not in answer.headers:
        raise ServerUnreachableError(f"what answers at {url} is not an attest server")


def _announced(home: Path) -> ServerFile | None:
    try:
        found = ServerFile.model_validate_json(server_file(home).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    return found if found.home == str(home.resolve()) else None


async def _running_server(home: Path) -> str | None:
    found = _announced(home)
    if found is None:
        return None
    try:
        async with httpx.AsyncClient(timeout=10.0, trust_env=False) as http:
            answer = await http.get(f"{found.url}/healthz")
    except httpx.TransportError:
        return None  # left behind by a server that was killed
    # Another server may have taken the address over; it serves another home.
    return found.url if answer.headers.get(INSTANCE_HEADER) == found.instance else None


def _body(response: httpx.Response) -> Any:
    try:
        if response.status_code < 400:
            return response.json()
        problem = response.json()
        raise ProblemError(str(problem["code"]), str(problem["detail"]), response.status_code)
    except (ValueError, KeyError, TypeError):
        raise ProblemError(
            "http", f"the server answered with status {response.status_code}", response.status_code
        ) from None
