from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import iban

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    "text",
    [
        "GB82WEST12345698765432",
        "GB82 WEST 1234 5698 7654 32",
        "gb82 west 1234 5698 7654 32",
        "IBAN: GB82 WEST 1234 5698 7654 32, BIC X",
        "GB82-WEST-1234-5698-7654-32",
        "GB82 WEST 1234\n5698 7654 32",
        "ＧＢ８２ＷＥＳＴ１２３４５６９８７６５４３２",
        "账号GB82WEST12345698765432。",
        "GB82 WEST 1234 5698 7654 32 BIC WESTGB2L",
        "GB 82 WEST 1234 5698 7654 32",
        "IBAN GB 82 WEST 1234 5698 7654 32",
    ],
)
def test_iban_is_found_in_every_writing(text: str) -> None:
    assert set(found(text)) == {("iban", "GB82WEST12345698765432")}


@pytest.mark.parametrize(
    "text",
    [
        "GB82WEST12345698765433",
        "GB82 WEST 1234 5698 7654 33",
        "XX82WEST12345698765432",
        "AGB82WEST12345698765432",
        "GB82WEST123456987654321",
        "DE12",
        "AB12 CDEF 3456",
        "GB82WEST1234569876543",
    ],
)
def test_iban_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("FR1420041010050500013M02606", "IBAN: FR14 2004 1010 0505 0001 3M02 606."),
        ("NO9386011117947", "NO93 8601 1117 947"),
        ("NL91ABNA0417164300", "NL91ABNA0417164300/EUR"),
        ("CH9300762011623852957", "CH93 0076 2011 6238 5295 7 (Zürich)"),
        ("DE89370400440532013000", "IBANDE89370400440532013000"),
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00 BIC COBADEFFXXX"),
    ],
)
def test_accounts_of_all_countries_end_where_their_length_says(value: str, text: str) -> None:
    assert found(text) == [("iban", value)]


@settings(max_examples=40, deadline=None)
@given(st.text("0123456789", min_size=18, max_size=18), st.sampled_from(["", " ", "-", "\u00a0"]))
def test_any_account_is_found_by_its_check_digits(bban: str, separator: str) -> None:
    number = f"DE{iban.calc_check_digits('DE00' + bban)}{bban}"
    wrong = f"DE{(int(number[2:4]) + 1) % 100:02}{bban}"
    for each, expected in ((number, [("iban", number)]), (wrong, [])):
        written = separator.join(each[at : at + 4] for at in range(0, len(each), 4))
        assert [pair for pair in found(f"账号 {written}。") if pair[0] == "iban"] == expected
