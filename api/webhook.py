"""Signed webhooks in the form of https://www.standardwebhooks.com: HMAC-SHA256 over an id, a time and the body.

Delivered in order, one at a time, and tried again with growing pauses. What is not delivered when the
process ends is lost; what it told of is still listed by `attest audits`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import uuid4

import httpx
from tenacity import AsyncRetrying, RetryError, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from api.loopback import is_loopback

log = logging.getLogger(__name__)

Outcome = Literal["delivered", "refused", "failed", "lost"]
_WAITING = 1000
_PREFIX = "whsec_"
_AGAIN = frozenset({408, 425, 429})


class _AgainError(Exception):
    """The receiver may take it the next time."""


@dataclass(frozen=True, slots=True)
class Letter:
    """What is sent: an id that stays the same over all tries, and a JSON body."""

    letter_id: str
    body: bytes


def key_of(secret: str) -> bytes:
    """Return the key of a secret: base64 after `whsec_`, else the text itself."""
    if secret.startswith(_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except (ValueError, binascii.Error):
            return secret.encode()
    return secret.encode()


def sign(key: bytes, letter: Letter, timestamp: int) -> str:
    """Return the signature of a letter sent at `timestamp` (Unix seconds)."""
    signed = f"{letter.letter_id}.{timestamp}.".encode() + letter.body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


class Webhook:
    """Sends letters to one address that the operator named."""

    def __init__(
        self,
        url: str,
        secret: str,
        *,
        tries: int = 6,
        timeout_s: float = 10.0,
        counted: Callable[[Outcome], None] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Take the address.

        Args:
            url: where to.
            secret: what signs.
            tries: of each letter.
            timeout_s: of each try.
            counted: hears what became of each letter; None: only the log does.
            transport: for tests.
            sleep: for tests.
            now: for tests.
        """
        self._url, self._key, self._tries = url, key_of(secret), tries
        self._counted, self._sleep, self._now = counted, sleep, now
        local = is_loopback(httpx.URL(url).host)
        # No redirects: the operator named this address and no other.
        self._http = httpx.AsyncClient(
            timeout=timeout_s, transport=transport, trust_env=not local, follow_redirects=False
        )
        self._letters: asyncio.Queue[Letter] = asyncio.Queue(_WAITING)
        self._sending: asyncio.Task[None] | None = None

    def put(self, body: bytes, letter_id: str | None = None) -> None:
        """Take a letter to be sent; never waits."""
        try:
            self._letters.put_nowait(Letter(letter_id or f"msg_{uuid4().hex}", body))
        except asyncio.QueueFull:
            self._count("lost")
            return
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_all())

    async def idle(self) -> None:
        """Wait until nothing is left to send."""
        await self._letters.join()

    async def close(self) -> None:
        """Stop sending."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
        await self._http.aclose()

    async def _send_all(self) -> None:
        while True:
            letter = await self._letters.get()
            try:
                self._count(await self._deliver(letter))
            finally:
                self._letters.task_done()

    async def _deliver(self, letter: Letter) -> Outcome:
        trying = AsyncRetrying(
            stop=stop_after_attempt(self._tries),
            wait=wait_exponential_jitter(initial=1, max=60),
            retry=retry_if_exception_type(_AgainError),
            sleep=self._sleep,
        )
        try:
            async for attempt in trying:
                with attempt:
                    return await self._try(letter)
        except RetryError:
            return "failed"
        raise AssertionError("a try ends in one way or the other")

    async def _try(self, letter: Letter) -> Outcome:
        timestamp = int(self._now().timestamp())
        headers = {
            "content-type": "application/json",
            "webhook-id": letter.letter_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(self._key, letter, timestamp),
        }
        try:
            answer = await self._http.post(self._url, content=letter.body, headers=headers)
        except httpx.TransportError as exc:
            raise _AgainError from exc
        if answer.status_code >= 500 or answer.status_code in _AGAIN:
            raise _AgainError
        return "delivered" if answer.is_success else "refused"

    def _count(self, outcome: Outcome) -> None:
        if outcome != "delivered":
            # The address is not named: it may hold a token.
            log.error("an alert could not be delivered to the webhook: %s", outcome)
        if self._counted is not None:
            self._counted(outcome)
