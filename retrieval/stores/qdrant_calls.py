"""How the Qdrant server is called: waited for, asked again where that is safe, and its errors in our words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from json import JSONDecodeError
from typing import Any, Final, NoReturn, TypeVar

import httpx
from pydantic import ValidationError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from retrieval.errors import CollectionMissingError, StoreRefusedError, StoreUnavailableError
from retrieval.settings import StoreSettings

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]

OLDEST_SERVER: Final = (1, 19)
"""Older ones pass over the condition on word statistics, and would weigh terms by what the asker may not see."""
_BUSY: Final = frozenset({429, 502, 503, 504})
"""Answers of a server, or of a proxy before it, that are another a moment later."""
_BACKOFF = wait_random_exponential(multiplier=0.2, max=5.0)
_JITTER = wait_random_exponential(multiplier=0.1, max=0.5)
"""On top of what a server asks to wait, so that not all come back at once."""
_GRPC_STATUS: Final = {
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
    "INVALID_ARGUMENT": 400,
    "UNIMPLEMENTED": 400,
}


class QdrantCalls:
    """Makes calls to one collection.

    Everything but the creation of the collection may be made twice: points are written, changed and
    deleted by id or by what they say, so a call whose answer was lost only does again what it did.
    """

    def __init__(self, where: str, settings: StoreSettings, sleep: Sleep = asyncio.sleep) -> None:
        """Prepare.

        Args:
            where: names collection and server in messages.
            settings: time limit and number of retries.
            sleep: how to wait between two attempts.
        """
        self._where, self._settings, self._sleep = where, settings, sleep

    async def make(self, call: Callable[[], Awaitable[T]], *, repeatable: bool = True) -> T:
        """Make a call, again where the server is busy or the connection broke and it is `repeatable`.

        A call that ran into the time limit is not repeated: the server may still be at work on it.

        Raises:
            CollectionMissingError: there is no such collection.
            StoreRefusedError: wrong key, strict mode, or a request that this server does not know.
            StoreUnavailableError: no answer, or none in time.
        """

        async def awaited() -> T:  # tenacity awaits nothing but coroutine functions
            return await call()

        retrying = AsyncRetrying(
            stop=stop_after_attempt(1 + (self._settings.qdrant_retries if repeatable else 0)),
            wait=_wait,
            retry=retry_if_exception(self._passes),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return await retrying(awaited)
        except self.errors() as exc:
            self._raise(exc)

    @staticmethod
    def errors() -> tuple[type[Exception], ...]:
        """Return what the client raises."""
        from grpc import RpcError
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        return ApiException, QdrantException, RpcError, JSONDecodeError, ValidationError, OSError

    def _passes(self, exc: BaseException) -> bool:
        """Tell whether the call may succeed in a moment, within the time that a caller is ready to wait."""
        if (wait := retry_after_s(exc)) is not None and wait > self._settings.timeout_s:
            return False
        source = getattr(exc, "source", None)
        if isinstance(source, httpx.TimeoutException):
            return isinstance(source, httpx.ConnectTimeout | httpx.PoolTimeout)
        status = _status(exc)
        return isinstance(source, httpx.TransportError) or (status in _BUSY and not _took_too_long(exc))

    def _raise(self, exc: Exception) -> NoReturn:
        """Say what failed and what to do; what the server said is left out, it may quote a document."""
        status, source = _status(exc), getattr(exc, "source", None)
        if _took_too_long(exc) or isinstance(source, httpx.TimeoutException):
            raise self._unavailable(
                f"no answer within {self._settings.timeout_s:g} s; look at the server's load, or raise "
                "ATTEST_VECTORS_TIMEOUT_S"
            ) from exc
        if isinstance(source, httpx.TransportError) or isinstance(exc, OSError):
            raise self._unavailable(
                f"no answer ({type(source or exc).__name__}); is the server running, and is "
                "ATTEST_VECTORS_QDRANT_URL its address?"
            ) from exc
        if status is None:
            raise self._unavailable("no answer of a Qdrant server; is a proxy at ATTEST_VECTORS_QDRANT_URL?") from exc
        if status == 404:
            raise CollectionMissingError(f"{self._where} does not exist; ingest the documents again") from exc
        if (refusal := _refusal(status, exc)) is not None:
            raise StoreRefusedError(f"{self._where}: {refusal}") from exc
        if status == 429:
            wait = retry_after_s(exc)
            later = "" if wait is None else f"; it asks to wait {wait:g} s"
            raise self._unavailable(
                f"the server answered 429, too many requests{later}. Ask less often, or raise the rate limits of its "
                "strict mode"
            ) from exc
        raise self._unavailable(f"the server answered {status}; its log has the reason") from exc

    def _unavailable(self, said: str) -> StoreUnavailableError:
        return StoreUnavailableError(f"{self._where}: {said}")


def retry_after_s(exc: BaseException) -> float | None:
    """Return how long the server asks to wait; None where it does not say, or names a day instead."""
    if (seconds := getattr(exc, "retry_after_s", None)) is not None:
        return float(seconds)
    headers: Any = getattr(exc, "headers", None)
    given = str(headers.get("Retry-After", "")) if isinstance(headers, httpx.Headers) else ""
    return float(given) if given.isdecimal() else None


def _wait(state: RetryCallState) -> float:
    failed = state.outcome.exception() if state.outcome is not None else None
    asked = retry_after_s(failed) if failed is not None else None
    return _BACKOFF(state) if asked is None else asked + _JITTER(state)


def _status(exc: BaseException) -> int | None:
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse

    if isinstance(exc, ResourceExhaustedResponse):
        return 429
    if (status := getattr(exc, "status_code", None)) is not None:
        return int(status)
    name = _grpc_code(exc)
    return None if name is None else _GRPC_STATUS.get(name, 500)


def _took_too_long(exc: BaseException) -> bool:
    return _grpc_code(exc) == "DEADLINE_EXCEEDED"


def _grpc_code(exc: BaseException) -> str | None:
    code = getattr(exc, "code", None)
    if not callable(code):
        return None
    status: Any = code()
    return str(status.name)


def _refusal(status: int, exc: Exception) -> str | None:
    said = _said(exc)
    if status in {400, 403, 422} and ("strict mode" in said or "help:" in said):
        return (
            f"the server's strict mode refuses the request ({status}); compare its limits with ATTEST_VECTORS_QDRANT_… "
            "in docs/configuration.md"
        )
    match status:
        case 401:
            return "the server answered 401, the key is missing or wrong; set ATTEST_VECTORS_QDRANT_API_KEY"
        case 403:
            return (
                "the server answered 403, the key is wrong or does not allow this; give one that reads and writes the "
                "collection, and at the first start one that may create it"
            )
        case 400 | 405 | 422 | 501:
            return (
                f"the server answered {status}, it does not know or take this request; its version must be "
                f"{OLDEST_SERVER[0]}.{OLDEST_SERVER[1]} or later"
            )
        case 413:
            return "the server answered 413, the request is too large; raise its or the proxy's limit for bodies"
        case _:
            return None


def _said(exc: Exception) -> str:
    """Return what the server said, to recognise it by; never shown."""
    content: Any = getattr(exc, "content", b"")
    details: Any = getattr(exc, "details", None)
    told = str(details()) if callable(details) else ""
    return (content.decode("utf-8", "replace") if isinstance(content, bytes) else "").lower() + told.lower()
