"""The cache of results: bounded, made once, never stale, never torn from one caller by another."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from retrieval.cache import CachedTexts, ResultCache
from retrieval.settings import CacheSettings


@dataclass(frozen=True)
class Key:
    name: str
    tenant: str = "acme"
    knowledge_version: int = 1


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def cache(clock: Clock | None = None, **settings: object) -> ResultCache[Key, str]:
    return ResultCache(
        CacheSettings.model_validate(settings),
        size_of=len,
        documents_of=lambda value: {value[:1]},
        monotonic=clock or Clock(),
    )


class Maker:
    """Makes a value when told to; counts how often it was asked."""

    def __init__(self, value: str = "value") -> None:
        self.value, self.asked, self.go, self.ended = value, 0, asyncio.Event(), 0

    async def __call__(self) -> str:
        self.asked += 1
        try:
            await self.go.wait()
        finally:
            self.ended += 1
        if self.value == "fail":
            raise LookupError("failed")
        return self.value


async def made(kept: ResultCache[Key, str], key: Key, value: str = "value") -> tuple[str, bool]:
    maker = Maker(value)
    maker.go.set()
    return await kept.get_or_make(key, maker)


async def test_a_result_is_made_once_however_many_ask_at_once() -> None:
    kept, maker = cache(), Maker()
    asking = [asyncio.create_task(kept.get_or_make(Key("a"), maker)) for _ in range(20)]
    await asyncio.sleep(0)
    maker.go.set()
    assert sorted(await asyncio.gather(*asking)) == [("value", False)] + [("value", True)] * 19
    assert (maker.asked, await made(kept, Key("a"), "other")) == (1, ("value", True))
    assert (kept.counts().hits, kept.counts().misses) == (20, 1)


async def test_another_key_is_another_result() -> None:
    kept = cache()
    await made(kept, Key("a"), "one")
    assert await made(kept, Key("b"), "two") == ("two", False)
    assert await made(kept, Key("a", tenant="rival"), "three") == ("three", False)


async def test_who_goes_away_leaves_the_others_their_result() -> None:
    kept, maker = cache(), Maker()
    first, second = (asyncio.create_task(kept.get_or_make(Key("a"), maker)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    maker.go.set()
    assert await second == ("value", True)
    assert first.cancelled()


async def test_when_all_go_away_the_work_ends_and_the_next_begins_anew() -> None:
    kept, maker = cache(), Maker()
    asking = asyncio.create_task(kept.get_or_make(Key("a"), maker))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert maker.asked == 1
    asking.cancel()
    await asyncio.wait([asking])
    assert await made(kept, Key("a"), "new") == ("new", False)
    assert maker.ended == 1


async def test_a_failure_reaches_all_and_is_not_kept() -> None:
    kept, maker = cache(), Maker("fail")
    asking = [asyncio.create_task(kept.get_or_make(Key("a"), maker)) for _ in range(3)]
    await asyncio.sleep(0)
    maker.go.set()
    assert [type(each) for each in await asyncio.gather(*asking, return_exceptions=True)] == [LookupError] * 3
    assert await made(kept, Key("a")) == ("value", False)


async def test_results_have_a_life() -> None:
    clock = Clock()
    kept = cache(clock, life_s=10)
    await made(kept, Key("a"))
    clock.now = 9.9
    assert (await made(kept, Key("a")))[1]
    clock.now = 10.1
    assert not (await made(kept, Key("a")))[1]


async def test_entries_and_bytes_are_bounded() -> None:
    kept = cache(max_entries=10, max_mb=1)
    for number in range(100):
        await made(kept, Key(str(number)), "x")
    assert kept.counts().entries == 10
    kept = cache(max_entries=1000, max_mb=1)
    for number in range(100):
        await made(kept, Key(str(number)), "x" * 100_000)
    assert kept.counts().entries == 10
    assert kept.counts().bytes <= 1024 * 1024
    assert not (await made(kept, Key("huge"), "x" * 2_000_000))[1]
    assert not (await made(kept, Key("huge"), "x" * 2_000_000))[1]


async def test_a_new_state_of_the_documents_drops_what_rests_on_the_former() -> None:
    kept = cache()
    await made(kept, Key("a"))
    await made(kept, Key("b", tenant="rival"))
    assert not (await made(kept, Key("a", knowledge_version=2), "new"))[1]
    assert kept.counts().entries == 2
    assert kept.get(Key("b", tenant="rival")) == "value"


async def test_what_was_begun_before_a_change_is_not_kept_after_it() -> None:
    kept, late = cache(), Maker("old")
    asking = asyncio.create_task(kept.get_or_make(Key("a"), late))
    await asyncio.sleep(0)
    await made(kept, Key("a", knowledge_version=2), "new")
    late.go.set()
    assert await asking == ("old", False)
    assert kept.counts().entries == 1
    assert kept.get(Key("a", knowledge_version=2)) == "new"


@pytest.mark.parametrize("way", ["rewrite", "erase"])
async def test_what_is_forgotten_does_not_come_back_from_work_under_way(way: str) -> None:
    kept, late = cache(), Maker("old")
    texts = CachedTexts(kept)
    await made(kept, Key("a"), "d1")
    await made(kept, Key("a", tenant="rival"), "d1")
    asking = asyncio.create_task(kept.get_or_make(Key("b"), late))
    await asyncio.sleep(0)
    await (texts.rewrite("acme", str) if way == "rewrite" else texts.erase("acme", "d"))
    again = Maker("new")
    second = asyncio.create_task(kept.get_or_make(Key("b"), again))
    await asyncio.sleep(0)
    late.go.set()
    again.go.set()
    assert (await asking, await second) == (("old", False), ("new", False))
    await asyncio.sleep(0)
    assert (kept.get(Key("a")), kept.get(Key("b"))) == (None, "new")
    assert kept.get(Key("a", tenant="rival")) == "d1"


async def test_a_result_handed_in_after_forgetting_is_refused() -> None:
    kept = cache()
    before = kept.generation("acme")
    kept.forget("acme")
    kept.put(Key("a"), "old", before)
    kept.put(Key("b"), "new", kept.generation("acme"))
    assert (kept.get(Key("a")), kept.get(Key("b"))) == (None, "new")


async def test_the_probe_counts_what_holds_a_document_and_erases_it() -> None:
    kept = cache()
    texts = CachedTexts(kept)
    await made(kept, Key("a"), "d text")
    await made(kept, Key("b"), "e text")
    await made(kept, Key("c", tenant="rival"), "d text")
    assert await texts.left("acme", "d") == 1
    assert await texts.erase("acme", "d") == 1
    assert (await texts.left("acme", "d"), await texts.left("rival", "d")) == (0, 1)
