"""Addresses, names, keys, e-mail, URLs beside one another and beside figures: symbolising twice changes nothing."""

from __future__ import annotations

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.pseudonyms import tenant_key
from retrieval.symbols.rules import Person, TenantRules
from retrieval.symbols.tenant_language import TenantLanguage

LANGUAGE = TenantLanguage(
    TenantRules(persons=(Person(names=("张伟", "Zhang Wei")), Person(names=("Lina",)))),
    tenant_key(b"0123456789abcdef", "t"),
)
BASE = date(2024, 11, 5)
_PIECES = st.sampled_from([
    "上海市", "浦东新区", "世纪大道", "100号", "12楼", "1203室", "建国路88号", "住在", "地址：", "先生", "经理",
    "联系人：",
    "王小明", "李娜", "张伟", "Zhang Wei", "Lina", "客户", "、", "和", "的", "Mr. ", "Ms ", "John Smith",
    "Contact: ", "Name: ",
    "signed by ",
    "10 Main Street", ", Springfield", ", IL 62704", "Suite 5", "P.O. Box 12", "lina@example.com", "user@",
    "example.com",
    " [at] ", "https://", "www.example.com", "/a?b=1", "user:pa55word@", "api_key=", "密码：",
    "Ab3dEf6hIj9kLm2nOp5q", "sk-",
    "AKIAABCDEFGHIJKLMNOP", "Bearer ", "192.168.0.1", "2001:db8::1", "::", "1.2.3.4", "版本",
    "13812345678", "+86", "2.38亿元",
    "2024年7月1日", "5.2%", "C1", "R4基金",
    "[PERSON_k3f9a2mq7x4tw]", "[ADDRESS_k3f9a2mq7x4tw]", "[", "]", "，", "。", " ", "\n", "-", ":", "1", "号", "室",
])  # fmt: skip
_TEXT = st.lists(_PIECES | st.text(max_size=2), max_size=12).map("".join)


@given(_TEXT)
@settings(max_examples=400, deadline=None)
def test_symbolising_twice_is_symbolising_once(text: str) -> None:
    first = LANGUAGE.symbolise(text, base_date=BASE)
    again = LANGUAGE.symbolise(first.text, base_date=BASE)
    assert (again.text, again.index_text, again.symbols, again.secrets) == (
        first.text, first.index_text, first.symbols, (),
    )  # fmt: skip


@given(_TEXT)
@settings(max_examples=200, deadline=None)
def test_reading_and_symbolising_agree(text: str) -> None:
    read = LANGUAGE.read(text, base_date=BASE)
    symbolised = LANGUAGE.symbolise(text, base_date=BASE).symbols
    assert [(s.kind, s.normal, s.surface) for s in read] == [(s.kind, s.normal, s.surface) for s in symbolised]
