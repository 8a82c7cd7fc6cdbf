from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.symbols.fold import fold
from retrieval.symbols.secrets.address_en import find_english_addresses
from retrieval.symbols.secrets.address_zh import find_chinese_addresses


def chinese(text: str) -> list[str]:
    return [text[f.start : f.end] for f in find_chinese_addresses(fold(text))]


def english(text: str) -> list[str]:
    return [text[f.start : f.end] for f in find_english_addresses(fold(text))]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("{}", "上海市浦东新区世纪大道100号12楼1203室"),
        ("地址：{}。", "北京市朝阳区建国路88号SOHO现代城A座1203室"),
        ("我住在{}", "建国路88号"),
        ("公司位于{}，", "广东省深圳市南山区科技园北区3栋501室"),
        ("快递请寄到{}", "浙江省杭州市西湖区文三路478号华星时代广场A座"),
        ("{}", "江苏省苏州市工业园区星湖街328号创意产业园5-A4单元"),
        ("他是{}的住户", "四川省成都市武侯区人民南路四段27号商鼎国际2号楼1单元1909"),
        ("来自{}", "河南省新郑市龙湖镇小乔村3组"),
        ("他家在{}附近", "和平路5号"),
        ("{}，邮编100081", "北京市海淀区中关村南大街5号院2号楼3单元501室"),
        ("{}", "上海市长宁区延安西路1118弄5号202室"),
        ("寄至{}", "南京东路一百号"),
        ("{}", "台北市中正区忠孝东路一段1号5楼之2"),
        ("客户住在{}。", "江苏省南京市江宁区秣陵街道将军大道8号翠屏国际城22幢1单元502室"),
        ("{}", "北京市丰台区方庄芳城园一区3号楼1201"),
        ("请寄{}，谢谢", "成都市高新区天府大道中段1388号"),
        ("住址:{}", "山东省青岛市市南区香港中路甲12号"),
        ("注册地址：{}。", "青岛市市南区香港中路61号乙"),
        ("地址:{}电话", "宜兰县头城镇港口里港口路15-7号"),
        ("客户住址：{}", "浦东新区张江镇碧波路690号4号楼"),
        ("请于{}领取", "花都区新华街道公益路5号"),
        ("他搬到了{}", "海淀区中关村大街27号"),
        ("地址：{}", "上海市 浦东新区 世纪大道 100 号"),
        ("地址：{}", "上海市浦东新区世纪大道１００号"),
        ("地址：{}。", "臺北市信義區市府路45號"),
        ("在{}举行", "黑龙江省哈尔滨市红军街50号"),
    ],
)
def test_chinese_address_is_found_with_its_exact_span(text: str, address: str) -> None:
    assert chinese(text.format(address)) == [address]


@pytest.mark.parametrize(
    "text",
    [
        "第100号文件", "3号楼会议室", "上海市", "地铁10号线", "中山路", "国发〔2023〕15号", "他3号去上海",
        "京沪高速公路",
        "思路3号方案", "频道3号", "在北京大学3号楼", "3室2厅", "第3实验室", "2024年7月1号", "道路5号标段", "跑道3号",
        "财税[2019]13号", "上海分公司3号会议室", "神舟十号", "南京路步行街", "编号为3号", "轨道交通2号线",
        "位于建设银行3号窗口",
        "这里3号开业", "T3航站楼2号门", "会计准则第22号", "证监会令第158号", "州立公路13号", "上海市会议室",
        "世纪大道100",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_chinese_address_is_none(text: str) -> None:
    assert chinese(text) == []


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("{}", "221B Baker Street, London NW1 6XE"),
        ("Ship to: {}", "123 Main Street, Suite 400, Springfield, IL 62704"),
        ("{} is known", "1600 Pennsylvania Avenue NW, Washington, DC 20500, USA"),
        ("Send to {}.", "P.O. Box 1234, Austin, TX 78701"),
        ("Meet me at {}", "PSC 1437, Box 3833\nAPO AA 66791"),
        ("Return to {} in case", "Unit 4719 Box 7394\nDPO AP 70942"),
        ("{}", "Flat 3, 45 High Street, Oxford OX1 4AB, United Kingdom"),
        ("{}", "Room 1203, 12/F, Tower 2, 8 Finance Street, Central, Hong Kong"),
        ("{}", "No. 100 Century Avenue, Pudong New District, Shanghai 200120, China"),
        ("{}.", "350 Fifth Avenue, 34th Floor, New York, NY 10118"),
        ("our office at {} is open", "5 Park Place"),
        ("{} is where she lives", "48 Elm Rd."),
        ("{}", "742 Evergreen Terrace, Springfield"),
        ("{}", "1 Infinite Loop, Cupertino, CA 95014"),
        ("{}", "23/45 George St, Sydney NSW 2000, Australia"),
        ("address: {}.", "77 Massachusetts Ave, Cambridge, MA 02139"),
        ("{}", "1200 W. 5th Street, Apt 4B, Los Angeles, California 90017"),
        ("{}.", "14 Rue de Rivoli, 75001 Paris"),
        ("{}", "1 Canada Square, Canary Wharf, London E14 5AB"),
        ("{}", "290 Bremner Blvd, Toronto, ON M5V 3L9, Canada"),
        ("She moved to {}.", "48 Elm Rd"),
        ("He lives at {}.", "10 Downing Street, London"),
    ],
)
def test_english_address_is_found_with_its_exact_span(text: str, address: str) -> None:
    assert english(text.format(address)) == [address]


@pytest.mark.parametrize(
    "text",
    [
        "100 Main issues", "In 2018 Wall Street fell", "the 3 Wall Street banks", "11 District Court judges",
        "4 National Park rangers", "500 GB Disk Drive", "Note 12 Lease Payments", "Page 5 Park", "Form 10 K",
        "2 million Main Street", "on June 30, 2019 Broadway", "1,200 Park units", "The 12 Months Ended",
        "10 Highway projects",
        "iPhone 12 Pro Drive", "Item 7 Management Drive", "a 3 way street", "10 streets and 4 roads", "Route 66",
    ],
)  # fmt: skip
def test_what_only_looks_like_an_english_address_is_none(text: str) -> None:
    assert english(text) == []


@given(
    st.sampled_from(["上海市", "江苏省南京市", "广东省广州市", "北京市"]),
    st.sampled_from(["", "东城区", "鼓楼区", "天河区"]),
    st.sampled_from(["人民路", "中山北路", "解放大道", "长江西街"]),
    st.integers(1, 9999),
    st.sampled_from(["", "3号楼", "2栋1单元301室", "12层", "A座1203室"]),
    st.sampled_from(["地址：", "住在", "位于", "寄往", ""]),
)
def test_any_chinese_address_of_parts_is_found_whole(
    city: str, district: str, road: str, number: int, inside: str, lead: str
) -> None:
    address = f"{city}{district}{road}{number}号{inside}"
    assert chinese(f"{lead}{address}。") == [address]


@pytest.mark.parametrize(
    "piece", ["路1号", "上海市", "1号", "号", "室", "1 Main ", "1 A ", "Street ", "12 Of the ", "P.O. Box ", "路 "]
)
def test_long_repetitive_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    assert len(chinese(text)) + len(english(text)) <= len(text)
