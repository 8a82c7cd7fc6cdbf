from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.errors import SymbolFileError
from retrieval.symbols.language import load_language
from retrieval.symbols.rule_files import merge, read_rule_folder

LANGUAGE = load_language(b"0123456789abcdef")
DOMAIN = """
[[vocabulary]]
namespace = "form"
token_prefix = "FORM"
[vocabulary.context]
near = ["表单", "form"]
[[vocabulary.code]]
code = "W8"
rank = 1
aliases = ["W-8"]
"""


def codes(text: str) -> list[str]:
    return [s.token for s in LANGUAGE.read(text, tenant="t") if s.cls == "code"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C1客户能买R4基金吗？", ["[CUSTOMER_RISK_C1]", "[FUND_RISK_R4]"]),
        ("Ｃ１客戶可以購買Ｒ４基金嗎", ["[CUSTOMER_RISK_C1]", "[FUND_RISK_R4]"]),
        ("Can a C1 customer buy an R4 fund?", ["[CUSTOMER_RISK_C1]", "[FUND_RISK_R4]"]),
        ("c1客户", ["[CUSTOMER_RISK_C1]"]),
        ("投资者风险等级分为C1至C5。", ["[CUSTOMER_RISK_C1]", "[CUSTOMER_RISK_C5]"]),
        ("保守型客户", ["[CUSTOMER_RISK_C1]"]),
        ("conservative investors", ["[CUSTOMER_RISK_C1]"]),
        ("Customers are rated on risk tolerance. C3 is balanced.", ["[CUSTOMER_RISK_C3]"]),
        ("本产品风险评级为R2级，属于中低风险产品", ["[FUND_RISK_R2]", "[FUND_RISK_R2]"]),
        ("该基金为PR3", ["[FUND_RISK_R3]"]),
        ("高风险产品", ["[FUND_RISK_R5]"]),
        (
            "| 客户 | 风险等级 |\n| --- | --- |\n| 张三 | C1 |\n| 李四 | C4 |",
            ["[CUSTOMER_RISK_C1]", "[CUSTOMER_RISK_C4]"],
        ),
        ("客户持有C1驾照，风险等级为C3。", ["[CUSTOMER_RISK_C3]"]),
        ("主体信用评级为AA+，展望稳定", ["[RATING_AA+]"]),
        ("the issuer is AA-rated by Fitch", ["[RATING_AA]"]),
        ("bonds rated A- or better", ["[RATING_A-]"]),
        ("rated A by S&P", ["[RATING_A]"]),
        ("评级从AAA下调至BBB-", ["[RATING_AAA]", "[RATING_BBB-]"]),
    ],
)
def test_codes_are_read_in_their_context(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "A4 paper",
        "A4纸",
        "vitamin C1",
        "vitamin C1 for our customers",
        "维生素C1",
        "C1 驾照",
        "他持有C1驾照",
        "客户需持C1驾照方可报名",
        "客户请看单元格C1",
        "sum of cells C1:C5 for each customer",
        "=C1+C2 客户",
        "客户住在C1栋",
        "R4 resistor",
        "C1",
        "R4",
        "AC123客户",
        "客户编号XC1",
        "AAA batteries",
        "AAA景区评级",
        "A股评级",
        "A rating was given",
        "a conservative estimate",
        "moderate growth",
        "客户在国际A级赛",
        "高风险客户",
        "稳健型基金，客户",
        "Group A rated highest",
    ],
)
def test_lookalikes_are_no_codes(text: str) -> None:
    assert codes(text) == []


def test_context_does_not_reach_over_a_paragraph() -> None:
    assert codes("本公司服务客户。\n第二句没有别的。\nC1 停车位已满。") == []


def test_an_extra_folder_adds_vocabularies(tmp_path: Path) -> None:
    (tmp_path / "forms.toml").write_text(DOMAIN, encoding="utf-8")
    language = load_language(b"0123456789abcdef", tmp_path)
    (symbol,) = language.read("请填写W-8表单", tenant="t")
    assert (symbol.kind, symbol.normal, symbol.token) == ("form", "W8", "[FORM_W8]")
    assert language.symbolise("[FORM_W8] 表单 W8", tenant="t").index_text == "[FORM_W8] 表单 [FORM_W8]"


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("rank = 1", "", "rank"),
        ("rank = 1", "rank = 1\nrnak = 2", "rnak"),
        ('"FORM"', '"CNY"', "token_prefix"),
        ('"form"\ntoken', '"Form X"\ntoken', "namespace"),
        ('near = ["表单", "form"]', "near = []", "near"),
        ('aliases = ["W-8"]', 'names = ["tax form"]', "context.adjacent"),
        ('aliases = ["W-8"]', '[[vocabulary.code]]\ncode = "W8"\nrank = 2', "code 'W8'"),
        ("[[vocabulary]]", "[[vocabulary", "TOML"),
    ],
)
def test_malformed_domain_file_names_file_and_field(tmp_path: Path, old: str, new: str, field: str) -> None:
    assert old in DOMAIN
    (tmp_path / "forms.toml").write_text(DOMAIN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SymbolFileError) as caught:
        read_rule_folder(tmp_path)
    assert "forms.toml" in str(caught.value)
    assert field in str(caught.value)


def test_two_vocabularies_may_not_share_a_name(tmp_path: Path) -> None:
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(DOMAIN, encoding="utf-8")
    with pytest.raises(SymbolFileError, match=r"b\.toml: vocabulary: namespace 'form'.*a\.toml"):
        merge(read_rule_folder(tmp_path))


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SymbolFileError, match="no such folder"):
        load_language(b"0123456789abcdef", tmp_path / "absent")
