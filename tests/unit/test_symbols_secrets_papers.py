from __future__ import annotations

import pytest

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("E12345678", "护照号：E12345678"),
        ("E12345678", "护照 E12345678"),
        ("E12345678", "passport no. E12345678"),
        ("E12345678", "Passport: E 1234 5678"),
        ("E12345678", "护照号码为Ｅ１２３４５６７８"),
        ("E12345678", "passport number is e12345678"),
        ("E12345678", "E12345678（护照）"),
        ("E12345678", "| 护照号 | E12345678 |"),
        ("E12345678", "| 姓名 | 护照号 |\n| --- | --- |\n| 甲 | E12345678 |"),
        ("E12345678", "持E12345678护照"),
        ("E12345678", "PASSPORT E1234-5678"),
        ("E12345678", "護照號碼 E12345678"),
        ("E12345678", "护照号：\nE12345678"),
        ("E12345678", "护照号 E1234\n5678"),
        ("E12345678", "护照E12345678号"),
        ("EA1234567", "护照EA1234567"),
        ("EA1234567", "Passport No: EA1234567"),
        ("123456789", "US passport 123456789"),
        ("123456789", "Passport number: 123456789"),
    ],
)
def test_passport_is_found_in_every_writing(value: str, text: str) -> None:
    assert set(found(text)) == {("passport", value)}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("H12345678", "港澳居民来往内地通行证号码：H12345678"),
        ("H12345678", "回乡证H12345678"),
        ("H12345678", "Mainland Travel Permit for Hong Kong and Macao Residents: H12345678"),
        ("H12345678", "Home Return Permit No. H12345678"),
        ("H12345678", "回鄉證 H12345678"),
        ("H12345678", "港澳居民來往內地通行證：H12345678"),
        ("H12345678", "回乡证号Ｈ１２３４５６７８"),
        ("H12345678", "回乡证 H 1234 5678"),
        ("M1234567890", "回乡证M1234567890"),
        ("M1234567890", "Home Return Permit M1234567890"),
        ("12345678", "台胞证号12345678"),
        ("12345678", "台湾居民来往大陆通行证 12345678"),
        ("12345678", "臺胞證：12345678"),
        ("12345678", "Mainland Travel Permit for Taiwan Residents No. 12345678"),
        ("12345678", "Taiwan Compatriot Permit 12345678"),
        ("12345678", "MTP number 12345678"),
        ("C12345678", "往来港澳通行证C12345678"),
        ("C12345678", "往来港澳通行证号码：C12345678"),
        ("C12345678", "Exit-Entry Permit for Travelling to and from Hong Kong and Macau: C12345678"),
    ],
)
def test_travel_permit_is_found_in_every_writing(value: str, text: str) -> None:
    assert set(found(text)) == {("travel_permit", value)}


@pytest.mark.parametrize(
    "text",
    [
        "E12345678",
        "H12345678",
        "12345678",
        "table C12345678",
        "护照有效期10年",
        "passport valid for 10 years",
        "护照办理费用 123456 元",
        "护照签发日期20240701",
        "护照 2024-07-01签发",
        "passport page 12345678",
        "building permit C12345678",
        "work permit 12345678",
        "通行证办理人数12345678人",
        "台胞证有效期20240701",
        "持护照入境。编号E12345678",
        "The passport rule. See E12345678",
        "ISBN E12345678",
        "Passport No 12345678",
        "The passport holder's order no. is AB123456",
        "护照和订单A1234567",
        "parking permit H12345678",
    ],
)
def test_a_paper_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


def test_each_paper_takes_the_number_after_its_own_name() -> None:
    assert found("护照号码E12345678，港澳通行证C12345678，台胞证12345678") == [
        ("passport", "E12345678"),
        ("travel_permit", "C12345678"),
        ("travel_permit", "12345678"),
    ]


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("护照原号E12345678，新证号为EA2345678", "passport", ["E12345678", "EA2345678"]),
        ("旧护照E12345678作废，换发护照为EA2345678", "passport", ["E12345678", "EA2345678"]),
        ("护照丢失。新证号：E23456789", "passport", ["E23456789"]),
        ("passport E12345678 was replaced by E87654321", "passport", ["E12345678", "E87654321"]),
        ("通行证C12345678已过期，新证号C87654321", "travel_permit", ["C12345678", "C87654321"]),
        ("回乡证遗失。已补发，新证号：H12345678", "travel_permit", ["H12345678"]),
    ],
)
def test_the_number_of_the_new_paper_is_found_too(text: str, kind: str, values: list[str]) -> None:
    assert found(text) == [(kind, value) for value in values]


def test_the_heading_of_a_column_names_the_papers_in_it() -> None:
    table = "| 姓名 | 护照号 |\n| --- | --- |\n| 甲 | E12345678 |\n| 乙 | G87654321 |"
    assert found(table) == [("passport", "E12345678"), ("passport", "G87654321")]
