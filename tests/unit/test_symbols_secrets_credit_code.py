from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum.cn import uscc

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    "text",
    [
        "91110000600037341L",
        "91110000600037341l",
        "统一社会信用代码：91110000600037341L",
        "9111 0000 6000 3734 1L",
        "９１１１００００６０００３７３４１Ｌ",
        "91110000-600037341-L",
        "91 110000 600037341 L",
        "9111000060\n0037341L",
        "税号91110000600037341L。",
    ],
)
def test_credit_code_is_found_in_every_writing(text: str) -> None:
    assert set(found(text)) == {("credit_code", "91110000600037341L")}


@pytest.mark.parametrize(
    "text",
    [
        "91110000600037341M",
        "91110000600037342L",
        "91990000600037341L",
        "91110000600037341LX",
        "SN91110000600037341L",
        "9111000060003734",
        "91110000IO00373411",
        "订单 91110000600037341L",
    ],
)
def test_credit_code_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["911101", "913101", "914403", "121100", "521300"]),
    st.text("0123456789ABCDEFGHJKLMNPQRTUWXY", min_size=9, max_size=9),
    st.sampled_from(["", " ", "-"]),
)
def test_any_code_is_found_by_its_check_character(start: str, organisation: str, separator: str) -> None:
    body = f"{start}08{organisation}"
    code = body + uscc.calc_check_digit(body + "0")
    wrong = body + ("A" if code[-1] != "A" else "B")
    for each, expected in ((code, [("credit_code", code)]), (wrong, [])):
        written = separator.join(each[at : at + 4] for at in range(0, 18, 4))
        assert [pair for pair in found(f"统一社会信用代码：{written}。") if pair[0] == "credit_code"] == expected


def test_a_code_of_digits_alone_needs_a_label_unless_it_is_a_company() -> None:
    body = "12110000400000001"
    code = body + uscc.calc_check_digit(body + "0")
    assert code.isdecimal()
    assert found(code) == []
    assert found(f"信用代码{code}") == [("credit_code", code)]
