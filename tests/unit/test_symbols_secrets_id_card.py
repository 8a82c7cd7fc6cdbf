from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum.cn import ric

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    "text",
    [
        "11010519491231002X",
        "11010519491231002x",
        "110105 19491231 002X",
        "110105-19491231-002X",
        "110105 1949 1231 002X",
        "1101 0519 4912 3100 2X",
        "1 1 0 1 0 5 1 9 4 9 1 2 3 1 0 0 2 X",
        "110105194912\n31002X",
        "11010519491231002\nX",
        "身份证号11010519491231002X号",
        "身份证：１１０１０５１９４９１２３１００２Ｘ",
        "x11010519491231002X",
        "SFZ11010519491231002X",
        "110105–19491231–002X",
        "110105.19491231.002X",
        "11010519491231002 X",
        "身份证110105491231002",
        "110105491231002",
        "ID: 110105491231002",
        "证件号码为11010519491231002X，",
        "身份证 110105 491231 002",
        "ID card no. 110105-1949-1231-002X",
        "订单11010519491231002X",
    ],
)
def test_id_card_is_found_in_every_writing(text: str) -> None:
    assert set(found(text)) == {("id_card", "11010519491231002X")}


@pytest.mark.parametrize(
    "text",
    [
        "11010519491231002",
        "110105194912310021",
        "11010519491331002X",
        "010105194912310021",
        "订单202407011234567890",
        "流水号：110105194912310021",
        "2024070113812345678",
        "356938035643809",
        "IMEI 490154203237518",
        "110105 1949 1231 0021",
        "999999491231002",
        "123456491231002",
        "110105-19491231-0021",
        "c11010519491231002f",
        "1 1 0 1 0 5 1 9 4 9 1 2 3 1 0 0 2 1",
    ],
)
def test_id_card_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


def test_a_roman_or_multiplication_sign_stands_for_the_check_character() -> None:
    for sign in "Ⅹⅹ×ХｘＸ":
        assert found(f"身份证11010519491231002{sign}") == [("id_card", "11010519491231002X")]


_GROUPS = st.sampled_from([
    (18,),
    (6, 8, 4),
    (6, 4, 4, 4),
    (3, 3, 4, 4, 4),
    (4, 4, 4, 4, 2),
    (6, 4, 2, 2, 4),
    (1,) * 18,
])


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["110105", "310115", "440305", "510107", "650102", "810000"]),
    st.dates(date(1900, 1, 1), date(2023, 12, 31)),
    st.integers(0, 999),
    _GROUPS,
    st.sampled_from([" ", "-", "\u2013", "\n", "\u200b"]),
)
def test_any_card_in_any_grouping_is_found_by_its_check_character(
    region: str, born: date, order: int, groups: tuple[int, ...], separator: str
) -> None:
    body = f"{region}{born:%Y%m%d}{order:03}"
    card = body + ric.calc_check_digit(body + "0")
    assert found(f"证件{_grouped(card, groups, separator)}。") == [("id_card", card)]
    wrong = body + ("1" if card[-1] != "1" else "2")
    assert "id_card" not in dict(found(f"证件{_grouped(wrong, groups, separator)}。"))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 17))
def test_a_card_may_be_torn_anywhere(place: int) -> None:
    card = "11010519491231002X"
    assert found(f"身份证号：{card[:place]}\n{card[place:]}。") == [("id_card", card)]


@pytest.mark.parametrize(
    ("text", "count"),
    [("身份证110105491231002", 1), ("110105491231002", 1), ("123456491231002", 0), ("订单110105491231002", 0)],
)
def test_an_old_card_without_label_needs_a_county_that_exists(text: str, count: int) -> None:
    assert len(found(text)) == count


def _grouped(card: str, groups: tuple[int, ...], separator: str) -> str:
    parts, at = [], 0
    for length in groups:
        parts.append(card[at : at + length])
        at += length
    return separator.join(parts)
