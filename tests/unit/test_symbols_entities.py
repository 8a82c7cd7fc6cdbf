"""The glossary: one entity under all its approved names, in whatever writing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.symbols.codes.entities import EntityReader
from retrieval.symbols.fold import fold
from retrieval.symbols.language import SymbolLanguage, load_language
from retrieval.symbols.rules import Entity, FixedRules, Person, TenantRules

GLOSSARY = (
    Entity(
        entity_id="HUAZE",
        names=("华泽精密仪器股份有限公司", "Huaze Precision Instruments Co., Ltd.", "华泽精密", "Huaze Precision"),
    ),
    Entity(entity_id="BOC", names=("中国银行", "Bank of China", "BOC"), not_in=("中国银行业", "Bank of China Tower")),
    Entity(entity_id="BOC-HK", names=("中银（香港）有限公司", "Bank of China (Hong Kong) Limited")),
    Entity(entity_id="OBRIEN", names=("O'Brien-Keller plc",)),
    Entity(entity_id="IT", names=("IT",)),
    Entity(entity_id="A3", names=("第3控股ABC", "Nestlé")),
)
LANGUAGE = SymbolLanguage(FixedRules(TenantRules(glossary=GLOSSARY)), bytes(16))


def entities(text: str) -> list[tuple[str, str]]:
    return [(s.normal, s.surface) for s in LANGUAGE.read(text, tenant="t") if s.kind == "entity"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("华泽精密仪器股份有限公司今日公告", [("HUAZE", "华泽精密仪器股份有限公司")]),
        ("華澤精密儀器股份有限公司今日公告", [("HUAZE", "華澤精密儀器股份有限公司")]),
        ("關於華澤精密的業績", [("HUAZE", "華澤精密")]),
        ("HUAZE PRECISION INSTRUMENTS CO., LTD. said", [("HUAZE", "HUAZE PRECISION INSTRUMENTS CO., LTD.")]),
        ("huaze  precision\ninstruments Co., Ltd.", [("HUAZE", "huaze  precision\ninstruments Co., Ltd.")]),
        ("Ｈｕａｚｅ　Ｐｒｅｃｉｓｉｏｎ的", [("HUAZE", "Ｈｕａｚｅ　Ｐｒｅｃｉｓｉｏｎ")]),
        ("Huaze Precision’s revenue", [("HUAZE", "Huaze Precision")]),
        ("中国银行与Bank of China是一家", [("BOC", "中国银行"), ("BOC", "Bank of China")]),
        ("中銀(香港)有限公司", [("BOC-HK", "中銀(香港)有限公司")]),
        ("Bank of China （Hong Kong） Limited", [("BOC-HK", "Bank of China （Hong Kong） Limited")]),
        ("O’Brien–Keller PLC", [("OBRIEN", "O’Brien–Keller PLC")]),
        ("the IT desk", [("IT", "IT")]),
        ("第 3 控股 abc", [("A3", "第 3 控股 abc")]),
        ("nestlé", [("A3", "nestlé")]),
        ("boc rose", [("BOC", "boc")]),
    ],
)
def test_names_are_read_in_all_their_writings(text: str, expected: list[tuple[str, str]]) -> None:
    assert entities(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "中国银行业协会",
        "中國銀行業監督管理委員會",
        "the Bank of China Tower in Hong Kong",
        "the Riverbank of Chinatown",
        "Bank of Chinatown",
        "Huazes precision",
        "is it so",
        "BOCA",
        "xBOC",
        "Nestléa",
        "华泽",
        "",
    ],
)
def test_other_words_are_no_names(text: str) -> None:
    assert entities(text) == []


def test_the_longest_name_wins() -> None:
    assert [e for e, _ in entities("Bank of China (Hong Kong) Limited and Bank of China")] == ["BOC-HK", "BOC"]


def test_a_document_and_a_question_get_one_token() -> None:
    document = LANGUAGE.symbolise("華澤精密儀器股份有限公司第三季度收入", tenant="t")
    question = LANGUAGE.symbolise("How did Huaze Precision do?", tenant="t")
    assert document.index_text == "[ENTITY_HUAZE]第三季度收入"
    assert question.index_text == "How did [ENTITY_HUAZE] do?"
    assert document.text.startswith("華澤精密儀器")


def test_tokens_are_not_read_again() -> None:
    read = LANGUAGE.symbolise("[ENTITY_BOC] BOC [ENTITY_GONE]", tenant="t")
    assert read.index_text == "[ENTITY_BOC] [ENTITY_BOC] [ENTITY_GONE]"
    assert LANGUAGE.symbolise(read.index_text, tenant="t").index_text == read.index_text


NAMES = [(entity.entity_id, name) for entity in GLOSSARY[:3] for name in entity.names]
WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz(),."}
TRADITIONAL = str.maketrans("华泽仪银国", "華澤儀銀國")


@settings(deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_any_writing_of_a_name_gives_its_entity(named: tuple[str, str], data: st.DataObject) -> None:
    entity_id, name = named
    drawn = [
        data.draw(
            st.sampled_from(
                [char]
                if char == "."
                else [char, char.upper(), char.translate(WIDE), char.translate(TRADITIONAL)]
                if not char.isspace()
                else [" ", "\n", "  ", "\u3000", "\u00a0"]
            )
        )
        for char in name
    ]
    written = "".join(drawn)
    before, after = data.draw(st.sampled_from([("", ""), ("与", "的"), (" ", " "), ("（", "）"), ("\n", "\n")]))
    assert entities(f"{before}{written}{after}") == [(entity_id, written)]


@settings(deadline=None)
@given(st.text("中国银行业BOCbank of china(（Hong Kong)it IT\n第3控股", max_size=60))
def test_findings_lie_on_their_names(text: str) -> None:
    folded = fold(text)
    for found in EntityReader(GLOSSARY).find(folded):
        assert 0 <= found.start < found.end <= len(folded)
        again = EntityReader(GLOSSARY).find(folded[found.start : found.end])
        assert found.normal in {f.normal for f in again}


def test_a_large_glossary_reads_long_texts_of_beginnings() -> None:
    glossary = tuple(
        Entity(entity_id=f"E{n}", names=(f"中国第{n}号实业有限公司", f"Aa {n} Holdings")) for n in range(3000)
    )
    reader = EntityReader(glossary)
    text = "中国第" * 3000 + "Aa " * 3000 + "中国第499号实业有限公司"
    assert [f.normal for f in reader.find(text)] == ["E499"]


_PIECES = st.sampled_from([
    *(name for _, name in NAMES),
    "華澤精密儀器",
    "中國銀行業",
    "Ｂank of China",
    "C1客戶",
    "Ｒ４基金",
    "評級為AA+",
    "２．３８億元",
    "13812345678",
    "[ENTITY_BOC]",
    "參佰萬圓",
    "，",
    " ",
    "\n",
    "的",
])


@settings(deadline=None)
@given(st.lists(_PIECES, max_size=8))
def test_symbolising_twice_changes_nothing_in_any_writing(pieces: list[str]) -> None:
    once = LANGUAGE.symbolise("".join(pieces), tenant="t")
    twice = LANGUAGE.symbolise(once.text, tenant="t")
    assert (twice.text, twice.index_text, twice.symbols) == (once.text, once.index_text, once.symbols)
    read = LANGUAGE.read("".join(pieces), tenant="t")
    assert [s.normal for s in read] == [s.normal for s in once.symbols]


@pytest.mark.parametrize("text", ["My name is Huaze Precision", "Dear Ms. Huaze Precision"])
def test_an_approved_name_is_nobodys_where_a_rule_would_take_it_for_a_person(text: str) -> None:
    assert load_language(bytes(16)).symbolise(text, tenant="t").secrets != ()
    assert LANGUAGE.symbolise(text, tenant="t").text == text
    assert entities(text) == [("HUAZE", "Huaze Precision")]


def test_a_listed_person_is_one_although_the_glossary_has_the_name() -> None:
    rules = TenantRules(glossary=GLOSSARY, persons=(Person(names=("Huaze Precision",)),))
    assert SymbolLanguage(FixedRules(rules), bytes(16)).symbolise("Huaze Precision", tenant="t").secrets != ()
