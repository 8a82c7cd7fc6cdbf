from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.cn import ric

from retrieval.symbols.language import load_language
from retrieval.symbols.pseudonyms import PSEUDONYM, pseudonym, tenant_key

LANGUAGE = load_language(b"0123456789abcdef")


def secrets(text: str, tenant: str = "t") -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in LANGUAGE.symbolise(text, tenant=tenant).secrets]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("手机13812345678", ("mobile", "13812345678")),
        ("138 1234 5678", ("mobile", "13812345678")),
        ("138-1234-5678", ("mobile", "13812345678")),
        ("+86 138 1234 5678", ("mobile", "13812345678")),
        ("(+86)13812345678", ("mobile", "13812345678")),
        ("0086-138-1234-5678", ("mobile", "13812345678")),
        ("8613812345678", ("mobile", "13812345678")),
        ("１３８１２３４５６７８", ("mobile", "13812345678")),
        ("138\u200b1234\u200b5678", ("mobile", "13812345678")),
        ("zhang13812345678", ("mobile", "13812345678")),
        ("tel:13812345678", ("mobile", "13812345678")),
        ("电话：138 1234 5678 2024年", ("mobile", "13812345678")),
        ("[13812345678]", ("mobile", "13812345678")),
        ("Zhang.San@Example.com", ("email", "zhang.san@example.com")),
        ("邮箱zhang@mail.example.com.cn。", ("email", "zhang@mail.example.com.cn")),
        ("ｚｈａｎｇ＠ｅｘａｍｐｌｅ．ｃｏｍ", ("email", "zhang@example.com")),
        ("11010519491231002X", ("id_card", "11010519491231002X")),
        ("11010519491231002x", ("id_card", "11010519491231002X")),
        ("110105 19491231 002X", ("id_card", "11010519491231002X")),
        ("１１０１０５１９４９１２３１００２Ｘ", ("id_card", "11010519491231002X")),
        ("身份证110105491231002", ("id_card", "11010519491231002X")),
        ("6222021234567890128", ("bank_card", "6222021234567890128")),
        ("6222 0212 3456 7890 128", ("bank_card", "6222021234567890128")),
        ("4111-1111-1111-1111", ("bank_card", "4111111111111111")),
        ("4111111111111111", ("bank_card", "4111111111111111")),
        ("3782 822463 10005", ("bank_card", "378282246310005")),
        ("请拨 13812 345678 联系", ("mobile", "13812345678")),
        ("请拨 13812\n345678 联系", ("mobile", "13812345678")),
        ("138 12345678", ("mobile", "13812345678")),
        ("1381234 5678。", ("mobile", "13812345678")),
        ("电话：138 12345678", ("mobile", "13812345678")),
        ("电话：1 3812345678", ("mobile", "13812345678")),
        ("+86 13812 345678", ("mobile", "13812345678")),
        ("+8613812 345678", ("mobile", "13812345678")),
        ("电话：1998 1234567", ("mobile", "19981234567")),
        ("6222021234 567890128", ("bank_card", "6222021234567890128")),
        ("41111111111\n11111", ("bank_card", "4111111111111111")),
        ("6222 02 12 3456 7890 128", ("bank_card", "6222021234567890128")),
        ("4111-1111-11\n11-1111", ("bank_card", "4111111111111111")),
    ],
)
def test_secret_is_found_in_every_writing(text: str, expected: tuple[str, str]) -> None:
    assert secrets(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "订单号：13812345678",
        "order no. 13812345678",
        "13812345678元",
        "总额 13,812,345,678 元",
        "RMB 13812345678",
        "¥13812345678",
        "13812345678.25",
        "0.13812345678",
        "213812345678",
        "138123456789",
        "12812345678",
        "ABC13812345678",
        "SN-13812345678",
        "138 1234 5678 9012",
        "150 2023 2024",
        "| 138 | 1234 | 5678 |",
        "138\t1234\t5678",
        "1998 1234567",
        "1381234 2023",
        "150 20240101",
        "19980101 123",
        "1609459200 5",
        "15 123456789",
        "7 138 12345678",
        "138 12345678 9",
        "138 12345678.50",
        "138 12345678 元",
        "订单号 13812 345678",
        "SN-13812 345678",
        "13812,345678",
        "13812\t345678",
        "20240101 20240131",
        "4111 11111 111 1111",
        "41111111 11111112",
        "ISBN 978-7-111-21382-6",
        "9787111213826",
        "2024070112345678",
        "4111111111111112",
        "2019 2018 2017 2016",
        "订单编号 4111111111111111",
        "110105194912310021",
        "11010519491331002X",
        "@media screen",
        "user@localhost",
        "foo@1.2.3",
        "3.14159265358979",
    ],
)
def test_ordinary_numbers_are_no_secrets(text: str) -> None:
    assert secrets(text) == []


def test_pseudonym_differs_between_tenants_and_keys() -> None:
    one = LANGUAGE.symbolise("13812345678", tenant="a").text
    assert one == LANGUAGE.symbolise("+86 138 1234 5678", tenant="a").text
    assert one != LANGUAGE.symbolise("13812345678", tenant="b").text
    assert one != load_language(b"fedcba9876543210").symbolise("13812345678", tenant="a").text


def test_pseudonym_has_13_characters_of_base32() -> None:
    assert re.fullmatch(r"\[PHONE_[a-z2-7]{13}\]", pseudonym(tenant_key(b"x" * 16, "t"), "mobile", "13812345678"))


def test_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        load_language(b"short")


@settings(deadline=None)  # the first call loads the numbering plans
@given(st.text("0123456789", min_size=9, max_size=9), st.sampled_from("3456789"))
def test_mobile_has_one_pseudonym_in_every_writing(tail: str, second: str) -> None:
    n = f"1{second}{tail}"
    wide = n.translate({ord("0") + i: ord("０") + i for i in range(10)})
    spaced = f"{n[:3]} {n[3:7]} {n[7:]}"
    writings = [n, wide, spaced.replace(" ", "-"), f"+86 {spaced}", f"+86{n}", f"0086 {n}", f"手机：{spaced}"]
    assert {s.normal for w in writings for s in LANGUAGE.read(w, tenant="t")} == {
        pseudonym(tenant_key(b"0123456789abcdef", "t"), "mobile", n)
    }


@settings(deadline=None)  # the first call loads the numbering plans
@given(st.dates(date(1900, 1, 1), date(2023, 12, 31)), st.integers(0, 999))
def test_identity_cards_are_found_by_their_check_character(born: date, order: int) -> None:
    body = f"110105{born:%Y%m%d}{order:03}"
    card = body + ric.calc_check_digit(body + "0")
    wrong = body + ("1" if card[-1] != "1" else "2")
    assert secrets(f"证件{card}。") == [("id_card", card)]
    assert ("id_card", wrong) not in secrets(f"证件{wrong}。")


@settings(deadline=None)  # the first call loads the numbering plans
@given(st.text("0123456789", min_size=12, max_size=15))
def test_bank_cards_are_found_by_their_check_digit(tail: str) -> None:
    body = "622" + tail
    card = body + luhn.calc_check_digit(body)
    wrong = body + str((int(card[-1]) + 1) % 10)
    assert ("bank_card", card) in secrets(f"卡号 {card}") or ric.is_valid(card)
    assert ("bank_card", wrong) not in secrets(f"卡号 {wrong}")


_PIECES = st.sampled_from([
    "13812345678",
    "138 1234 5678",
    "13812 345678",
    "41111111 11111111",
    "\n",
    "+86 139-8765-4321",
    "a@b.com",
    "4111111111111111",
    "4111 1111 1111 1111",
    "11010519491231002X",
    "110105 19491231 002X",
    "[PHONE_k3f9a2mq7x4tw]",
    " ",
    "-",
    ".",
    ",",
    "/",
    "，",
    "订单",
    "86",
    "元",
    "X",
    "x",
    "1",
    "2024",
    "_",
    "@",
    "¥",
])


@settings(deadline=None)  # the first call loads the numbering plans
@given(st.lists(_PIECES, max_size=8).map("".join))
def test_no_secret_appears_by_replacing_its_neighbour(text: str) -> None:
    first = LANGUAGE.symbolise(text, tenant="t")
    again = LANGUAGE.symbolise(first.text, tenant="t")
    assert (again.text, again.secrets) == (first.text, ())
    for secret in first.secrets:
        assert PSEUDONYM.fullmatch(secret.pseudonym)
        assert secret.pseudonym in first.text
