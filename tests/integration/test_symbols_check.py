"""`attest symbols` and POST /v1/symbols/check: people see what a text gives, and never a secret."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.commands.doctor import findings
from api.settings import ServerSettings, SymbolSettings

MOBILE = "13812345678"
RULES = """
[[entity]]
id = "HUAZE"
names = ["华泽精密仪器股份有限公司", "Huaze Precision"]
[[person]]
names = ["欧阳未央"]
[fiscal_year]
start = 4
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    own = tmp_path / "rules" / "tenants" / "local"
    own.mkdir(parents=True)
    (own / "all.toml").write_text(RULES, encoding="utf-8")
    return tmp_path / "rules"


def test_check_shows_the_symbols_of_a_document(attest: Any, tmp_path: Path, rules: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text(f"# 通知\n\n華澤精密儀器股份有限公司：上季度收入2.38亿元，联系 {MOBILE}。\n", encoding="utf-8")
    arguments = ("symbols", "check", file, "--base-date", "2024-11-05")
    shown = attest.json(*arguments, ATTEST_SYMBOLS_FOLDER=rules)
    (part,) = shown["parts"]
    assert [(s["kind"], s["normal"]) for s in part["symbols"][:3]] == [
        ("entity", "HUAZE"),
        ("period", "2024Q3"),
        ("amount", "CNY 238000000"),
    ]
    assert "[ENTITY_HUAZE]" in part["index_text"]
    for symbol in part["symbols"]:
        assert part["text"][symbol["start"] : symbol["end"]] == symbol["surface"]
    printed = attest(*arguments, "--index-text", ATTEST_SYMBOLS_FOLDER=rules).stdout
    assert "[ENTITY_HUAZE]" in printed
    assert "4 symbols" in printed
    assert MOBILE not in printed + json.dumps(shown)
    assert not (attest.home / "attest.sqlite3").exists()


def test_check_reads_standard_input_under_a_tenants_rules(attest: Any, rules: Path) -> None:
    def check(*options: str) -> dict[str, Any]:
        done = subprocess.run(
            [Path(sys.executable).with_name("attest"), "symbols", "check", "-", "--json", *options],
            input="欧阳未央是C1客户".encode(),
            env=attest.environment({"ATTEST_SYMBOLS_FOLDER": rules}),
            capture_output=True,
            timeout=60,
            check=True,
        )
        return json.loads(done.stdout)

    (part,) = check()["parts"]
    assert [s["kind"] for s in part["symbols"]] == ["person", "customer_risk"]
    assert "欧阳" not in json.dumps(part, ensure_ascii=False)
    (part,) = check("--tenant", "other")["parts"]
    assert [s["kind"] for s in part["symbols"]] == ["customer_risk"]


def test_rules_are_shown_without_names(attest: Any, rules: Path) -> None:
    shown = attest.json("symbols", "rules", ATTEST_SYMBOLS_FOLDER=rules)
    assert shown["vocabularies"]["fund_risk"] == ["R1", "R2", "R3", "R4", "R5"]
    assert (shown["entities"], shown["persons"], shown["fiscal_year"]["start"]) == (["HUAZE"], 1, 4)
    stranger = attest("symbols", "rules", "--tenant", "nosuch", ATTEST_SYMBOLS_FOLDER=rules)
    assert "there is no folder" in stranger.stderr
    assert "nosuch" in stranger.stderr
    assert "note" not in attest("symbols", "rules", ATTEST_SYMBOLS_FOLDER=rules).stderr
    printed = attest("symbols", "rules", "--tenant", "other", ATTEST_SYMBOLS_FOLDER=rules).stdout
    assert "customer_risk: C1 < C2 < C3 < C4 < C5" in printed
    assert "0 listed persons" in printed


def test_a_broken_rule_file_is_named(attest: Any, rules: Path) -> None:
    (rules / "tenants" / "other").mkdir()
    (rules / "tenants" / "other" / "bad.toml").write_text("[[person]]\nnames = '欧阳未央'\n", encoding="utf-8")
    said = attest("symbols", "rules", code=2, ATTEST_SYMBOLS_FOLDER=rules).stderr
    assert "bad.toml: person 1, names: " in said
    assert "欧阳" not in said
    assert "no such file" in attest("symbols", "check", rules / "absent.txt", code=2).stderr


OpenApp = Callable[..., Awaitable[httpx.AsyncClient]]


async def test_check_over_http(open_app: OpenApp, rules: Path) -> None:
    client = await open_app(local_owner=True, symbols=SymbolSettings(folder=rules))
    text = f"Huaze Precision: R4基金，上季度，{MOBILE}"
    answer = await client.post("/v1/symbols/check", json={"text": text, "base_date": "2024-11-05"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert [s["kind"] for s in found["symbols"]] == ["entity", "fund_risk", "period", "mobile"]
    assert found["index_text"].startswith("[ENTITY_HUAZE]: [FUND_RISK_R4]基金，[PERIOD_2024Q3]，[PHONE_")
    assert MOBILE not in answer.text


@pytest.mark.parametrize(
    "body", [{}, {"text": ""}, {"text": 7}, {"text": MOBILE, "base_date": "soon"}, {"text": MOBILE, "more": 1}]
)
async def test_bad_input_is_a_problem_that_repeats_no_text(open_app: OpenApp, body: dict[str, Any]) -> None:
    client = await open_app(local_owner=True)
    answer = await client.post("/v1/symbols/check", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert MOBILE not in answer.text


async def test_check_needs_the_right_to_search_and_a_key(open_app: OpenApp, tmp_path: Path) -> None:
    digest = hashlib.sha256(b"attest_writer").hexdigest()
    keys = tmp_path / "keys.toml"
    principal = 'principal = { tenant = "acme", user = "kim", rights = ["ingest"] }'
    keys.write_text(f'[[keys]]\nsha256 = "{digest}"\n{principal}\n', encoding="utf-8")
    client = await open_app(server=ServerSettings(keys_file=keys))
    refused = await client.post(
        "/v1/symbols/check", json={"text": "C1客户"}, headers={"Authorization": "Bearer attest_writer"}
    )
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert (await client.post("/v1/symbols/check", json={"text": "C1客户"})).status_code == 401


async def test_a_broken_edit_shows_in_the_status_and_keeps_the_last_good_rules(open_app: OpenApp, rules: Path) -> None:
    client = await open_app(local_owner=True, symbols=SymbolSettings(folder=rules))
    (rules / "tenants" / "local" / "all.toml").write_text(RULES + "[[persn]]\n", encoding="utf-8")
    status = (await client.get("/v1/status")).json()
    assert status["status"] == "degraded"
    assert "persn: there is no such field" in status["symbol_problems"][0]
    assert any("all.toml" in finding.what for finding in findings(status))
    found = await client.post("/v1/symbols/check", json={"text": "Huaze Precision"})
    assert found.json()["index_text"] == "[ENTITY_HUAZE]"


async def test_a_server_without_broken_rules_is_well(open_app: OpenApp) -> None:
    client = await open_app(local_owner=True)
    status = (await client.get("/v1/status")).json()
    assert (status["status"], status["symbol_problems"]) == ("ok", [])
