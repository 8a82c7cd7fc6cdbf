"""The gold set of the symbol language is well formed, balanced and reproduced by its generators."""

from __future__ import annotations

import ipaddress
import json
import subprocess
import sys
import tomllib
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from stdnum import iban, luhn
from stdnum.cn import ric, uscc

GOLD = Path(__file__).resolve().parents[2] / "data" / "symbols" / "gold"
KINDS = {
    "value": [
        "amount",
        "percent",
        "percent_points",
        "ratio",
        "quantity",
        "date",
        "period",
        "time",
        "duration",
        "url",
        "ip_address",
    ],
    "code": ["customer_risk", "fund_risk", "credit_rating", "deposit_line", "entity"],
    "secret": [
        "mobile",
        "phone",
        "id_card",
        "passport",
        "travel_permit",
        "social_security",
        "email",
        "bank_card",
        "iban",
        "credit_code",
        "plate",
        "address",
        "api_key",
        "person",
    ],
}
RARE = {"social_security", "ip_address", "url", "iban", "travel_permit"}
SIZES = {"dev": (1050, 25, 15), "test": (550, 12, 8), "challenge": (1000, 16, 8)}
QUALIFIERS = {"about", "at_least", "at_most", "more_than", "less_than"}
SPLITS = [split for split in SIZES if (GOLD / f"{split}.jsonl").exists()]


def rows(split: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (GOLD / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()]


def symbols(row: dict[str, object]) -> list[dict[str, object]]:
    found = row["symbols"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("split", SPLITS)
def test_gold_rows_have_exactly_the_documented_fields(split: str) -> None:
    for n, row in enumerate(rows(split), 1):
        assert set(row) - {"base_date", "note"} == {"id", "lang", "text", "symbols"}
        assert row["id"] == f"{split}-{n:04d}"
        assert row["lang"] in ("zh", "en")
        if "base_date" in row:
            date.fromisoformat(str(row["base_date"]))
        if row.get("note") == "hard negative":
            assert row["symbols"] == [], row["id"]
        for symbol in symbols(row):
            assert set(symbol) - {"qualifier"} == {"cls", "kind", "normal", "start", "end"}
            assert symbol["kind"] in KINDS[str(symbol["cls"])]
            assert symbol.get("qualifier", "about") in QUALIFIERS


@pytest.mark.parametrize("split", SPLITS)
def test_gold_spans_are_in_range_in_order_and_apart(split: str) -> None:
    for row in rows(split):
        text, last = str(row["text"]), 0
        for symbol in symbols(row):
            start, end = symbol["start"], symbol["end"]
            assert isinstance(start, int)
            assert isinstance(end, int)
            assert last <= start < end <= len(text), row["id"]
            surface = text[start:end]
            assert surface == surface.strip(), row["id"]
            last = end


@pytest.mark.parametrize("split", SPLITS)
def test_gold_spans_do_not_cut_figures(split: str) -> None:
    """A symbol that begins or ends with a digit has no digit beside it outside."""
    for row in rows(split):
        text = str(row["text"])
        for symbol in symbols(row):
            start, end = int(str(symbol["start"])), int(str(symbol["end"]))
            assert not (start and text[start - 1].isdigit() and text[start].isdigit()), (row["id"], text[start:end])
            assert not (end < len(text) and text[end].isdigit() and text[end - 1].isdigit()), (
                row["id"],
                text[start:end],
            )


@pytest.mark.parametrize("split", SPLITS)
def test_gold_has_enough_of_every_kind_in_both_languages(split: str) -> None:
    sentences, usual, rare = SIZES[split]
    languages = Counter(str(row["lang"]) for row in rows(split))
    kinds = Counter(str(s["kind"]) for row in rows(split) for s in symbols(row))
    spoken = {(row["lang"], s["kind"]) for row in rows(split) for s in symbols(row)}
    assert sum(languages.values()) >= sentences
    assert min(languages.values()) >= 0.45 * sentences
    for kind in [k for several in KINDS.values() for k in several]:
        assert kinds[kind] >= (rare if kind in RARE else usual), kind
        assert {("zh", kind), ("en", kind)} <= spoken, kind


@pytest.mark.parametrize("split", SPLITS)
def test_gold_has_hard_negatives_in_both_languages(split: str) -> None:
    empty = Counter(str(row["lang"]) for row in rows(split) if not row["symbols"])
    assert min(empty["zh"], empty["en"]) >= 0.06 * SIZES[split][0]


def test_gold_splits_share_no_text() -> None:
    seen = [str(row["text"]) for split in SPLITS for row in rows(split)]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("split", SPLITS)
def test_gold_check_digits_are_right(split: str) -> None:
    checks = {"bank_card": luhn.is_valid, "iban": iban.is_valid, "id_card": ric.is_valid, "credit_code": uscc.is_valid}
    for row in rows(split):
        for symbol in symbols(row):
            check = checks.get(str(symbol["kind"]))
            assert check is None or check(str(symbol["normal"])), row["id"]


@pytest.mark.parametrize("split", SPLITS)
def test_gold_dates_and_addresses_of_machines_are_real(split: str) -> None:
    for row in rows(split):
        for symbol in symbols(row):
            normal = str(symbol["normal"])
            if symbol["kind"] == "date":
                assert date.fromisoformat(normal).isoformat() == normal
            if symbol["kind"] == "ip_address":
                assert str(ipaddress.ip_address(normal)) == normal


@pytest.mark.parametrize("split", SPLITS)
def test_gold_names_of_the_tenant_agree_with_its_rules(split: str) -> None:
    rules = tomllib.loads((GOLD / "rules.toml").read_text(encoding="utf-8"))
    persons = {name: person["names"][0] for person in rules["person"] for name in person["names"]}
    entities = {name: entity["id"] for entity in rules["entity"] for name in entity["names"]}
    assert len(rules["person"]) == 12
    assert len(rules["entity"]) == 10
    for row in rows(split):
        text = str(row["text"])
        for symbol in symbols(row):
            surface = text[int(str(symbol["start"])) : int(str(symbol["end"]))]
            if symbol["kind"] == "entity":
                assert entities[surface] == symbol["normal"], row["id"]
            if symbol["kind"] == "person":
                assert persons.get(surface, surface) == symbol["normal"], row["id"]


@pytest.mark.parametrize("split", SPLITS)
def test_gold_generator_gives_the_file_byte_for_byte(split: str) -> None:
    made = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(GOLD)!r}); import generate_{split} as g; print(g.main(), end='')",
        ],
        capture_output=True,
        check=True,
        env={"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert made.stdout == (GOLD / f"{split}.jsonl").read_bytes()


def test_gold_generators_do_not_know_the_product() -> None:
    for source in GOLD.glob("*.py"):
        text = source.read_text(encoding="utf-8")
        assert not any(
            f"import {room}" in text or f"from {room}" in text
            for room in ("retrieval", "agent", "ingest", "api", "prompts")
        )
