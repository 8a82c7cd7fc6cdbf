"""Calls as they are written in each form reach the tool with exactly their arguments, or are refused by the schema."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.protocols.choice import Form
from agent.tools.base import ToolSpec
from function_calls import FORMS, Case, execute, read_case, spoiled

FUNCTIONS: list[dict[str, Any]] = [
    {
        "name": "Bank.transfer-money",
        "description": "Moves money.",
        "parameters": {
            "type": "dict",
            "properties": {
                "amount": {"type": "float"},
                "to": {"type": "dict", "properties": {"iban": {"type": "string"}, "urgent": {"type": "boolean"}}},
                "tags": {"type": "array", "items": {"type": "string"}},
                "note": {"type": "string"},
                "times": {"type": "integer"},
            },
            "required": ["amount", "to"],
        },
    },
    {"name": "2nd", "parameters": {"type": "dict", "properties": {"anything": {"type": "any"}}, "required": []}},
]
TRUTH: list[dict[str, Any]] = [
    {
        "Bank.transfer-money": {
            "amount": [12.5, 12],
            "to": [{"iban": ["DE00"], "urgent": [False]}],
            "tags": [["a</arguments>", "“b”"]],
            "note": ['He said "no",\n{x: 1}', ""],
            "times": ["", 1],
        }
    },
    {"2nd": {"anything": [{"k": [[1, 2.0, None]]}]}},
]
CASE = read_case({"id": "own", "functions": FUNCTIONS, "ground_truth": TRUTH})


def test_a_case_is_read_with_json_schema_and_the_first_accepted_values() -> None:
    assert [spec.name for spec in CASE.specs] == ["bank_transfer_money", "f_2nd"]
    assert CASE.specs[0].arguments["properties"]["amount"] == {"type": "number"}
    assert CASE.calls[0][1] == {
        "amount": 12.5,
        "to": {"iban": "DE00", "urgent": False},
        "tags": ["a</arguments>", "“b”"],
        "note": 'He said "no",\n{x: 1}',
    }
    assert CASE.fits


@pytest.mark.parametrize("form", FORMS)
async def test_calls_run_with_exactly_their_arguments(form: Form) -> None:
    for seed in range(12):
        done = await execute(CASE, CASE.calls, form, random.Random(seed))
        assert done.is_exactly(CASE.calls), done


@pytest.mark.parametrize("form", FORMS)
async def test_spoiled_calls_are_refused_and_do_not_run(form: Form) -> None:
    rng = random.Random(1)
    kinds: set[str] = set()
    for _ in range(8):
        for kind, call in spoiled(CASE, rng):
            kinds.add(kind)
            done = await execute(CASE, [call], form, rng)
            assert (done.ran, done.refused) == ((), ("tool_arguments",))
    assert kinds == {"missing", "type"}


# Control characters and halves of surrogates are replaced on the way in, whatever they stand in.
_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(arguments=st.dictionaries(st.sampled_from(["query", "x", "名称"]), _VALUES, max_size=3), seed=st.integers(0, 99))
async def test_any_arguments_come_through(form: Form, arguments: dict[str, Any], seed: int) -> None:
    spec = ToolSpec(name="look", description="Looks.", arguments={"type": "object", "properties": {}})
    case = Case("any", (spec,), (("look", arguments),))
    done = await execute(case, case.calls, form, random.Random(seed))
    assert done.is_exactly(case.calls), done
