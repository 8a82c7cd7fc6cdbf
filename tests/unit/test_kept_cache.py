"""What is in memory of a tenant's corrections and erasures: never from before a change that was told."""

from __future__ import annotations

from ingest.kept_cache import KeptCache
from retrieval.symbols.combined_rules import Kept


class Store:
    def __init__(self) -> None:
        self.erased: frozenset[str] = frozenset()
        self.reads = 0

    def state(self) -> int:
        return len(self.erased)

    def read(self) -> Kept:
        self.reads += 1
        return Kept(erased=self.erased)


def test_kept_cache_gives_the_same_object_while_the_state_is_the_same() -> None:
    store, now = Store(), [0.0]
    cache = KeptCache(lambda: now[0])
    first = cache.get("t", store.state, store.read)
    now[0] += 5
    assert cache.get("t", store.state, store.read) is first
    cache.look_again("t")
    assert cache.get("t", store.state, store.read) is first
    assert store.reads == 1


def test_kept_cache_looks_again_when_told_and_when_a_second_has_passed() -> None:
    store, now = Store(), [0.0]
    cache = KeptCache(lambda: now[0])
    cache.get("t", store.state, store.read)
    store.erased = frozenset({"a"})
    assert cache.get("t", store.state, store.read).erased == frozenset()
    cache.look_again("t")
    assert cache.get("t", store.state, store.read).erased == {"a"}
    store.erased = frozenset({"a", "b"})
    now[0] += 1
    assert cache.get("t", store.state, store.read).erased == {"a", "b"}


def test_kept_cache_forgets_a_look_that_began_before_a_change() -> None:
    store = Store()
    cache = KeptCache(lambda: 0.0)

    def overtaken() -> Kept:
        kept = store.read()
        store.erased = frozenset({"a"})
        cache.look_again("t")
        return kept

    assert cache.get("t", store.state, overtaken).erased == frozenset()
    assert cache.get("t", store.state, store.read).erased == {"a"}
