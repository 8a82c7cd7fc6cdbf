from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.parsers.sheets.number_formats import plain_number, shown, stored_number


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (0.052, "0.0%", "5.2%"),
        (-0.05, "0.0%", "-5.0%"),
        (5.0, "General", "5"),
        (0.1 + 0.2, "General", "0.3"),
        (1234567.0, "General", "1234567"),
        (1234567.0, "#,##0", "1,234,567"),
        (1234.5, "0", "1235"),
        (-1234.0, "#,##0_);(#,##0)", "(1,234)"),
        (1234567.0, '_("$"* #,##0.00_)', "$1,234,567.00"),
        (12.0, "[$¥-804]#,##0.00", "¥12.00"),
        (1234.5678, "#,##0.00 [$€-407]", "1,234.57 €"),
        (1500000.0, '0.0,,"M"', "1.5M"),
        (1e6, '#,##0" 元"', "1,000,000 元"),
        (123456789.0, "000-00-0000", "123-45-6789"),
        (42.0, "00000", "00042"),
        (12.0, "0.##", "12"),
        (0.75, "# ?/?", "0.75"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (7.0, "@", "7"),
        (0.0, ";;;", "0"),
        (3.0, '[>=1000000]0.0,,"M";0', "3"),
        (0.0, '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)', "-"),
    ],
)
def test_numbers_are_shown_as_on_the_sheet(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (45292.0, "mm-dd-yy", "2024-01-01"),
        (45292.5, "m/d/yy h:mm", "2024-01-01 12:00"),
        (45292.0, "mmm-yy", "2024-01"),
        (45292.0, 'yyyy"年"m"月"d"日"', "2024-01-01"),
        (45292.0, "[$-804]yyyy年m月", "2024-01"),
        (45292.0, "yyyy", "2024"),
        (0.5, "h:mm AM/PM", "12:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (59.0, "yyyy-mm-dd", "1900-02-28"),
        (61.0, "yyyy-mm-dd", "1900-03-01"),
        (-1.0, "yyyy-mm-dd", "-1"),
    ],
)
def test_dates_are_shown_in_iso_form_at_their_precision(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


def test_dates_count_from_1904_where_the_workbook_says_so() -> None:
    assert shown(0.0, "yyyy-mm-dd", epoch_1904=True) == "1904-01-01"
    assert shown(43830.0, "yyyy-mm-dd", epoch_1904=True) == "2024-01-01"


@given(st.floats(), st.text(alphabet='0#?.,%;"\\[]_*yYmdhsE+-/@$ 年GeneralA', max_size=30))
def test_any_format_code_gives_text(value: float, code: str) -> None:
    assert isinstance(shown(value, code), str)


@given(st.integers(min_value=-(10**14), max_value=10**14))
def test_whole_numbers_have_no_point(value: int) -> None:
    assert plain_number(float(value)) == str(value)


@pytest.mark.parametrize(
    "digits", ["4111111111111111", "110101199003078515", "-6222020200112233445", "13812345678", "0"]
)
@pytest.mark.parametrize("code", ["General", "0", "@"])
def test_stored_whole_numbers_keep_every_digit(digits: str, code: str) -> None:
    assert shown(stored_number(digits), code) == digits


def test_floats_that_are_exact_keep_every_digit() -> None:
    assert shown(4111111111111111.0, "General") == shown(4111111111111111.0, "0") == "4111111111111111"
    assert shown(stored_number("4.1111111111111110E+15"), "General") == "4111111111111111"


def test_endless_digits_are_a_number_still() -> None:
    assert isinstance(stored_number("9" * 300), float)


def test_more_decimals_than_can_be_shown_give_the_plain_number() -> None:
    assert shown(4111111111111111, "0." + "0" * 20) == "4111111111111111"
