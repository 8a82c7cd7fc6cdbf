from __future__ import annotations

from datetime import date

import pytest

from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.symbols.rules import Correction, FixedRules, TenantRules, revised
from retrieval.types import Symbol

TENANT = "acme"


@pytest.fixture(scope="module")
def language() -> SymbolLanguage:
    return load_language(b"0123456789abcdef")


def read_one(language: SymbolLanguage, text: str) -> Symbol:
    (symbol,) = language.read(text, tenant=TENANT)
    return symbol


def test_symbolise_replaces_all_three_classes_in_the_index_text_only_secrets_in_the_text(
    language: SymbolLanguage,
) -> None:
    result = language.symbolise("C1客户张三(13812345678)购买238万元，占5.2%", tenant=TENANT)
    (secret,) = result.secrets
    assert result.text == f"C1客户张三({secret.pseudonym})购买238万元，占5.2%"
    assert result.index_text == f"[CUSTOMER_RISK_C1]客户张三({secret.pseudonym})购买[CNY_2380000]，占[PCT_5.2]"
    assert (secret.kind, secret.value) == ("mobile", "13812345678")


def test_symbolise_gives_spans_in_its_own_text(language: SymbolLanguage) -> None:
    result = language.symbolise("电话 138 1234 5678，金额 2.38 亿元，R4 基金", tenant=TENANT)
    assert [s.kind for s in result.symbols] == ["mobile", "amount", "fund_risk"]
    assert all(result.text[s.start : s.end] == s.surface for s in result.symbols)


def test_read_gives_spans_in_the_text_as_given(language: SymbolLanguage) -> None:
    text = "电话 138 1234 5678，金额 ２．３８ 亿元，邮箱a@b.com 占 5%"
    symbols = language.read(text, tenant=TENANT)
    assert [text[s.start : s.end] for s in symbols] == ["138 1234 5678", "２．３８ 亿元", "a@b.com", "5%"]
    for symbol in symbols:
        shown = symbol.normal if symbol.cls == "secret" else text[symbol.start : symbol.end]
        assert symbol.surface == shown


def test_read_never_carries_a_secret(language: SymbolLanguage) -> None:
    text = "致电13812345678或zhang@example.com，卡号6222021234567890128，身份证11010519491231002X"
    dumped = "".join(s.model_dump_json() for s in language.read(text, tenant=TENANT))
    for clear in ("13812345678", "zhang", "6222021234567890128", "110105"):
        assert clear not in dumped


def test_symbolise_changes_nothing_the_second_time(language: SymbolLanguage) -> None:
    first = language.symbolise("+86 138-1234-5678 在2024年第三季度收入RMB 238 million，同比下滑5.2%", tenant=TENANT)
    again = language.symbolise(first.text, tenant=TENANT)
    assert (again.text, again.index_text, again.symbols) == (first.text, first.index_text, first.symbols)
    assert again.secrets == ()
    assert language.symbolise(first.index_text, tenant=TENANT).index_text == first.index_text


def test_a_pseudonym_in_the_text_is_read_as_its_secret(language: SymbolLanguage) -> None:
    symbol = read_one(language, "请致电 [PHONE_k3f9a2mq7x4tw] 联系")
    assert (symbol.cls, symbol.kind, symbol.normal) == ("secret", "mobile", "[PHONE_k3f9a2mq7x4tw]")


def test_brackets_do_not_hide_a_telephone_number(language: SymbolLanguage) -> None:
    assert "13812345678" not in language.symbolise("[PHONE_8613812345678] [13812345678]", tenant=TENANT).text


def test_relative_periods_need_a_base_date(language: SymbolLanguage) -> None:
    assert language.read("上季度收入如何", tenant=TENANT) == ()
    (symbol,) = language.read("上季度收入如何", tenant=TENANT, base_date=date(2024, 11, 5))
    assert (symbol.normal, symbol.token) == ("2024Q3", "[PERIOD_2024Q3]")


def test_plain_numbers_are_symbols_but_stay_as_written(language: SymbolLanguage) -> None:
    result = language.symbolise("订单 12,345 单", tenant=TENANT)
    assert [(s.kind, s.normal) for s in result.symbols] == [("number", "12345")]
    assert result.index_text == "订单 12,345 单"


def test_counts_stay_as_written_unless_a_scale_word_hides_their_digits(language: SymbolLanguage) -> None:
    result = language.symbolise("员工 12,345 人，客户 12 万户，分行 36 家", tenant=TENANT)
    assert [s.token for s in result.symbols] == ["[COUNT_12345_PERSON]", "[COUNT_120000_HOUSEHOLD]", "[COUNT_36_FIRM]"]
    assert result.index_text == "员工 12,345 人，客户 [COUNT_120000_HOUSEHOLD]，分行 36 家"


def test_read_numbers_adds_the_small_integers(language: SymbolLanguage) -> None:
    text = "[SOURCE: doc_7f3a_p5] 2024年 33 项, 1,234 单, 5.2%"
    assert [s.normal for s in language.read_numbers(text, tenant=TENANT)] == ["33", "1234"]


def test_the_secret_shows_no_value_when_printed(language: SymbolLanguage) -> None:
    assert "13812345678" not in repr(language.symbolise("13812345678", tenant=TENANT))


def test_revision_tells_nothing_of_corrections_without_the_key() -> None:
    rules = revised(TenantRules(corrections=(Correction(text="Blue Zebrafish", verdict="secret"),)))
    one = SymbolLanguage(FixedRules(rules), b"0123456789abcdef")
    revision = one.of("t").revision
    assert rules.revision not in revision
    assert revision == SymbolLanguage(FixedRules(rules), b"0123456789abcdef").of("t").revision
    other = SymbolLanguage(FixedRules(rules), b"another key 1234").of("t").revision
    assert not set(revision.split("/")) & set(other.split("/"))
    assert one.of("u").revision.split("/")[0] != revision.split("/")[0]
