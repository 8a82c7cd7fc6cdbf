"""Values that were erased: what stands for them, and what knows them again."""

from __future__ import annotations

import pytest

from retrieval.symbols.language import SymbolLanguage
from retrieval.symbols.pseudonyms import PSEUDONYM, erased, fingerprint, is_erased, tenant_erasure_key
from retrieval.symbols.rules import FixedRules, TenantRules

KEY, ERASURE_KEY = b"0123456789abcdef", b"fedcba9876543210"
MOBILE = "13812345678"


def language(*fingerprints: str) -> SymbolLanguage:
    return SymbolLanguage(FixedRules(TenantRules(erased=frozenset(fingerprints))), KEY, ERASURE_KEY)


def known(tenant: str = "t") -> str:
    return fingerprint(tenant_erasure_key(ERASURE_KEY, tenant), "mobile", MOBILE)


@pytest.mark.parametrize("writing", ["13812345678", "138-1234-5678", "+86 138 1234 5678", "１３８１２３４５６７８"])
def test_erased_value_gets_no_pseudonym_in_any_writing(writing: str) -> None:
    read = language(known()).symbolise(f"tel {writing} and 13912345678", tenant="t")
    assert read.text.startswith("tel [PHONE_erased] and [PHONE_")
    assert [secret.value for secret in read.secrets] == ["13912345678"]
    assert "[PHONE_erased]" in read.index_text
    assert len(read.symbols) == 1


def test_erased_value_of_another_tenant_keeps_its_pseudonym() -> None:
    assert "erased" not in language(known("other")).symbolise(f"tel {MOBILE}", tenant="t").text


def test_symbolising_an_erased_value_twice_changes_nothing() -> None:
    read = language(known()).symbolise(f"tel {MOBILE}, {MOBILE}", tenant="t")
    again = language(known()).symbolise(read.text, tenant="t")
    assert (again.text, again.index_text, again.symbols) == (read.text, read.index_text, read.symbols)
    assert again.secrets == ()


def test_reading_agrees_with_symbolising() -> None:
    text = f"tel {MOBILE} and 13912345678"
    assert [s.normal for s in language(known()).read(text, tenant="t")] == [
        s.normal for s in language(known()).symbolise(text, tenant="t").symbols
    ]


def test_fingerprint_depends_on_tenant_kind_and_value_and_not_on_the_pseudonym_key() -> None:
    key = tenant_erasure_key(ERASURE_KEY, "t")
    different = {known(), known("u"), fingerprint(key, "phone", MOBILE), fingerprint(key, "mobile", "13812345679")}
    assert len(different) == 4
    rotated = language(known())
    rotated.change_key(b"another key 1234")
    assert rotated.fingerprint("mobile", MOBILE, tenant="t") == known()
    assert rotated.symbolise(MOBILE, tenant="t").text == "[PHONE_erased]"


def test_grammar_knows_what_stands_for_an_erased_value() -> None:
    match = PSEUDONYM.fullmatch(erased("mobile"))
    assert match is not None
    assert is_erased(match)
    assert PSEUDONYM.fullmatch("[NOSUCH_erased]") is None


def test_rules_that_name_erased_values_need_the_key() -> None:
    bare = SymbolLanguage(FixedRules(TenantRules(erased=frozenset({known()}))), KEY)
    with pytest.raises(ValueError, match="erasure key"):
        bare.symbolise("x", tenant="t")
    with pytest.raises(ValueError, match="erasure key"):
        bare.fingerprint("mobile", MOBILE, tenant="t")
    with pytest.raises(ValueError, match="at least 16 bytes"):
        SymbolLanguage(FixedRules(TenantRules()), KEY, b"short")


def test_changed_key_gives_other_pseudonyms_and_another_revision() -> None:
    one = language()
    before, revision = one.symbolise(MOBILE, tenant="t").text, one.of("t").revision
    assert one.of("t") is one.of("t")
    one.change_key(b"another key 1234")
    assert one.symbolise(MOBILE, tenant="t").text != before
    assert one.of("t").revision != revision
    with pytest.raises(ValueError, match="at least 16 bytes"):
        one.change_key(b"short")
