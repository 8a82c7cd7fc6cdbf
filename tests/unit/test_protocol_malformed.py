"""A table of malformed replies: what each becomes in each form is written down, and no cut of it changes that."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from malformed import SPECS, outcome

from agent.protocols.choice import Form
from agent.protocols.pieces import CallDelta
from transcripts import Item, cut_at, length, parse

TABLE: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[1] / "shared" / "malformed_forms.toml").read_text(encoding="utf-8")
)["form"]
FORMS: tuple[Form, ...] = ("xml", "json", "native")


def deltas(row: dict[str, Any]) -> list[CallDelta]:
    pieces = row.get("calls", [])
    if "repeat" in row:
        pieces = [{**pieces[0], "id": f"{pieces[0]['id']}{i}", "index": i} for i in range(row["repeat"])]
    return [CallDelta(p.get("index"), p.get("id"), p.get("name"), p["arguments"]) for p in pieces]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", TABLE, ids=[row["name"] for row in TABLE])
def test_malformed_reply_has_the_outcome_that_is_written_down(row: dict[str, Any], form: Form) -> None:
    expected = row.get(form, row.get("outcome"))
    assert outcome(form, row.get("text", ""), deltas(row), cut=row.get("cut", False)) == expected


@pytest.mark.parametrize("form", FORMS)
def test_no_cut_of_a_malformed_reply_matters(form: Form) -> None:
    for row in TABLE:
        text = row.get("text", "")
        items: list[Item] = [*([text] if text else []), *deltas(row)]
        whole = parse(form, items, SPECS)
        rng = random.Random(row["name"])
        for _ in range(6):
            cut = items
            for _ in range(rng.randint(1, 5)):
                cut = cut_at(cut, rng.randint(0, length(cut)))
            assert parse(form, cut, SPECS) == whole, row["name"]


def test_the_table_is_large_and_says_where_each_form_was_seen() -> None:
    assert len({row["name"] for row in TABLE}) == len(TABLE) >= 150
    reported = [row for row in TABLE if row["seen"] != "invented"]
    assert all(row["seen"].startswith(("https://", "a run of ")) for row in reported)
    assert len(reported) >= 100
