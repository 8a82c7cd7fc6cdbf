"""Filters as people write them: read at the door, refused by field, without secrets."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import BadFilterError
from retrieval.filters import both, read_filter
from retrieval.symbols.language import load_language
from retrieval.types import SearchFilter

LANGUAGE = load_language(b"a key of thirty-two bytes or more")


def read(**fields: object) -> SearchFilter:
    return read_filter(SearchFilter.model_validate(fields), "acme", LANGUAGE)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("2024Q3", "2024Q3"),
        (" 2024Q3 ", "2024Q3"),
        ("Q3 2024", "2024Q3"),
        ("2024年第三季度", "2024Q3"),
        ("２０２４年第三季度", "2024Q3"),
        ("the third quarter of 2024", "2024Q3"),
        ("2024-07/2024-09", "2024Q3"),
        ("2024年前三季度", "2024-01/2024-09"),
        ("2024-07-01", "2024-07-01"),
        ("from 2021 to 2023", "2021/2023"),
        ("FY2024", "2024"),
    ],
)
def test_filter_period_is_read_as_it_is_written(written: str, normal: str) -> None:
    assert read(period=written).period == normal


@pytest.mark.parametrize(
    "written",
    [
        "soon",
        "2024Q5",
        "2024-13",
        "2024/2023",
        "Q3 2024 and Q4 2024",
        "revenue of Q3 2024",
        "last quarter",
        "5.2%",
        " ",
    ],
)
def test_filter_period_that_is_none_is_refused_by_name(written: str) -> None:
    with pytest.raises(BadFilterError, match=r"filter\.period"):
        read(period=written)


def test_filter_relative_period_counts_from_the_day_that_is_asked_for() -> None:
    assert read(period="上季度", as_of=date(2024, 11, 5)).period == "2024Q3"


@pytest.mark.parametrize(
    ("written", "token"),
    [
        ("[CUSTOMER_RISK_C1]", "[CUSTOMER_RISK_C1]"),
        ("客户风险等级 C1", "[CUSTOMER_RISK_C1]"),
        ("2.38 亿元", "[CNY_238000000]"),
        ("RMB 238 million", "[CNY_238000000]"),
        ("[CNY_238000000]", "[CNY_238000000]"),
        ("5.2%", "[PCT_5.2]"),
        ("[PHONE_k3f9a2mq7x4tw]", "[PHONE_k3f9a2mq7x4tw]"),
    ],
)
def test_filter_symbol_becomes_its_token(written: str, token: str) -> None:
    assert read(symbols=[written]).symbols == {token}


@pytest.mark.parametrize("written", ["C1", "profit", "[NO_SUCH]", "net profit 2.38 亿元", "2.38 亿元 or 5.2%", " "])
def test_filter_symbol_that_is_none_is_refused_by_name(written: str) -> None:
    with pytest.raises(BadFilterError, match=r"filter\.symbols"):
        read(symbols=["5.2%", written])


def test_filter_keeps_no_secret_in_clear_anywhere() -> None:
    given = read(symbols=["13800138000"], labels=["13800138000"], document_ids=["13800138000"])
    assert "13800138000" not in given.model_dump_json()
    [token] = given.symbols
    assert token.startswith("[PHONE_")
    with pytest.raises(BadFilterError) as caught:
        read(period="13800138000")
    assert "13800138000" not in str(caught.value)
    with pytest.raises(BadFilterError) as caught:
        read(symbols=["call 13800138000"])
    assert "13800138000" not in str(caught.value)


def test_filter_leaves_document_ids_alone_though_digits_in_them_look_like_a_number() -> None:
    known = "13800138000" + "0" * 21
    assert read(document_ids=[known]).document_ids == {known}


def test_filter_that_was_read_reads_the_same_again() -> None:
    first = read(period="Q3 2024", symbols=["13800138000", "2.38 亿元"], labels=["hr"], document_ids=["d1"])
    assert read_filter(first, "acme", LANGUAGE) == first


@pytest.mark.parametrize(
    ("one", "other", "period"),
    [
        ({"period": "2024"}, {"period": "2024Q3"}, "2024Q3"),
        ({"period": "2024Q3"}, {"period": "2024"}, "2024Q3"),
        ({"period": "2024Q3"}, {}, "2024Q3"),
        ({}, {"period": "2024Q3"}, "2024Q3"),
        ({"period": "2024-01/2024-08"}, {"period": "2024Q3"}, "2024-07/2024-08"),
    ],
)
def test_two_filters_ask_for_the_period_that_both_admit(
    one: dict[str, str], other: dict[str, str], period: str
) -> None:
    joined = both(SearchFilter.model_validate(one), SearchFilter.model_validate(other))
    assert (joined.period, joined.document_ids) == (period, None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"period": "2023Q3"}, {"period": "2024Q3"}),
        ({"document_ids": ["a"]}, {"document_ids": ["b"]}),
        ({"language": "zh"}, {"language": "en"}),
        ({"authority": "draft"}, {"authority": "official"}),
        ({"as_of": "2024-01-01"}, {"as_of": "2024-01-02"}),
    ],
)
def test_two_filters_that_exclude_each_other_admit_nothing(one: dict[str, object], other: dict[str, object]) -> None:
    joined = both(SearchFilter.model_validate(one), SearchFilter.model_validate(other))
    assert joined.document_ids == frozenset()


NAMES = st.frozensets(st.sampled_from(["a", "b", "c"]))
FILTERS = st.builds(
    SearchFilter,
    labels=NAMES,
    document_ids=st.none() | NAMES,
    language=st.sampled_from([None, "zh", "en"]),
    symbols=NAMES,
)


@given(one=FILTERS, other=FILTERS)
def test_two_filters_never_widen_each_other(one: SearchFilter, other: SearchFilter) -> None:
    joined = both(one, other)
    for each in (one, other):
        assert each.labels <= joined.labels
        assert each.symbols <= joined.symbols
        assert each.document_ids is None or (
            joined.document_ids is not None and joined.document_ids <= each.document_ids
        )
        assert each.language in (None, joined.language) or joined.document_ids == frozenset()
