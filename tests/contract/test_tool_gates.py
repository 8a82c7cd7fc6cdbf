"""Breakers and rate limits: what every implementation keeps to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.tools.breaker import Breakers, LocalBreakers
from agent.tools.limits import RateLimits, WindowLimits


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    wall = SimpleNamespace(time=clock)
    for module in ("limits.aio.storage.memory", "limits.aio.strategies", "agent.tools.limits"):
        monkeypatch.setattr(f"{module}.time", wall)
    return clock


@pytest.fixture
def breakers(clock: Clock) -> Breakers:
    return LocalBreakers(monotonic=clock)


@pytest.fixture
def limits(clock: Clock) -> RateLimits:
    return WindowLimits()


async def fail(breakers: Breakers, times: int, key: str = "acme/weather") -> None:
    for _ in range(times):
        assert await breakers.admit(key) == 0
        await breakers.failed(key)


async def test_a_breaker_opens_after_five_failures_in_a_row_and_for_its_key_alone(breakers: Breakers) -> None:
    await fail(breakers, 4)
    await breakers.admit("acme/weather")
    await breakers.succeeded("acme/weather")
    await fail(breakers, 5)
    assert await breakers.admit("acme/weather") == pytest.approx(300)
    assert await breakers.admit("acme/other") == 0
    assert await breakers.admit("other/weather") == 0


async def test_an_open_breaker_admits_one_probe_after_five_minutes(breakers: Breakers, clock: Clock) -> None:
    await fail(breakers, 5)
    clock.seconds += 299
    assert await breakers.admit("acme/weather") == pytest.approx(1)
    clock.seconds += 1
    assert await breakers.admit("acme/weather") == 0
    assert await breakers.admit("acme/weather") > 0
    await breakers.succeeded("acme/weather")
    assert await breakers.admit("acme/weather") == 0
    await fail(breakers, 4)
    assert await breakers.admit("acme/weather") == 0


async def test_a_probe_that_fails_opens_for_another_five_minutes(breakers: Breakers, clock: Clock) -> None:
    await fail(breakers, 5)
    clock.seconds += 300
    await fail(breakers, 1)
    assert await breakers.admit("acme/weather") == pytest.approx(300)


async def test_a_probe_that_is_cancelled_or_lost_makes_room_for_another(breakers: Breakers, clock: Clock) -> None:
    await fail(breakers, 5)
    clock.seconds += 300
    assert await breakers.admit("acme/weather") == 0
    await breakers.abandoned("acme/weather")
    assert await breakers.admit("acme/weather") == 0
    clock.seconds += 300
    assert await breakers.admit("acme/weather") == 0


async def test_a_rate_limit_counts_the_last_minute_by_key(limits: RateLimits, clock: Clock) -> None:
    assert [await limits.take("acme/weather", 2) for _ in range(2)] == [0, 0]
    clock.seconds += 20
    assert 39 < await limits.take("acme/weather", 2) <= 41
    assert await limits.take("other/weather", 2) == 0
    clock.seconds += 41
    assert await limits.take("acme/weather", 2) == 0
