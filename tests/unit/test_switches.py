"""What is switched off is neither offered nor callable."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from agent.errors import UnknownToolError
from agent.switches import Switches
from agent.tools.base import ToolSpec
from agent.tools.builtin.calculate import Calculate
from agent.tools.builtin.finish import Finish
from agent.tools.builtin.list_documents import ListDocuments
from agent.tools.builtin.query_database import QueryDatabase
from agent.tools.databases import DatabaseCard
from agent.tools.registry import ToolRegistry
from agent.tools.whitelist import offer
from api.settings import load_settings
from retrieval.types import ALL_RIGHTS, Principal, SearchFilter

OWNER = Principal(tenant="acme", user="owner", rights=ALL_RIGHTS)


class SomeDatabases:
    def __init__(self, names: Sequence[str]) -> None:
        self._cards = [DatabaseCard(name=name, document_id=name, title=name) for name in names]

    async def visible(self, principal: Principal, filter: SearchFilter) -> Sequence[DatabaseCard]:
        return self._cards

    def open(self, principal: Principal, database: DatabaseCard) -> object:
        raise AssertionError("nothing is opened to know whether there is something")


class Acting:
    spec = ToolSpec(name="acting", description="d", arguments={}, side_effects=True, requires="admin")

    async def run(self, arguments: object, context: object) -> object:
        raise AssertionError("never called")


def registry(*databases: str) -> ToolRegistry:
    query = QueryDatabase(SomeDatabases(databases), lambda text, tenant: text)  # type: ignore[arg-type]
    return ToolRegistry([ListDocuments(), query, Calculate(), Acting(), Finish()])  # type: ignore[list-item]


async def names(switches: Switches, principal: Principal = OWNER, *databases: str, knowledge: bool = True) -> list[str]:
    specs = await offer(registry(*databases), switches, principal, SearchFilter(), knowledge=knowledge)
    return [spec.name for spec in specs]


async def test_all_is_offered_that_is_on_of_use_and_within_the_rights() -> None:
    assert await names(Switches(), OWNER, "sales") == [
        "list_documents",
        "query_database",
        "calculate",
        "acting",
        "finish",
    ]
    assert await names(Switches(), OWNER) == ["list_documents", "calculate", "acting", "finish"]
    assert await names(Switches(), OWNER, "sales", knowledge=False) == ["calculate", "acting", "finish"]
    reader = Principal(tenant="acme", user="reader")
    assert "acting" not in await names(Switches(), reader)


async def test_a_tool_or_its_feature_is_off_for_all_or_for_one_tenant() -> None:
    everywhere = Switches(off=frozenset({"tool:calculate"}))
    assert "calculate" not in await names(everywhere)
    one = Switches(tenants={"acme": frozenset({"tool:calculate", "feature:databases"})})
    other = Principal(tenant="other", user="owner", rights=ALL_RIGHTS)
    assert {"calculate", "query_database"} & set(await names(one, OWNER, "sales")) == set()
    assert {"calculate", "query_database"} <= set(await names(one, other, "sales"))
    with pytest.raises(UnknownToolError):
        registry("sales").resolve("calculate", set(await names(one, OWNER, "sales")))


def test_a_tier_that_is_off_gives_way_to_the_next_one_below() -> None:
    switches = Switches(tenants={"acme": frozenset({"tier:strong"}), "quiet": frozenset({"tier:strong", "tier:weak"})})
    assert [switches.tier("strong", tenant) for tenant in ("acme", "quiet", "other")] == ["weak", "none", "strong"]
    assert switches.tier("weak", "acme") == "weak"


@pytest.mark.parametrize("switch", ["calculate", "tool:", "feature:colour", "tier:none", "modell:x", "tool:a b"])
def test_a_switch_that_is_misspelt_is_an_error(switch: str) -> None:
    with pytest.raises(ValidationError):
        Switches(off=frozenset({switch}))


def test_switches_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("ATTEST_HOME", str(tmp_path))
    monkeypatch.setenv("ATTEST_SWITCHES_OFF", '["tool:calculate"]')
    monkeypatch.setenv("ATTEST_SWITCHES_TENANTS", '{"acme": ["tier:strong"]}')
    switches = load_settings().switches
    assert not switches.is_on("tool", "calculate", "anyone")
    assert not switches.is_on("tier", "strong", "acme")
    assert switches.is_on("tier", "strong", "other")
