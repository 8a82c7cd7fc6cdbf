from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.fold import fold, mask
from retrieval.symbols.secrets.find import find_secrets
from retrieval.symbols.secrets.runs import digit_runs


def groups(text: str) -> list[tuple[str, ...]]:
    return [run.groups for run in digit_runs(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 138 1234 5678 b", [("138", "1234", "5678")]),
        ("(138)12345678", [("138", "12345678")]),
        ("138-\n12345678", [("138", "12345678")]),
        ("1,234,567,890", []),
        ("2024. 2025. 2026", []),
        ("138\t1234\t5678", []),
        ("123456", []),
        ("138 1234 5678 10:30", [("138", "1234", "5678")]),
    ],
)
def test_a_run_is_digits_with_short_separators(text: str, expected: list[tuple[str, ...]]) -> None:
    assert groups(text) == expected


_PIECES = st.sampled_from([
    "13812345678",
    "138 1234 5678",
    "(138)",
    "+86",
    "0086",
    "86",
    "010-58889999",
    "0755",
    "8888 6666",
    "400-820-8820",
    "415-555-2671",
    "219-09-9999",
    "4111 1111 1111 1111",
    "6222021234567890128",
    "11010519491231002X",
    "110105 19491231 002X",
    "110105491231002",
    "DE89 3704 0044 0532 0130 00",
    "91110000600037341L",
    "京A12345",
    "粤BD12345",
    "护照",
    "E12345678",
    "电话：",
    "、",
    "58889998",
    "订单",
    "卡号",
    "\n",
    " ",
    "-",
    "\u2013",
    ".",
    ",",
    "，",
    "/",
    "(",
    ")",
    ":",
    "X",
    "x",
    "1",
    "20",
    "2024",
    "元",
    "年",
    "| ",
    " |\n",
    "passport no. ",
    "台胞证",
])


@settings(max_examples=40, deadline=None)
@given(st.lists(_PIECES, max_size=10).map("".join))
def test_secrets_are_ordered_do_not_overlap_and_leave_none_behind(text: str) -> None:
    folded = fold(text)
    spans: list[tuple[int, int]] = []
    for _ in range(4):
        secrets = find_secrets(mask(folded, sorted(spans)))
        at = 0
        for secret in secrets:
            assert at <= secret.start < secret.end <= len(text)
            assert secret.value
            at = secret.end
        spans += [(s.start, s.end) for s in secrets]
    assert find_secrets(mask(folded, sorted(spans))) == []


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1 ",
        "1-",
        "(1)",
        "86 ",
        "+86",
        "0",
        "0755 ",
        "13812345678 ",
        "138 1234 ",
        "4",
        "4111 ",
        "4 ",
        "6222 0212 3456 7890 12\n",
        "110105",
        "1949 ",
        "DE89 ",
        "GB82WEST",
        "A1",
        "91110000",
        "京A",
        "京A1",
        "护照",
        "护照E1234567 ",
        "passport ",
        "台胞证1234567",
        "Taiwan resident ",
        "travel hong kong ",
        "电话",
        "电话1234567",
        "| 1380013800 ",
        "| 1\n",
        "\n1234567",
        "400-",
        "219-09-",
        "1\u200b",
    ],
    ids=repr,
)
def test_text_that_repeats_what_patterns_begin_with_is_read_to_its_end(piece: str) -> None:
    text = piece * (20_000 // len(piece)) + "，手机13812345678。"
    assert ("mobile", "13812345678") in [(s.kind, s.value) for s in find_secrets(text)]


def test_columns_of_a_long_table_are_labelled_by_their_heading() -> None:
    rows = "".join(f"| 客户{i} | 138 1234 {i:04} |\n" for i in range(150))
    assert len(find_secrets(f"| 姓名 | 手机 |\n| --- | --- |\n{rows}")) == 150
