from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.pseudonyms import tenant_key
from retrieval.symbols.rules import Person, TenantRules
from retrieval.symbols.secrets.names_en import find_english_names
from retrieval.symbols.secrets.names_zh import find_chinese_names
from retrieval.symbols.secrets.person_list import PersonList
from retrieval.symbols.tenant_language import TenantLanguage

KEY = tenant_key(b"0123456789abcdef", "t")
PERSONS = (
    Person(names=("张伟", "Zhang Wei", "David Zhang")),
    Person(names=("歐陽娜娜", "Nana Ouyang")),
    Person(names=("買買提·艾山",)),
    Person(names=("O'Brien, Mary", "Mary O'Brien")),
)


def chinese(text: str) -> list[str]:
    return [text[f.start : f.end] for f in find_chinese_names(fold(text))]


def english(text: str) -> list[str]:
    return [text[f.start : f.end] for f in find_english_names(fold(text))]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("张伟先生您好", "张伟"), ("客户经理李娜负责", "李娜"), ("联系人：王小明", "王小明"),
        ("法定代表人 赵六", "赵六"),
        ("董事长张伟表示", "张伟"), ("感谢张伟明先生", "张伟明"), ("由欧阳娜娜女士签署", "欧阳娜娜"),
        ("请联系李建国经理", "李建国"),
        ("总经理陈志强在会上说", "陈志强"), ("姓名：张 伟", "张 伟"), ("我叫刘洋，", "刘洋"), ("经办人：孙丽", "孙丽"),
        ("和李娜女士一起", "李娜"), ("申请人:周杰，身份证", "周杰"), ("收件人：诸葛亮", "诸葛亮"),
        ("法定代表人：陈国栋。", "陈国栋"),
        ("理财经理王芳将", "王芳"), ("张伟律师", "张伟"), ("由王建民主任主持", "王建民"),
        ("独立董事孙晓红发表意见", "孙晓红"),
        ("客户经理于洪波负责跟进", "于洪波"), ("司机杨帆先生", "杨帆"), ("聯繫人：陳國棟", "陳國棟"),
        ("感谢黄继坤老师", "黄继坤"),
        ("李娜（客户经理）", "李娜"), ("Contact: 李娜", "李娜"), ("借款人张建国与出借方", "张建国"),
        ("业务员王芳", "王芳"),
    ],
)  # fmt: skip
def test_chinese_name_beside_an_honorific_or_a_role_is_found(text: str, name: str) -> None:
    assert chinese(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "先生们女士们", "王牌经理", "高级经理", "张贴通知", "李女士", "王总", "总经理办公室", "项目经理负责",
        "任何女士", "许多先生",
        "成年女士", "年轻女士", "两位先生", "产品经理应当", "客户经理须", "华东区经理", "联系人：公司总部",
        "法定代表人：", "我是客户",
        "我是中国人", "总经理高度重视", "老先生", "各位老师", "金融部主任", "安全主任", "班主任", "员工应当",
        "员工方面",
        "客户：保守型", "会计准则", "会计政策变更", "顾问费", "主任科员", "律师事务所", "董事长兼总经理",
        "经理和主任", "本人任何",
        "姓名 性别", "客服电话", "会计师事务所", "申请人 金额", "助理关于", "教授和博士", "经理于2020年",
        "总经理和财务总监均已出席",
        "张先生与欧阳女士", "甲方：金山软件有限公司", "感谢欧阳老师", "叶校长杨校长", "任副教授", "鲁国夫人",
    ],
)  # fmt: skip
def test_roles_words_and_lone_surnames_are_no_chinese_names(text: str) -> None:
    assert chinese(text) == []


def test_names_in_a_list_are_found_each() -> None:
    assert chinese("联系人：王小明、李红、赵敏。") == ["王小明", "李红", "赵敏"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Mr. John Smith said", "John Smith"), ("Dear Ms Lee,", "Lee"), ("Dr. Kyle Kuefer. Who", "Kyle Kuefer"),
        ("My name is Anna Schmidt.", "Anna Schmidt"), ("My name is Rubija", "Rubija"),
        ("Contact: Mary O'Neil, 123", "Mary O'Neil"),
        ("Name: Toshimi Arata\nPhone", "Toshimi Arata"), ("signed by Jean de la Fontaine on", "Jean de la Fontaine"),
        ("correct it to Mr. Marcin Wiśniewski?", "Marcin Wiśniewski"), ("my take on Mrs. Labrie, see", "Labrie"),
        ("Mr Smith's report", "Smith"), ("MR. SMITH", "SMITH"), ("Contact person: Li Wei", "Li Wei"),
        ("Signed: Robert B. Miller", "Robert B. Miller"), ("Mr. Chris d'Entremont (West Nova)", "Chris d'Entremont"),
        ("客户 Mr. Peter Novak 来电", "Peter Novak"), ("联系人：John Smith，电话", "John Smith"),
        ("客户经理 Emily Zhang 负责", "Emily Zhang"), ("Peter Novak先生来电", "Peter Novak"),
    ],
)  # fmt: skip
def test_english_name_after_an_honorific_or_a_label_is_found(text: str, name: str) -> None:
    assert english(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Chairman", "Ms. President", "Company Name: Acme Corporation", "File name: Annual Report", "Dr. Who was on",
        "Contact: Investor Relations", "Name: Annual Report", "MS Office", "Dr. The", "Sir, I",
        "My name is not important",
        "Client: Group Holdings", "DRAM chips", "Mrs", "Customer: Total Net", "signed by the parties", "Sirius Black",
        "approved by: Board of Directors", "Prepared by Management", "Missouri", "surname: x",
    ],
)  # fmt: skip
def test_titles_and_labels_without_a_name_are_none(text: str) -> None:
    assert english(text) == []


@pytest.mark.parametrize(
    ("text", "first_form"),
    [
        ("张伟来了", "张伟"), ("找張偉。", "张伟"), ("張 偉", "张伟"), ("zhang wei", "张伟"), ("ZhangWei said", "张伟"),
        ("ZHANG WEI", "张伟"), ("Ｚｈａｎｇ Ｗｅｉ", "张伟"), ("zhang\nwei", "张伟"), ("Mr. Zhang Wei", "张伟"),
        ("张伟先生", "张伟"),
        ("联系人：张伟", "张伟"), ("David  Zhang", "张伟"), ("欧阳娜娜", "歐陽娜娜"), ("NANA OUYANG", "歐陽娜娜"),
        ("买买提艾山", "買買提·艾山"), ("买买提•艾山", "買買提·艾山"), ("Mary O'Brien", "O'Brien, Mary"),
    ],
)  # fmt: skip
def test_listed_person_has_one_pseudonym_in_every_writing(text: str, first_form: str) -> None:
    language = TenantLanguage(TenantRules(persons=PERSONS), KEY)
    assert [(s.kind, s.value) for s in language.symbolise(text).secrets] == [("person", first_form)]


@pytest.mark.parametrize("text", ["Zhang Weiss", "xZhang Wei", "zhangweil", "Zhang, the Wei", "Z hang Wei", "张三伟"])
def test_part_of_another_word_is_no_listed_person(text: str) -> None:
    assert list(PersonList(PERSONS).find(fold(text))) == []


def test_rule_finding_of_a_listed_writing_has_the_first_form() -> None:
    persons = PersonList([Person(names=("张伟", "Zhang Wei"))])
    assert persons.first_form("ZHANG  WEI") == "张伟"
    assert persons.first_form("Li Na") == "Li Na"


def test_longest_of_two_listed_names_is_found() -> None:
    persons = PersonList([Person(names=("Li Na",)), Person(names=("Li Na Wang",)), Person(names=("Na Wang",))])
    assert [f.value for f in persons.find("Li Na Wang, Na Wang")] == ["Li Na Wang", "Na Wang"]


def test_name_inside_an_email_or_an_address_leaves_these_whole() -> None:
    language = TenantLanguage(TenantRules(persons=(Person(names=("李娜",)), Person(names=("Lina",)))), KEY)
    found = language.symbolise("写信到 lina@example.com 或寄到上海市李娜路5号").secrets
    assert [s.kind for s in found] == ["email", "address"]


_NAME = st.sampled_from(["张伟", "Zhang Wei", "zhang  wei", "張偉", "張 偉", "ＺｈａｎｇＷｅｉ", "DAVID ZHANG"])


@given(st.lists(_NAME, min_size=1, max_size=6), st.sampled_from(["，", " / ", "; ", "\n- "]))
def test_symbolising_names_twice_changes_nothing(names: list[str], between: str) -> None:
    language = TenantLanguage(TenantRules(persons=PERSONS), KEY)
    first = language.symbolise(between.join(names))
    assert [s.value for s in first.secrets] == ["张伟"]
    assert language.symbolise(first.text).text == first.text


@pytest.mark.parametrize(
    "piece", ["张伟", "先生", "经理", "联系人:", "联系人:王", "Mr. ", "Mr A", "Name: A", "A ", "zhang ", "、王明"]
)
def test_long_repetitive_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    found = [*find_chinese_names(text), *find_english_names(text), *PersonList(PERSONS).find(text)]
    assert len(found) <= len(text)
