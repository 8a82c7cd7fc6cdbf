from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    "text",
    [
        "219-09-9999",
        "SSN 219099999",
        "SSN: 219 09 9999",
        "social security number is 219-09-9999",
        "219–09–9999",
        "２１９－０９－９９９９",
    ],
)
def test_social_security_is_found_in_every_writing(text: str) -> None:
    assert set(found(text)) == {("social_security", "219099999")}


@pytest.mark.parametrize(
    "text",
    [
        "000-12-3456",
        "666-12-3456",
        "900-12-3456",
        "219-00-9999",
        "219-09-0000",
        "2024-01-1234",
        "12-345-6789",
        "219-09-9999-1",
        "1219-09-9999",
        "x219-09-9999y",
        "document 219-09-9999",
        "order 219-09-9999",
        "219 09 9999",
        "219099999",
        "219.09.9999",
        "2019-09-2024",
    ],
)
def test_social_security_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 899), st.integers(1, 99), st.integers(1, 9999))
def test_any_number_of_an_issued_area_is_found(area: int, group: int, serial: int) -> None:
    number = f"{area:03}-{group:02}-{serial:04}"
    expected = [] if area == 666 else [("social_security", number.replace("-", ""))]
    assert found(f"The applicant ({number}) signed.") == expected
