"""Alerts: when one is raised, what it carries, and how the webhook delivers it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from agent.alerts import Alarms, Alert
from agent.audit.verdicts import Audit, SentenceVerdict
from agent.events import RunCompleted
from agent.fakes import FakeClock
from agent.settings import AlertSettings
from api.webhook import Letter, Outcome, Webhook, key_of, sign

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()


class Kept:
    """A sink that keeps."""

    def __init__(self) -> None:
        self.alerts: list[Alert] = []

    def take(self, alert: Alert) -> None:
        self.alerts.append(alert)


def done(risk: Any, action: Any = "none") -> RunCompleted:
    verdict = SentenceVerdict(index=0, start=0, end=6, text="Secret.", kind="contradicted")
    return RunCompleted(
        run_id="r1",
        trace_id="t1",
        seq=1,
        at=NOW,
        status="answered",
        answer="Secret.",
        audit=Audit(risk=risk, action=action, sentences=(verdict,), violations=("Secret",)),
        passages=(),
        tier="strong",
        model="m",
        encoder="e",
        steps=1,
        prompt_tokens=1,
        completion_tokens=1,
        latency_ms=1.0,
    )


@pytest.mark.parametrize(
    ("at", "risk", "action", "raised"),
    [
        ("high", "high", "none", 1),
        ("high", "medium", "none", 0),
        ("high", "medium", "withheld", 1),
        ("medium", "medium", "repaired", 1),
        ("medium", "low", "none", 0),
    ],
)
def test_alerts_are_raised_by_risk_and_hold_no_text(at: Any, risk: Any, action: Any, raised: int) -> None:
    kept = Kept()
    Alarms([kept], at=at, clock=FakeClock()).completed(done(risk, action), "acme")
    assert len(kept.alerts) == raised
    for alert in kept.alerts:
        assert (alert.run_ids, alert.verdicts, alert.violations) == (("r1",), {"contradicted": 1}, 1)
        assert "Secret" not in alert.model_dump_json()


async def test_stale_answers_are_told_in_parts() -> None:
    kept = Kept()
    await Alarms([kept], clock=FakeClock()).stale("acme", [f"r{n}" for n in range(1200)])
    assert [len(each.run_ids) for each in kept.alerts] == [500, 500, 200]
    assert {each.kind for each in kept.alerts} == {"stale_answers"}


def test_a_webhook_needs_a_secret() -> None:
    with pytest.raises(ValidationError, match="unsigned"):
        AlertSettings(webhook_url="https://example.org/hook")
    assert "example" not in repr(AlertSettings(webhook_url="https://example.org/hook", webhook_secret=SECRET))


def test_the_signature_covers_id_time_and_body() -> None:
    letter = Letter("msg_1", b'{"a":1}')
    key = b"0123456789abcdef01234567"
    expected = base64.b64encode(hmac.new(key, b'msg_1.1700000000.{"a":1}', hashlib.sha256).digest()).decode()
    assert sign(key_of(SECRET), letter, 1700000000) == f"v1,{expected}"
    assert key_of("plain secret of mine") == b"plain secret of mine"
    assert key_of("whsec_not base64!") == b"whsec_not base64!"


async def deliver(answers: Callable[[int], httpx.Response], letters: int = 1, tries: int = 4) -> Any:
    """Send letters to a receiver that answers its n-th request so."""
    requests: list[httpx.Request] = []
    outcomes: list[Outcome] = []
    slept: list[float] = []

    def receive(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return answers(len(requests))

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    webhook = Webhook(
        "http://127.0.0.1:9/hook",
        SECRET,
        tries=tries,
        counted=outcomes.append,
        transport=httpx.MockTransport(receive),
        sleep=sleep,
        now=lambda: datetime.fromtimestamp(1_700_000_000 + len(requests), UTC),
    )
    for number in range(letters):
        webhook.put(json.dumps({"n": number}).encode())
    await webhook.idle()
    await webhook.close()
    return requests, outcomes, slept


async def test_a_letter_is_tried_again_with_one_id_and_growing_pauses() -> None:
    requests, outcomes, slept = await deliver(lambda n: httpx.Response(503 if n < 3 else 204))
    assert outcomes == ["delivered"]
    assert len({each.headers["webhook-id"] for each in requests}) == 1
    assert [each.headers["webhook-timestamp"] for each in requests] == ["1700000000", "1700000001", "1700000002"]
    for request in requests:
        letter = Letter(request.headers["webhook-id"], request.content)
        stamp = int(request.headers["webhook-timestamp"])
        assert request.headers["webhook-signature"] == sign(key_of(SECRET), letter, stamp)
    assert len(slept) == 2
    assert slept[0] < slept[1]


async def test_a_refusal_is_not_tried_again_and_the_next_letter_goes_on() -> None:
    requests, outcomes, _ = await deliver(lambda n: httpx.Response(410 if n == 1 else 200), letters=2)
    assert outcomes == ["refused", "delivered"]
    assert [json.loads(each.content) for each in requests] == [{"n": 0}, {"n": 1}]


async def test_a_receiver_that_is_away_or_redirects_ends_the_tries() -> None:
    def away(_: int) -> httpx.Response:
        raise httpx.ConnectError("no")

    requests, outcomes, _ = await deliver(away)
    assert (len(requests), outcomes) == (4, ["failed"])
    requests, outcomes, _ = await deliver(lambda _: httpx.Response(302, headers={"location": "http://10.0.0.1/"}))
    assert (len(requests), outcomes) == (1, ["refused"])
