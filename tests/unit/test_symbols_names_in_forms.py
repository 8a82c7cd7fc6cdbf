"""Names in forms, minutes, mail heads and papers of courts, and what stands there that is no name."""

from __future__ import annotations

import pytest

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.find import find_secrets


def persons(text: str) -> list[str]:
    return [secret.value for secret in find_secrets(fold(text)) if secret.kind == "person"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("姓 名：周海燕    性别：女", ["周海燕"]),
        ("户　名：单玉梅\n开 户 行：某支行", ["单玉梅"]),
        ("出席：丁昌平、卓宜宁；列席：尤佳；缺席：无", ["丁昌平", "卓宜宁", "尤佳"]),
        ("与会人员：凌子墨 薛冬梅 严守诚", ["凌子墨", "薛冬梅", "严守诚"]),
        ("甲方代表（签字）：司马燕　日期：", ["司马燕"]),
        ("致：采购部尹志平", ["尹志平"]),
        ("联系人/电话：耿晓璐 ", ["耿晓璐"]),
        ("审判长：章若男\n书记员：费玉洁", ["章若男", "费玉洁"]),
        ("申请执行人符建军，女，汉族", ["符建军"]),
        ("经办人：林志远    复核：蔡依婷", ["林志远", "蔡依婷"]),
        ("实际控制人万宝成直接持有股份", ["万宝成"]),
    ],
)
def test_chinese_names_fill_the_cell_behind_a_label(text: str, names: list[str]) -> None:
    assert persons(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "参会人员：全体员工",
        "制单：系统 审核：系统",
        "经办：财务部 复核：内审部",
        "出席：应到11人",
        "负责人：各部门经理",
        "审批：____ 复核：____",
        "驾驶员须持证上岗，押运员须经培训",
        "患者自述头晕，医生建议休息",
        "记者获悉，公司正在洽谈收购",
        "家长焦虑也会影响孩子",
        "性别，男，女",
    ],
)
def test_what_stands_behind_a_label_is_no_name_when_it_cannot_be_one(text: str) -> None:
    assert persons(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Present: Lucinda Barraclough, Idris Fenn and Mei-Ling Osei",
            ["Lucinda Barraclough", "Idris Fenn", "Mei-Ling Osei"],
        ),
        ("From: Rowena Castellanos <rowena@ostrex.example.com>\nTo: treasury", ["Rowena Castellanos"]),
        ("Thanks,\nCallum Whitfield\nSenior Associate", ["Callum Whitfield"]),
        ("Bill To:\nHugh Pemberton\nAmount due", ["Hugh Pemberton"]),
        ("Chief Executive Officer Saoirse Gallagher said demand was soft.", ["Saoirse Gallagher"]),
        ("Our auditor, Solveig Nygaard, flagged the invoice.", ["Solveig Nygaard"]),
        ("Approved by: L. Carmichael   Date: today", ["L. Carmichael"]),
        ("Hello, this is Meredith Colby calling about my loan.", ["Meredith Colby"]),
        ("I, Conrad Eastwood, hereby authorise it", ["Conrad Eastwood"]),
    ],
)
def test_english_names_beside_roles_and_in_mail_heads(text: str, names: list[str]) -> None:
    assert persons(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "Contact: Help Desk, ground floor.",
        "From: No Reply\nTo: All Staff",
        "Kind regards,\nThe Support Team",
        "Sincerely,\nAccounts Payable",
        "Manager on duty will open the store.",
        "Project Manager Notes and Design Director Handbook",
        "Our auditor, Price Brothers LLP, flagged it.",
        "I am Very Disappointed in the service.",
        "Hello, this is Customer Care calling.",
        "Employee: Full Time\nStatus: Active",
        "Driver: Windows Update\nStatus: OK",
        "From: London Heathrow To: New York",
    ],
)
def test_desks_teams_and_things_are_no_persons(text: str) -> None:
    assert persons(text) == []


def test_a_list_goes_on_behind_a_name_that_is_hidden_already() -> None:
    assert persons("出席：丁昌平先生、卓宜宁") == ["丁昌平", "卓宜宁"]


@pytest.mark.parametrize(
    "piece", ["出席：", "、丁昌平", "(((", "Present: ", ", Idris Fenn", "From: A", "男,", "人 : ", "-----BEGIN"]
)
def test_long_repetitions_are_read(piece: str) -> None:
    """What repeats ten thousand times is read; a quadratic reader would not come back."""
    assert find_secrets(fold(piece * 10_000)) is not None
