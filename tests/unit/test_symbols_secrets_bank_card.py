from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("4111111111111111", "4111111111111111"),
        ("4111111111111111", "4111 1111 1111 1111"),
        ("4111111111111111", "4111-1111-1111-1111"),
        ("4111111111111111", "4111–1111–1111–1111"),
        ("4111111111111111", "4111.1111.1111.1111"),
        ("4111111111111111", "卡号4111111111111111元"),
        ("4111111111111111", "卡号：4111 1111 1111 1111"),
        ("4111111111111111", "４１１１１１１１１１１１１１１１"),
        ("4111111111111111", "４１１１ １１１１ １１１１ １１１１"),
        ("4111111111111111", "4111 1111\n1111 1111"),
        ("4111111111111111", "4111-1111-\n1111-1111"),
        ("4111111111111111", "4111111111\n111111"),
        ("4111111111111111", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
        ("4111111111111111", "card number is 4111111111111111."),
        ("4111111111111111", "Visa 4111111111111111"),
        ("4111111111111111", "credit card: 4111 1111 1111 1111"),
        ("4111111111111111", "银行卡号为 4111111111111111"),
        ("4111111111111111", "储蓄卡4111111111111111"),
        ("4111111111111111", "卡号4111111111111111号"),
        ("4111111111111111", "4111\u00a01111\u00a01111\u00a01111"),
        ("4111111111111111", "卡号 411111 1111 111111"),
        ("4111111111111111", "账号：4111111111111111"),
        ("4111111111111111", "4111—1111—1111—1111"),
        ("6222021234567890128", "6222021234567890128"),
        ("6222021234567890128", "6222 0212 3456 7890 128"),
        ("6222021234567890128", "6222-0212-3456-7890-128"),
        ("6222021234567890128", "622202 1234567890128"),
        ("6222021234567890128", "卡号 6222021234\n567890128"),
        ("378282246310005", "378282246310005"),
        ("378282246310005", "3782 822463 10005"),
        ("378282246310005", "3782-822463-10005"),
    ],
)
def test_bank_card_is_found_in_every_writing(value: str, text: str) -> None:
    assert set(found(text)) == {("bank_card", value)}


@pytest.mark.parametrize(
    "text",
    [
        "订单编号 4111111111111111",
        "tracking number is 6222021234567890128",
        "发票号码 4111111111111111",
        "SN: 4111111111111111",
        "order 4111-1111-1111-1111",
        "4111111111111112",
        "6222021234567890129",
        "4111111111111111元",
        "RMB 4111111111111111",
        "资产 6222021234567890128 元",
        "0x4111111111111111",
        "6901028075831",
        "4006381333931",
        "EAN 5901234123457",
        "9787111213826",
        "1719800000000",
        "20240701130000",
        "2024070112345678",
        "1700000000000000000",
        "ICCID 89860012345678901234",
        "356938035643809",
        "30569309025904 ISBN",
        "1Z999AA10123456784",
        "SF1234567890123",
        "773012345678901",
        "9400 1000 0000 0000 0000 00",
        "2019 2018 2017 2016",
        "4111 11111 111 1111",
        "41111111 11111112",
        "账号 4111111111111112",
        "卡号 6222021234567890129",
        "d41d8cd98f00b204e9800998ecf8427e",
        "f4111111111111111b",
        "4111-1111-1111-1111-1111-1",
        "https://example.com/p/4111111111111111.html",
        "| 订单号 | 金额 |\n| --- | --- |\n| 4111111111111111 | 5 |",
    ],
)
def test_bank_card_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "card 180016070420458",
        "cc 4047737215142",
        "卡号：503802053770",
        "my card # 213173282369527",
        "card 30579675742677",
    ],
)
def test_after_the_word_for_a_card_the_check_digit_alone_decides(text: str) -> None:
    assert [kind for kind, _ in found(text)] == ["bank_card"]


def test_a_card_is_found_before_its_expiry() -> None:
    assert found("4111 1111 1111 1111 12/26") == [("bank_card", "4111111111111111")]


def test_the_heading_of_a_column_is_a_label() -> None:
    table = "| 姓名 | {} |\n| --- | --- |\n| 甲 | 4111 1111 1111 1111 |"
    assert found(table.format("银行卡号")) == [("bank_card", "4111111111111111")]
    assert found(table.format("订单号")) == []


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["622202", "621700", "436742", "411111", "510510", "955880"]),
    st.text("0123456789", min_size=12, max_size=12),
    st.sampled_from(["", " ", "-", "\u2013", "."]),
    st.booleans(),
)
def test_any_card_in_any_writing_is_found_by_its_check_digit(
    prefix: str, tail: str, separator: str, is_wide: bool
) -> None:
    body = prefix + tail
    card = body + luhn.calc_check_digit(body)
    wrong = body + str((int(card[-1]) + 1) % 10)
    for number, expected in ((card, [("bank_card", card)]), (wrong, [])):
        written = separator.join(number[at : at + 4] for at in range(0, 19, 4))
        if is_wide:
            written = written.translate({ord("0") + i: ord("０") + i for i in range(10)})
        assert [pair for pair in found(f"卡号：{written}。") if pair[0] == "bank_card"] == expected


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 15))
def test_a_card_may_be_torn_anywhere_after_its_label(place: int) -> None:
    card = "4111111111111111"
    assert found(f"卡号：{card[:place]}\n{card[place:]}。") == [("bank_card", card)]
