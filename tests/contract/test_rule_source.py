"""What every source of rules keeps to: the same object while nothing changes, another once something has."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from retrieval.symbols.combined_rules import CombinedRules, Kept
from retrieval.symbols.language import builtin_dir
from retrieval.symbols.rule_source import RuleFiles
from retrieval.symbols.rules import Correction, FixedRules, RuleSource, TenantRules, revised

BEGIN = 1_800_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> float:
        return self.now


class KeptInMemory:
    def __init__(self) -> None:
        self.by_tenant: dict[str, Kept] = {}

    def kept(self, tenant: str) -> Kept:
        return self.by_tenant.setdefault(tenant, Kept())

    def look_again(self, tenant: str) -> None:
        """Nothing is remembered here."""


class Sourced(NamedTuple):
    source: RuleSource
    change: Callable[[], None] | None
    """Makes the rules of tenant `t` others; None: they never change."""


def _fixed(_folder: Path) -> Sourced:
    return Sourced(FixedRules(revised(TenantRules())), None)


def _files(folder: Path) -> Sourced:
    clock = Clock()
    source = RuleFiles(builtin_dir(), folder, now=clock)

    def change() -> None:
        own = folder / "tenants" / "t" / "year.toml"
        own.parent.mkdir(parents=True)
        own.write_text("[fiscal_year]\nstart = 4\n", encoding="utf-8")
        os.utime(own, (BEGIN, BEGIN))
        clock.now += 5

    return Sourced(source, change)


def _combined(folder: Path) -> Sourced:
    kept = KeptInMemory()

    def change() -> None:
        kept.by_tenant["t"] = Kept((Correction(text="C1", verdict="not_symbol"),), frozenset({"abc"}))

    return Sourced(CombinedRules(RuleFiles(builtin_dir(), folder), kept), change)


def _combined_over_files(folder: Path) -> Sourced:
    files = _files(folder)
    return Sourced(CombinedRules(files.source, KeptInMemory()), files.change)


@pytest.fixture(params=[_fixed, _files, _combined, _combined_over_files])
def sourced(request: pytest.FixtureRequest, tmp_path: Path) -> Sourced:
    return request.param(tmp_path)


def test_rules_stay_the_same_object_while_nothing_changes(sourced: Sourced) -> None:
    assert sourced.source.rules("t") is sourced.source.rules("t")


def test_rules_have_a_revision_and_no_problems(sourced: Sourced) -> None:
    assert sourced.source.rules("t").revision
    assert sourced.source.problems("t") == ()


def test_equal_rules_of_two_tenants_have_one_revision(sourced: Sourced) -> None:
    assert sourced.source.rules("t").revision == sourced.source.rules("u").revision


def test_a_change_gives_that_tenant_new_rules_and_no_other(sourced: Sourced) -> None:
    before, of_another = sourced.source.rules("t"), sourced.source.rules("u")
    if sourced.change is None:
        pytest.skip("these rules never change")
    sourced.change()
    after = sourced.source.rules("t")
    assert after is not before
    assert after.revision != before.revision
    assert after is sourced.source.rules("t")
    assert sourced.source.rules("u") is of_another


def test_threads_get_the_rules_whole(sourced: Sourced) -> None:
    before = sourced.source.rules("t")
    seen: list[TenantRules] = []
    start = threading.Barrier(5)

    def ask() -> None:
        start.wait()
        seen.extend(sourced.source.rules("t") for _ in range(200))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    start.wait()
    if sourced.change is not None:
        sourced.change()
    for thread in threads:
        thread.join()
    after = sourced.source.rules("t")
    assert {rules.revision for rules in seen} <= {before.revision, after.revision}
    assert all(revised(rules) == rules for rules in {id(rules): rules for rules in seen}.values())


def test_combined_rules_hold_what_files_say_and_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "year.toml").write_text("[fiscal_year]\nstart = 7\n", encoding="utf-8")
    kept = KeptInMemory()
    source = CombinedRules(RuleFiles(builtin_dir(), tmp_path), kept)
    correction = Correction(text="甲", verdict="secret")
    kept.by_tenant["t"] = Kept((correction,), frozenset({"f"}))
    rules = source.rules("t")
    assert (rules.fiscal_year_start, rules.corrections, rules.erased) == (7, (correction,), frozenset({"f"}))
    assert {v.namespace for v in rules.vocabularies} == {"customer_risk", "fund_risk", "credit_rating"}


def test_what_is_kept_again_unchanged_builds_nothing_again(tmp_path: Path) -> None:
    kept = KeptInMemory()
    source = CombinedRules(RuleFiles(builtin_dir(), tmp_path), kept)
    before = source.rules("t")
    kept.by_tenant["t"] = Kept()
    assert source.rules("t") is before


def test_revision_does_not_hang_on_the_order_of_erasures() -> None:
    one = revised(TenantRules(erased=frozenset(map(str, range(50)))))
    two = revised(TenantRules(erased=frozenset(map(str, reversed(range(50))))))
    assert one.revision == two.revision
