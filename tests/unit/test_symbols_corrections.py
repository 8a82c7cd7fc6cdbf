"""Corrections: what an owner said of a symbol holds in every writing of it, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval.symbols.corrections import plain
from retrieval.symbols.language import SymbolLanguage
from retrieval.symbols.rules import Correction, FixedRules, TenantRules


def language(*corrections: Correction) -> SymbolLanguage:
    return SymbolLanguage(FixedRules(TenantRules(corrections=corrections)), b"0123456789abcdef")


def said(text: str, verdict: Any = "secret", **more: Any) -> Correction:
    return Correction(text=text, verdict=verdict, **more)


@pytest.mark.parametrize(
    "text",
    [
        "project Blue Falcon is late",
        "Project BLUE FALCON is late",
        "project Ｂｌｕｅ　Ｆａｌｃｏｎ is late",
        "project blue\nfalcon is late",
        "project blue fal\u200bcon is late",
    ],
)
def test_missed_secret_is_hidden_in_every_writing(text: str) -> None:
    read = language(said("Blue Falcon")).symbolise(text, tenant="t")
    assert "falcon" not in plain(read.text)
    assert [(s.kind, s.value) for s in read.secrets] == [("custom", "Blue Falcon")]
    one = language(said("Blue Falcon")).symbolise("Blue Falcon", tenant="t").text
    assert one in read.text


def test_missed_chinese_secret_is_hidden_over_a_line_end() -> None:
    read = language(said("猎鹰计划", kind="custom")).symbolise("内部代号猎鹰\n计划，勿外传", tenant="t")
    assert read.text.startswith("内部代号[SECRET_")
    assert read.text.endswith("，勿外传")


@pytest.mark.parametrize("text", ["bluefalcons", "falconry", "12345", "x4711", "47110"])
def test_part_of_a_longer_word_or_number_is_left(text: str) -> None:
    tenant = language(said("falcon"), said("4711"), said("1234"))
    assert tenant.symbolise(text, tenant="t").text == text


def test_kind_of_a_missed_secret_names_its_pseudonym() -> None:
    read = language(said("Quick Brown", kind="person")).symbolise("see Quick Brown", tenant="t")
    assert read.text.startswith("see [PERSON_")


def test_secret_near_a_word_is_hidden_in_that_line_alone() -> None:
    tenant = language(said("4711", near="vault"))
    read = tenant.symbolise("Vault 4711\nroom 4711", tenant="t")
    assert read.text.startswith("Vault [SECRET_")
    assert read.text.endswith("\nroom 4711")


def test_wrong_secret_stands_in_the_clear_in_every_writing() -> None:
    tenant = language(said("13812345678", "not_secret"))
    text = "order 138-1234-5678, tel 13912345678"
    read = tenant.symbolise(text, tenant="t")
    assert read.text.startswith("order 138-1234-5678, tel [PHONE_")
    assert tenant.symbolise(read.text, tenant="t").text == read.text


def test_wrong_secret_near_a_word_stays_hidden_elsewhere() -> None:
    tenant = language(said("13812345678", "not_secret", near="order no"))
    read = tenant.symbolise("Order No 13812345678\ntel 13812345678", tenant="t")
    assert read.text.startswith("Order No 13812345678\ntel [PHONE_")


def test_wrong_symbol_is_none() -> None:
    text = "收入 2.38亿元，占 5.2%"
    plainly = language().symbolise(text, tenant="t")
    read = language(said("2.38亿元", "not_symbol")).symbolise(text, tenant="t")
    assert {s.normal for s in plainly.symbols} - {s.normal for s in read.symbols} == {"CNY 238000000"}
    assert "2.38亿元" in read.index_text


def test_symbolising_twice_changes_nothing_and_reading_agrees() -> None:
    tenant = language(said("Blue Falcon"), said("13812345678", "not_secret"), said("C1", "not_symbol"))
    text = "Blue Falcon C1 客户 13812345678 13912345678 [SECRET_abcdefghijklm]"
    read = tenant.symbolise(text, tenant="t")
    again = tenant.symbolise(read.text, tenant="t")
    assert (again.text, again.index_text, again.symbols) == (read.text, read.index_text, read.symbols)
    assert [s.normal for s in tenant.read(text, tenant="t")] == [s.normal for s in read.symbols]


def test_longer_correction_wins() -> None:
    read = language(said("Falcon"), said("Blue Falcon", kind="person")).symbolise("Blue Falcon, Falcon", tenant="t")
    assert read.text.startswith("[PERSON_")
    assert ", [SECRET_" in read.text


@pytest.mark.parametrize("piece", ["a ", "a\u200b", "猎", "猎 ", "blue fal", "4711"])
def test_many_corrections_on_a_long_text_are_read_to_its_end(piece: str) -> None:
    many = [said(f"secret {n}") for n in range(200)]
    tenant = language(*many, said("a a b"), said("猎猎猎鹰"), said("blue falcon"), said("47114712"))
    text = piece * (50_000 // len(piece)) + " secret 7"
    assert "secret 7" not in tenant.symbolise(text, tenant="t").text


def test_many_corrections_that_begin_alike_are_looked_for_at_once() -> None:
    many = [said(f"aa {n} bb") for n in range(2_000)]
    text = "aa x bb " * 4_000 + "aa 1999 bb"
    read = language(*many, said("aa 7 bb", "not_symbol")).symbolise(text, tenant="t")
    assert [secret.value for secret in read.secrets] == ["aa 1999 bb"]


def test_one_text_near_many_words_is_hidden_beside_each() -> None:
    nears = [f"room {n}" for n in range(100)]
    tenant = language(*(said("falcon", near=near) for near in nears), said("13812345678", "not_secret", near="room 3"))
    lines = [f"{near} falcon " * 20 for near in nears]
    text = "\n".join(["hall falcon", "room 3 13812345678", "hall 13812345678", *lines])
    read = tenant.symbolise(text, tenant="t").text
    assert read.startswith("hall falcon\nroom 3 13812345678\nhall [PHONE_")
    assert read.count("falcon") == 1


def test_correction_of_a_long_line_is_read_once_for_all_its_findings() -> None:
    tenant = language(said("falcon", near="vault"), said("13812345678", "not_secret", near="vault"))
    line = "falcon 13812345678 " * 800
    assert tenant.symbolise(line, tenant="t").text.startswith("falcon [PHONE_")
    read = tenant.symbolise(line + "vault", tenant="t").text
    assert "falcon" not in read
    assert read.count("13812345678") == 800


@pytest.mark.parametrize("text", ["\u200b", " \u200b ", "\n"])
def test_correction_of_nothing_visible_is_about_nothing(text: str) -> None:
    assert language(said(text)).symbolise("a \u200b b", tenant="t").text == "a \u200b b"


def test_spaces_around_a_corrected_text_do_not_matter() -> None:
    assert "falcon" not in language(said("\u200b falcon\n")).symbolise("blue falcon", tenant="t").text
