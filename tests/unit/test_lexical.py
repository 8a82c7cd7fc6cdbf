from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical import Bm25Index, document_weights, query_weights, term_id, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  …，。!? ", []),
        ("Net Sales", ["net", "sales"]),
        ("合规", ["合规"]),
        ("报销制度", ["报销", "销制", "制度"]),
        ("共 3 人", ["共", "3", "人"]),
        ("AWS权限申请", ["aws", "权限", "限申", "申请"]),
        ("AWS权限", ["aws", "权限"]),
        ("$ 1,452.4 million", ["1452.4", "million"]),
        ("2,024", ["2024"]),
        ("１２．５％", ["12.5"]),
        ("ＡＷＳ", ["aws"]),
        ("1,2,3", ["1", "2", "3"]),
        ("客户 [RISK_C1] 购买 [CNY_238000000]", ["客户", "[RISK_C1]", "购买", "[CNY_238000000]"]),
        ("比例[PCT_-5.2]升", ["比例", "[PCT_-5.2]", "升"]),
        ("see [note] here", ["see", "note", "here"]),
        ("naïve café", ["naïve", "café"]),
        ("テスト データ", ["テス", "スト", "デー", "ータ"]),
    ],
)
def test_terms_split_by_script(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text())
def test_terms_are_total_and_never_empty_strings(text: str) -> None:
    assert all(terms(text))


@given(st.text(), st.text())
def test_terms_of_texts_apart_are_terms_of_each(left: str, right: str) -> None:
    assert terms(f"{left}\n\n{right}") == terms(left) + terms(right)


def test_term_id_is_the_same_in_another_process() -> None:
    code = "from retrieval.lexical import term_id; print(term_id('报销'), term_id('[RISK_C1]'))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == [str(term_id("报销")), str(term_id("[RISK_C1]"))]


@given(st.text())
def test_weights_have_ascending_unique_indices_and_positive_values(text: str) -> None:
    for vector in (document_weights(text), query_weights(text)):
        assert vector.indices.dtype == np.uint32
        assert vector.values.dtype == np.float32
        assert len(vector.indices) == len(vector.values)
        assert np.all(np.diff(vector.indices.astype(np.int64)) > 0)
        assert np.all(vector.values > 0)


def test_document_weights_saturate_and_damp_by_length() -> None:
    once, often = document_weights("risk"), document_weights("risk " * 50)
    long = document_weights("risk " + "filler " * 800)
    risk = term_id("risk")
    assert once.values[0] < often.values[0] < 2.2
    assert long.values[list(long.indices).index(risk)] < once.values[0]


def test_query_weights_count_terms() -> None:
    vector = query_weights("fee fee cap")
    assert dict(zip(vector.indices.tolist(), vector.values.tolist(), strict=True)) == {
        term_id("fee"): 2.0,
        term_id("cap"): 1.0,
    }


def test_bm25_index_gives_the_formula_by_hand() -> None:
    index = Bm25Index(["fee cap", "fee fee fee rule", "travel policy"])
    # average length 8/3; idf(cap) = ln(1 + 2.5/1.5); tf 1, length 2
    idf = np.log(1 + 2.5 / 1.5)
    weight = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (8 / 3)))
    assert index.scores("cap") == pytest.approx([idf * weight, 0.0, 0.0])


def test_bm25_index_ranks_rare_terms_and_leaves_out_strangers() -> None:
    index = Bm25Index(["基金 风险 等级", "基金 公告", "员工 手册"])
    assert [row for row, _ in index.search("基金风险", limit=5)] == [0, 1]
    assert index.search("天气", limit=5) == []


def test_bm25_index_of_nothing_finds_nothing() -> None:
    assert Bm25Index([]).search("anything", limit=3) == []


def test_traditional_and_simplified_characters_are_one_term() -> None:
    assert terms("報銷標準") == terms("报销标准") == ["报销", "销标", "标准"]
