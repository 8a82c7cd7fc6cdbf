from __future__ import annotations

import pytest

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def found(text: str) -> list[tuple[str, str]]:
    return [(s.kind, s.value) for s in find_secrets(fold(text))]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("京A12345", "京A12345"),
        ("京A12345", "京A·12345"),
        ("京A12345", "京A 12345"),
        ("京A12345", "京A•12345"),
        ("京A12345", "京A-12345"),
        ("京A12345", "车牌京A．12345"),
        ("京A12345", "京Ａ１２３４５"),
        ("京A12345", "京a12345"),
        ("京A12345", "车牌号码：京A12345"),
        ("京A12345", "牌照京A·12345的轿车"),
        ("粤B12345D", "粤B12345D"),
        ("粤B12345D", "粤B·12345D"),
        ("粤B12345D", "粵B12345D"),
        ("粤BD12345", "粤BD12345"),
        ("粤BD12345", "粤B·D12345"),
        ("粤BD12345", "粤B D12345"),
        ("粤Z1234港", "粤Z1234港"),
        ("粤Z1234港", "粤Z·1234港"),
        ("京A1234警", "京A1234警"),
        ("沪A1234学", "沪A1234学"),
        ("沪A1234学", "沪A·1234學"),
        ("苏E1234挂", "苏E1234挂"),
        ("使224578", "使224·578"),
        ("使224578", "车牌使224578"),
        ("沪A0023领", "沪A·0023领"),
    ],
)
def test_plate_is_found_in_every_writing(value: str, text: str) -> None:
    assert set(found(text)) == {("plate", value)}


@pytest.mark.parametrize(
    "text",
    [
        "更新A12345",
        "最新C12345",
        "阿里云B12345",
        "云计算A12345",
        "新B12345个",
        "沪C·1234",
        "京O12345",
        "京I12345",
        "京ICP备12345678号",
        "京公网安备11010502030123号",
        "编号：京2024-12345",
        "沪深300指数12345",
        "川A区2024年",
        "使123456人受益",
        "京A123456789",
        "京AB",
        "table C12345",
        "型号鲁B12345",
        "工程编号：京A12345",
        "浙B2-20080224",
    ],
)
def test_plate_is_not_read_into_other_numbers(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "surface"),
    [("车牌号为沪B·A1234的车", "沪B·A1234"), ("在京A12345", "京A12345"), ("牌照 粤Z 1234港。", "粤Z 1234港")],
)
def test_span_is_the_plate_alone(text: str, surface: str) -> None:
    (secret,) = find_secrets(fold(text))
    assert text[secret.start : secret.end] == surface


def test_plates_beside_each_other_are_all_found() -> None:
    assert found("京A12345、沪B67890和渝D12345F") == [
        ("plate", "京A12345"),
        ("plate", "沪B67890"),
        ("plate", "渝D12345F"),
    ]
