"""Texts that only a correction knew, found after they were erased, and told by nothing that is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.symbols.erased_texts import erased_text, text_key
from retrieval.symbols.language import SymbolLanguage
from retrieval.symbols.pseudonyms import tenant_erasure_key
from retrieval.symbols.rules import FixedRules, TenantRules

ERASURE = b"erasure key 0123"


def language(*texts: str, near: str = "") -> SymbolLanguage:
    key = text_key(tenant_erasure_key(ERASURE, "t"))
    marks = tuple(mark for text in texts if (mark := erased_text(key, "custom", text, near)) is not None)
    return SymbolLanguage(FixedRules(TenantRules(erased_texts=marks)), b"0123456789abcdef", ERASURE)


@pytest.mark.parametrize(
    ("text", "written", "clean"),
    [
        ("Blue Zebrafish", "the BLUE\n zebrafish.", "the [SECRET_erased]."),
        ("Blue Zebrafish", "Ｂｌｕｅ Zebra\u200bfish", "[SECRET_erased]"),
        ("Blue Zebrafish", "BlueZebrafish, Blue-Zebrafish, Blue Zebrafishes", None),
        ("ZEBRA-12", "zebra-12 and zebra12", "[SECRET_erased] and zebra12"),
        ("蓝鲸计划", "我们的蓝鲸\n计划很好", "我们的[SECRET_erased]很好"),
        ("蓝鲸2号", "蓝鲸2号和蓝鲸2号楼", "[SECRET_erased]和[SECRET_erased]楼"),
    ],
)
def test_erased_text_is_hidden_in_its_writings_alone(text: str, written: str, clean: str | None) -> None:
    one = language(text)
    result = one.symbolise(written, tenant="t")
    assert result.text == (written if clean is None else clean)
    assert result.secrets == ()
    assert one.symbolise(result.text, tenant="t").text == result.text


def test_longest_erased_text_wins_and_a_line_decides() -> None:
    assert (
        language("Blue", "Blue Gnu").symbolise("Blue Gnu, Blue", tenant="t").text == "[SECRET_erased], [SECRET_erased]"
    )
    near = language("Gnu", near="project")
    assert near.symbolise("the Project Gnu\na gnu", tenant="t").text == "the Project [SECRET_erased]\na gnu"


def test_erased_text_is_known_when_it_is_given_by_itself() -> None:
    found = language("Blue, Zebrafish").identify(" Blue,  Zebrafish", tenant="t")
    assert ("custom", "Blue, Zebrafish") in {(secret.kind, secret.value) for secret in found}
    found = language("Blue, Zebrafish").identify("Blue, Zebrafish!", tenant="t")
    assert "custom" not in {secret.kind for secret in found}


def test_mark_of_an_erased_text_does_not_tell_it() -> None:
    one = erased_text(b"a" * 32, "custom", "Blue Zebrafish")
    other = erased_text(b"b" * 32, "custom", "Blue Zebrafish")
    assert one is not None
    assert other is not None
    assert "lue" not in one.model_dump_json()
    assert (one.mark, one.head) != (other.mark, other.head)
    assert erased_text(b"a" * 32, "custom", " \u200b ") is None


@given(st.text(max_size=30), st.text("ab 蓝鲸-1\n\u200b", min_size=1, max_size=8), st.text(max_size=30))
def test_erased_text_leaves_no_trace_between_other_lines(before: str, text: str, after: str) -> None:
    one = language(text)
    result = one.symbolise(f"{before}\n。{text}。\n{after}", tenant="t").text
    assert one.symbolise(result, tenant="t").text == result
    if text.replace("\u200b", "").strip():
        assert "[SECRET_erased]" in result
