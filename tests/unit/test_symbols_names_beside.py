"""Names that their place makes sure, and what stands in such places without being one."""

from __future__ import annotations

import pytest

from retrieval.symbols.fold import fold
from retrieval.symbols.language import load_language
from retrieval.symbols.secrets.find import find_secrets

LANGUAGE = load_language(bytes(16)).of("t")


def persons(text: str) -> list[str]:
    return [text[s.start : s.end] for s in find_secrets(fold(text)) if s.kind == "person"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("姓名,手机\n张伟,13812345678\n李娜,无", ["张伟", "李娜"]),
        ("序号,客户姓名,金额\r\n1,张伟,100\r\n2,欧阳娜娜,200\r\n", ["张伟", "欧阳娜娜"]),
        ("|姓名|手机|\n|---|---|\n|张伟|无|\n| 买买提·艾力 |无|", ["张伟", "买买提·艾力"]),
        ("部门\t姓名\n财务\t张伟\n", ["张伟"]),
        ("Name,Phone\nJohn Smith,555\nMary Ann Poole,556\n\nName,Code\nVanguard,1", ["John Smith", "Mary Ann Poole"]),
        ("| Name | E-mail |\n| --- | --- |\n| John Smith | none |", ["John Smith"]),
        ("尊敬的张伟：您好", ["张伟"]),
        ("Dear John Smith,\nthank you", ["John Smith"]),
        ("联系人：买买提·艾力", ["买买提·艾力"]),
        ("法人代表：阿不都热合曼·买买提", ["阿不都热合曼·买买提"]),
        ("我们见到了，买买提·艾力先生。", ["买买提·艾力"]),
        ("Name: Müller, Hans", ["Müller, Hans"]),
        ("Contact: Poole, Mary\nPhone", ["Poole, Mary"]),
        ("客户张伟的手机打不通", ["张伟"]),
        ("王小明(13812345678)", ["王小明"]),
        ("由王小明（13812345678）", []),
        ("，王小明（110105 19491231 002X）", ["王小明"]),
    ],
)  # fmt: skip
def test_name_in_its_place_is_found(text: str, names: list[str]) -> None:
    assert persons(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "尊敬的客户：您好",
        "尊敬的张总：",
        "尊敬的王经理，",
        "Dear Sir or Madam,",
        "Dear Customer Service,",
        "Dear Valued Customer,",
        "Dear Hiring Manager,",
        "Name,Code\nVanguard Growth,1",
        "姓名,手机\n合计,5\n无,6",
        "姓名、手机和地址",
        "Name: Acme Holdings, Inc",
        "高端的手机",
        "客户高级的账户",
        "总机(010-58889999)",
        "客服(13812345678)",
        "高先生在王府井",
        "王府井先生",
        "Dr. Pepper Snapple reported",
        "北京·上海·广州",
        "京·沪高铁：开通",
    ],
)
def test_what_is_nobody_is_not_found(text: str) -> None:
    assert persons(text) == []


@pytest.mark.parametrize(
    "text",
    ["王小明(13812345678)", "姓名,手机\n张伟,13812345678", "王小明(sk-q7abcdefghij1234567890abcdefghij1234567890xyz)"],
)
def test_symbolising_names_again_changes_nothing(text: str) -> None:
    once = LANGUAGE.symbolise(text).text
    assert LANGUAGE.symbolise(once).text == once


@pytest.mark.parametrize(
    "piece",
    [
        "姓名,手机\n", "姓名|", "|姓名|\n", "Name,Phone\n", "联系人",
        "尊敬的张", "张·", "·", "的手机", "客户张伟的手机", "(1", "Dear A", "Dear ",
    ],
)  # fmt: skip
def test_long_repetitions_are_read(piece: str) -> None:
    assert find_secrets(fold(piece * 10_000)) is not None
